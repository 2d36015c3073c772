// On the path of `orrery --version`: everything heavy is behind a dynamic import in lib/cli/main.ts.
import { main as runCommand } from "./lib/cli/main.ts";
import {
  asProgram,
  commandLine,
  exitProcess,
  type Program as HostProgram,
  provideLibrary,
} from "./lib/host/process.ts";
import type { Kind } from "./lib/service/kinds/kind.ts";

export type { ProgramOutput } from "./lib/host/process.ts";

/** What a command finds around it. */
export interface Program extends HostProgram {
  /** Kinds of files and runs besides those of Orrery, for programs that try one out. Default: none. */
  readonly kinds?: readonly Kind[];
}

/**
 * Runs a command line inside this process, as what is typed behind `orrery`.
 *
 * @param program what the command finds around it; default: the streams, variables and folder of this process
 * @returns the exit code, one of those in `orrery help exit-codes`
 */
export function main(args: readonly string[], program?: Program): Promise<number> {
  return program === undefined ? runCommand(args) : asProgram(program, () => runCommand(args, program.kinds));
}

provideLibrary((): Promise<typeof import("./mod.ts")> => import("./mod.ts" as string));
if (import.meta.main) exitProcess(await main(commandLine()));
