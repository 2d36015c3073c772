import { isAbsolute, join, resolve } from "node:path";
import { denoGrants, hostEnv, hostEnvNames, quietly } from "../process.ts";

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
  signalChild(child, "SIGKILL");
}

// A child that ends when this process does, also when it hangs in a loop and this process was killed: nobody is left to tell it then.

const PLACES = { path: "/usr/bin:/bin" };
/** Looks after the child from a shell of its own, for as long as both are there, and then becomes the child. */
const WATCHED = '( while kill -0 "$$"; do kill -0 "$PPID" || kill -9 "$$"; sleep 1; done ) ' +
  '</dev/null >/dev/null 2>&1 & exec "$@"';

/**
 * What starts such a child: in a process group of its own, so that Ctrl-C reaches this process alone. Where Deno may not start every
 * program, and on Windows, there is nothing of that kind.
 */
export function boundToUs(): Pick<ChildOptions, "through" | "isGrouped"> {
  if (Deno.build.os === "windows" || !denoGrants({ name: "run" })) return { isGrouped: true };
  return ownGroup(kernelBinding() ?? watchedByShell());
}

/**
 * What starts the words. A group of its own that Deno makes needs a copy of our whole process, which takes several times as long as the
 * start itself; setsid(1) makes one without.
 */
export function ownGroup(words: readonly string[]): Pick<ChildOptions, "through" | "isGrouped"> {
  const setsid = maybeFindProgram("setsid", PLACES);
  return setsid === undefined ? { through: words } : { through: [setsid, ...words], isGrouped: true };
}

/** Linux tells a child that its parent has died; `busybox` has a setpriv without that. */
function kernelBinding(): readonly string[] | undefined {
  const setpriv = Deno.build.os === "linux" ? maybeFindProgram("setpriv", PLACES) : undefined;
  if (setpriv === undefined || Deno.realPathSync(setpriv).includes("busybox")) return undefined;
  return [setpriv, "--pdeathsig", "KILL"];
}

/** The same without help of the kernel: a second or two later. */
export function watchedByShell(): readonly string[] {
  return maybeFindProgram("sh", PLACES) === undefined ? [] : ["/bin/sh", "-c", WATCHED, "sh"];
}

/** How long processes have to end by themselves after TERM. */
const GRACE_MS = 2_000;
/** The same when the child has ended and nobody holds its output any more: then mostly nobody is left, but the dead that init has not taken away. */
const QUIET_GRACE_MS = 200;
const POLL_MS = 10;

/**
 * Ends a child that was started with `detached`, and everything in its process group: TERM, and KILL after 2 s for what
 * is still there. Comes back when the group is gone. `quiet` resolves when the child and its output have ended; `hasEnded`: the child
 * has, and what is left are others.
 *
 * Signals to a group need Deno's `--allow-run` without a list; with a list only the child itself can be ended.
 */
export async function endGroup(
  child: Deno.ChildProcess,
  { quiet, hasEnded }: { readonly quiet: Promise<unknown>; readonly hasEnded: boolean },
): Promise<void> {
  const hasGroup = denoGrants({ name: "run" }) && Deno.build.os !== "windows";
  // A signal that reaches nobody is an exception: one, and not two.
  const signal = !hasGroup ? signalChild : hasEnded ? signalOthers : signalGroup;
  if (!signal(child, "SIGTERM")) return;
  let deadline = performance.now() + GRACE_MS;
  const hurry = () => void (deadline = Math.min(deadline, performance.now() + QUIET_GRACE_MS));
  quiet.then(hurry);
  while (performance.now() < deadline) {
    // CONT changes nothing for a running process, and one that is stopped gets its TERM only then.
    if (!signal(child, "SIGCONT")) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  signal(child, "SIGKILL");
}

/** Ends a child and its process group at once, for the moment in which this process ends itself. */
export function killGroup(child: Deno.ChildProcess): void {
  const signal = denoGrants({ name: "run" }) && Deno.build.os !== "windows" ? signalGroup : signalChild;
  signal(child, "SIGKILL");
}

/** False when nobody is left to get it. A child that makes its group itself may not have come to that yet. */
function signalGroup(child: Deno.ChildProcess, signal: Deno.Signal): boolean {
  return signalOthers(child, signal) || signalChild(child, signal);
}

function signalOthers({ pid }: Deno.ChildProcess, signal: Deno.Signal): boolean {
  return quietly(() => Deno.kill(-pid, signal));
}

function signalChild(child: Deno.ChildProcess, signal: Deno.Signal): boolean {
  return quietly(() => child.kill(signal));
}

/** Where names were found, by PATH and name: a look at each folder of PATH takes longer than a start. */
const found = new Map<string, string>();

/**
 * The file that a command is, as far as that can be seen: a path from `cwd`, a bare name from the folders of `path`. Undefined when
 * there is none that can be executed, or when Deno itself may not look. Not for Windows.
 */
export function maybeFindProgram(
  command: string,
  { path, cwd }: { readonly path: string; readonly cwd?: string },
): string | undefined {
  if (command.includes("/")) {
    const file = resolve(cwd ?? Deno.cwd(), command);
    return isProgram(file) ? file : undefined;
  }
  const key = `${path}\0${command}`;
  const known = found.get(key);
  if (known !== undefined && isProgram(known)) return known;
  const file = path.split(":").filter((folder) => folder.startsWith("/")).map((folder) =>
    join(folder, command)
  )
    .find(isProgram);
  if (file === undefined) found.delete(key);
  else found.set(key, file);
  return file;
}

/** Whether the program of a child is there, as far as that can be seen: one that is missing has to be named itself. Never on Windows. */
export function seesProgram(
  command: string,
  { env, cwd }: { readonly env: Readonly<Record<string, string>>; readonly cwd?: string },
): boolean {
  if (Deno.build.os === "windows") return false;
  return maybeFindProgram(command, { path: env.PATH ?? "", cwd }) !== undefined;
}

function isProgram(path: string): boolean {
  if (!denoGrants({ name: "read", path })) return false;
  try {
    const { isFile, mode } = Deno.statSync(path);
    return isFile && ((mode ?? 0) & 0o111) !== 0;
  } catch {
    return false;
  }
}

/** A shell, and how it is given a script (documents.md 9.1). */
interface ScriptShell {
  readonly command: string;
  /** The arguments that make it run a script. */
  args(script: string): readonly string[];
  /** The names of our variables that a script gets; `LC_*` is all that begin with `LC_`. */
  readonly inherit: readonly string[];
}

const UNIX_VARIABLES: readonly string[] = ["PATH", "HOME", "LANG", "LC_*", "TMPDIR", "TZ", "USER", "SHELL"];
const WINDOWS_VARIABLES: readonly string[] = [
  "PATH",
  "PATHEXT",
  "SYSTEMROOT",
  "COMSPEC",
  "TEMP",
  "TMP",
  "USERPROFILE",
  "USERNAME",
];

/** The shell for scripts of documents: bash when there is one on PATH, else `/bin/sh`; `cmd` on Windows. Nothing is started. */
export function defaultShell(): ScriptShell {
  if (Deno.build.os === "windows") {
    return {
      command: "cmd",
      args: (script) => ["/d", "/s", "/c", `"${script}"`],
      inherit: WINDOWS_VARIABLES,
    };
  }
  const bash = maybeFindProgram("bash", { path: hostEnv("PATH") ?? "" });
  return {
    command: bash === undefined ? "/bin/sh" : "bash",
    args: (script) => ["-c", script],
    inherit: UNIX_VARIABLES,
  };
}
