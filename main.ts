// On the path of `orrery --version`: everything heavy is behind a dynamic import in lib/cli/main.ts.
import { main as runCommand } from "./lib/cli/main.ts";
import { asProgram, commandLine, exitProcess, type Program, provideLibrary } from "./lib/host/process.ts";

export type { Program, ProgramOutput } from "./lib/host/process.ts";

/**
 * Runs a command line inside this process, as what is typed behind `orrery`.
 *
 * @param program what the command finds around it; default: the streams, variables and folder of this process
 * @returns the exit code, one of those in `orrery help exit-codes`
 */
export function main(args: readonly string[], program?: Program): Promise<number> {
  return program === undefined ? runCommand(args) : asProgram(program, () => runCommand(args));
}

provideLibrary((): Promise<typeof import("./mod.ts")> => import("./mod.ts" as string));
if (import.meta.main) exitProcess(await main(commandLine()));
