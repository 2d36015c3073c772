import { isAbsolute } from "../core/path.ts";
import { denoGrants, hostEnv } from "./deno_grants.ts";

/** What a program inherits of our environment: no key among them. */
const INHERITED: readonly string[] = ["PATH", "HOME", "LANG", "TERM"];

/** How a child begins. */
export interface ChildOptions {
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin: "null" | "piped";
}

/**
 * Starts a program in a process group of its own, stdout and stderr piped, with PATH, HOME, LANG and TERM of ours and `env`.
 *
 * @throws {Error} that names the program and why it cannot be started
 */
export function startChild(command: string, options: ChildOptions): Deno.ChildProcess {
  if (command === "") throw new Error("Cannot run a command: its name is empty");
  if (!denoGrants({ name: "run", command })) {
    throw new Error(
      `Cannot run ${JSON.stringify(command)}: Deno itself was started without --allow-run=${command}`,
    );
  }
  try {
    return new Deno.Command(command, {
      args: [...options.args ?? []],
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      env: environment(options.env ?? {}),
      clearEnv: true,
      stdin: options.stdin,
      stdout: "piped",
      stderr: "piped",
      detached: true, // a process group of its own, so that all of it can be ended
    }).spawn();
  } catch (error) {
    throw startProblem(error, { command, cwd: options.cwd });
  }
}

/** A relative folder in PATH would let the folder a command runs in decide what a name means. */
function environment(own: Readonly<Record<string, string>>): Record<string, string> {
  const inherited = INHERITED.flatMap((name) => {
    const value = hostEnv(name);
    return value === undefined ? [] : [[name, name === "PATH" ? absoluteOnly(value) : value] as const];
  });
  return { ...Object.fromEntries(inherited), ...own };
}

function absoluteOnly(path: string): string {
  const separator = Deno.build.os === "windows" ? ";" : ":";
  return path.split(separator).filter(isAbsolute).join(separator);
}

function startProblem(error: unknown, { command, cwd }: { command: string; cwd: string | undefined }): Error {
  const prefix = `Cannot run ${JSON.stringify(command)}`;
  const message = error instanceof Error ? error.message : String(error);
  const because = (reason: string) => new Error(`${prefix}: ${reason}`, { cause: error });
  if (message.includes("No such cwd")) {
    return because(`there is no folder ${JSON.stringify(cwd)} to run it in`);
  }
  if (error instanceof Deno.errors.NotFound) {
    return because(
      command.includes("/") ? "no such file" : "no program of this name is in the folders of PATH",
    );
  }
  if (error instanceof Deno.errors.NotCapable) {
    return because(
      `Deno itself was started without the permission (${message.replace(/, run again.*$/s, "")})`,
    );
  }
  if (error instanceof Deno.errors.PermissionDenied) return because("it is not an executable file");
  return because(message.replace(/^Failed to spawn '.*?': /s, "").replace(/ \(os error \d+\)$/, ""));
}
