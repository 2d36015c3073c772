import { isAbsolute } from "node:path";
import { denoGrants, hostEnv, hostEnvNames } from "./process.ts";

/** What a program inherits of our environment when nothing else is said: no key among them. */
const INHERITED: readonly string[] = ["PATH", "HOME", "LANG", "TERM"];

/** How a child begins. */
export interface ChildOptions {
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The names of our variables that it gets; `LC_*` is all that begin with `LC_`. Default: PATH, HOME, LANG and TERM. */
  readonly inherit?: readonly string[];
  readonly stdin: "null" | "piped";
  /** The program and its first arguments that start it in our place. */
  readonly through?: readonly string[];
  /** What starts it puts it into a process group of its own. */
  readonly isGrouped?: boolean;
}

/**
 * Starts a program in a process group of its own, stdout and stderr piped, with what it inherits of our environment and `env`.
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
  const [program = command, ...args] = [...options.through ?? [], command, ...options.args ?? []];
  try {
    return new Deno.Command(program, {
      args,
      cwd: options.cwd,
      env: childEnvironment(options),
      clearEnv: true,
      stdin: options.stdin,
      stdout: "piped",
      stderr: "piped",
      detached: options.isGrouped !== true, // a process group of its own, so that all of it can be ended
      ...(isRawScript(command, args) && { windowsRawArguments: true }),
    }).spawn();
  } catch (error) {
    throw startProblem(error, { command, cwd: options.cwd });
  }
}

/** The variables of a child. A relative folder in PATH would let the folder a command runs in decide what a name means. */
export function childEnvironment(
  { env = {}, inherit = INHERITED }: Pick<ChildOptions, "env" | "inherit">,
): Record<string, string> {
  const inherited = inherit.flatMap(namesOf).flatMap((name) => {
    const value = hostEnv(name);
    return value === undefined ? [] : [[name, name === "PATH" ? absoluteOnly(value) : value] as const];
  });
  return { ...Object.fromEntries(inherited), ...env };
}

/** A lone `*` is no name: nobody gets everything. */
function namesOf(pattern: string): readonly string[] {
  const prefix = pattern.endsWith("*") ? pattern.slice(0, -1) : "";
  if (prefix === "") return [pattern];
  return hostEnvNames().filter((name) => name.startsWith(prefix));
}

/** `cmd /s` takes its script as it stands between the outer quotes, and knows none of the escapes that other programs read. */
function isRawScript(command: string, args: readonly string[]): boolean {
  return Deno.build.os === "windows" && command === "cmd" && args.length === 4 && args[1] === "/s";
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

/** Ends a child at once; one that has ended already is left as it is. */
export function killChild(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch { /* it has ended */ }
}
