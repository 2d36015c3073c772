// This process, what it was started with, and whether another one goes on. On the path of `orrery --version`: it imports nothing, so that it costs
// no more than an empty script. A process number is given again when its process is gone, so a process is told by its start as well. Only Linux says that, and
// only to a process with all of Deno's permissions.
import type { AsyncLocalStorage } from "node:async_hooks";
import type { RunOwner } from "../core/journal.ts";
import type { Json } from "../core/json.ts";

/** What was typed after the program's name. */
export function commandLine(): readonly string[] {
  return Deno.args;
}

/** What a command finds around it: its streams, its variables and its working folder. */
export interface Program {
  readonly stdin: Pick<typeof Deno.stdin, "read" | "isTerminal">;
  readonly stdout: ProgramOutput;
  readonly stderr: ProgramOutput;
  readonly env: Pick<Deno.Env, "get" | "toObject">;
  /** Where it hears of Ctrl-C and of its end. Default: the signals of the process. */
  readonly signals?: ProgramSignals;
  cwd(): string;
}

/** The signals of a program. */
export type ProgramSignals = Pick<typeof Deno, "addSignalListener" | "removeSignalListener">;

/** Where a program writes. */
export type ProgramOutput = Pick<typeof Deno.stdout, "write" | "writeSync" | "isTerminal">;

let programs: AsyncLocalStorage<{ current: Program }> | undefined;
/** Those that are called inside this process now. */
const called = new Set<Program>();

/** The program that runs here: the process, unless several commands are called inside one. */
export function program(): Program {
  return programs?.getStore()?.current ?? (isDeno29() ? Deno : onlyCalled());
}

/** Deno 2.6 loses the store on some ways: the program that lost it is the one that is called, when there is only one. */
function onlyCalled(): Program {
  const [first, second] = called;
  return first !== undefined && second === undefined ? first : Deno;
}

/** Does work as another program than the process. What outlives the work belongs to the process again. */
export async function asProgram<T>(owner: Program, work: () => Promise<T>): Promise<T> {
  const { AsyncLocalStorage } = await import("node:async_hooks");
  programs ??= new AsyncLocalStorage();
  const running = { current: owner };
  called.add(owner);
  try {
    return await programs.run(running, work);
  } finally {
    called.delete(owner);
    running.current = Deno;
  }
}

/** Work that others will call, such as whoever takes requests, as the program that hands it out. */
export function ofThisProgram<Args extends readonly unknown[], T>(
  work: (...args: Args) => T,
): (...args: Args) => T {
  const all = programs;
  const running = all?.getStore();
  return all === undefined || running === undefined
    ? work
    : (...args) => all.run(running, () => work(...args));
}

/** What has to be done before a program ends. */
class LastWorks extends Set<() => void> {
  onRest: () => void = () => {};
}

const lastWorks = new WeakMap<Program, LastWorks>();

function worksOf(owner: Program): LastWorks {
  const known = lastWorks.get(owner) ?? new LastWorks();
  lastWorks.set(owner, known);
  return known;
}

/**
 * Something that has to be done before the process ends, however early that is; it may not wait. Dispose of it when there is no need
 * any more, such as when a child has ended by itself.
 */
export function atExit(work: () => void): Disposable {
  const works = worksOf(program());
  works.add(work);
  return {
    [Symbol.dispose]() {
      works.delete(work);
      if (works.size === 0) works.onRest();
    },
  };
}

let hearing = 0;

/** The signals that end a process are heard from here on, and end it by `exitProcess`, with all that has to be done before. */
export function hearingSignals(): Disposable {
  hearing++;
  return {
    [Symbol.dispose]() {
      hearing--;
    },
  };
}

/** Whether they are: a program that uses Orrery hears them itself, or not at all. */
export function hearsSignals(): boolean {
  return hearing > 0;
}

/** Waits until there is nothing left to be done at the exit: an end in order gives children the time to end. */
export async function atRest(): Promise<void> {
  const works = worksOf(program());
  if (works.size > 0) await new Promise<void>((resolve) => works.onRest = resolve);
}

/** Ends the process; what is still waiting, such as a read from stdin, is given up. */
export function exitProcess(exitCode: number): never {
  for (const work of worksOf(program())) work();
  Deno.exit(exitCode);
}

/** Writes a few lines to stdout at once; a reader that has gone away is no error. */
export function printShort(text: string): void {
  writeShort(program().stdout, text);
}

/** The same for stderr. */
export function printShortError(text: string): void {
  writeShort(program().stderr, text);
}

function writeShort(output: ProgramOutput, text: string): void {
  const bytes = new TextEncoder().encode(text);
  try {
    for (let at = 0; at < bytes.length;) at += output.writeSync(bytes.subarray(at));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** Does what may be done already, or be too late; false when it was. */
export function quietly(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** Removes a file; one that is not there, or that may not be removed, is left alone. */
export function removeFile(path: string): void {
  quietly(() => Deno.removeSync(path));
}

/** Whether this is the compiled binary, which holds no TypeScript compiler. */
export function isCompiled(): boolean {
  return Deno.build.standalone;
}

/** Whether the runtime is Deno 2.9 or newer. */
export function isDeno29(): boolean {
  const [major = 0, minor = 0] = Deno.version.deno.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 9);
}

/** Loads a module of the user by its `file:` URL. */
export function importModule(fileUrl: string): Promise<unknown> {
  return import(fileUrl);
}

let loadLibrary: (() => Promise<unknown>) | undefined;

/** Where the compiled binary has what a module imports from "orrery": only `main.ts` may name the door. */
export function provideLibrary(load: () => Promise<unknown>): void {
  loadLibrary = load;
}

/** Whether modules of the user can be loaded here: under `deno run`, and in the binary, not in a compiled program of the user's own. */
export function loadsModules(): boolean {
  return !isCompiled() || loadLibrary !== undefined;
}

/** The exports of "orrery" in the binary; elsewhere modules find it by themselves. */
export async function maybeLibrary(): Promise<unknown> {
  return isCompiled() ? await loadLibrary?.() : undefined;
}

/** What this machine is called when Deno may not ask it. */
const UNKNOWN_HOST = "localhost";

type Sight =
  | { readonly found: "running"; readonly startedAt: string }
  | { readonly found: "gone" }
  | { readonly found: "unknown" };

/** This process, as the owner of runs. */
export function thisProcess(): RunOwner {
  const sight = lookInProc(Deno.pid);
  return {
    host: denoGrants({ name: "sys", kind: "hostname" }) ? Deno.hostname() : UNKNOWN_HOST,
    pid: Deno.pid,
    ...(sight.found === "running" ? { startedAt: sight.startedAt } : {}),
  };
}

/** Whether a process of this machine still runs; `undefined` when that cannot be known. Never asks for a permission, never throws. */
export function isProcessAlive({ pid, startedAt }: Omit<RunOwner, "host">): boolean | undefined {
  const sight = lookInProc(pid);
  switch (sight.found) {
    case "gone":
      return false;
    case "running":
      return startedAt === undefined ? undefined : sight.startedAt === startedAt;
    case "unknown":
      return isNumberFree(pid) ? false : undefined;
    default:
      return sight satisfies never;
  }
}

/** proc_pid_stat(5): field 3 is the state, field 22 the start in ticks since the machine was started. */
function lookInProc(pid: number): Sight {
  const path = `/proc/${pid}/stat`;
  if (Deno.build.os !== "linux" || !denoGrants({ name: "read", path })) return { found: "unknown" };
  try {
    const stat = Deno.readTextFileSync(path);
    // The second field is the program's name in parentheses, and may hold blanks and parentheses itself.
    const [state = "", ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie has ended, and only its parent has yet to hear of it.
    return "ZX".includes(state)
      ? { found: "gone" }
      : { found: "running", startedAt: `${bootId()}/${fields[18]}` };
  } catch (error) {
    return { found: error instanceof Deno.errors.NotFound ? "gone" : "unknown" };
  }
}

/** Another one after each start of the machine: process numbers and ticks begin again then. */
function bootId(): string {
  return Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim();
}

/** Signal 0 does nothing but look for the process. Windows has no such thing. */
function isNumberFree(pid: number): boolean {
  if (Deno.build.os === "windows" || !denoGrants({ name: "run" })) return false;
  try {
    Deno.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}

/** A variable of the environment; undefined too when Deno itself may not read it. Never asks, never throws. */
export function hostEnv(name: string): string | undefined {
  if (
    name === "" || name.includes("=") || name.includes("\0") || !denoGrants({ name: "env", variable: name })
  ) return undefined;
  return program().env.get(name);
}

/** The name of the model that is wanted: the flag over `ORRERY_MODEL`; undefined leaves it to the settings. */
export function wantedModel(flag?: string): string | undefined {
  return flag ?? (hostEnv("ORRERY_MODEL")?.trim() || undefined);
}

/** Why {@linkcode hostEnv} cannot look at a variable; undefined when it can. */
export function hostEnvProblem(name: string): string | undefined {
  if (denoGrants({ name: "env", variable: name })) return undefined;
  return `Deno itself was started without --allow-env=${name}`;
}

/** The names of all variables; none when Deno itself may not read all of them. */
export function hostEnvNames(): readonly string[] {
  return denoGrants({ name: "env" }) ? Object.keys(program().env.toObject()) : [];
}

/** The kinds that Deno was started with as a whole: that cannot change, since nothing here gives a permission back. */
const wholly = new Set<Deno.PermissionDescriptor["name"]>();

/**
 * Whether Deno itself was started with the permission. Asked before every effect: without it an effect would put
 * Deno's own question on the terminal.
 */
export function denoGrants(permission: Deno.PermissionDescriptor): boolean {
  const { name } = permission;
  if (wholly.has(name)) return true;
  const whole = maybeStatus({ name });
  if (whole?.state === "granted" && !whole.partial) {
    wholly.add(name);
    return true;
  }
  return maybeStatus(permission)?.state === "granted";
}

/** Undefined for a value that Deno cannot read, such as a host name it finds malformed. */
function maybeStatus(permission: Deno.PermissionDescriptor): Deno.PermissionStatus | undefined {
  try {
    return Deno.permissions.querySync(permission);
  } catch {
    return undefined;
  }
}

/** What can be granted of the system, as `Deno.permissions` names it. */
export const SYSTEM_FACTS = [
  "hostname",
  "osRelease",
  "osUptime",
  "loadavg",
  "networkInterfaces",
  "systemMemoryInfo",
  "uid",
  "gid",
] as const;

/** The facts of these names; those are missing that Deno itself may not tell. */
export function systemFacts(names: readonly string[]): Readonly<Record<string, Json>> {
  const wanted = SYSTEM_FACTS.filter((name) =>
    names.includes(name) && denoGrants({ name: "sys", kind: name })
  );
  return Object.fromEntries(wanted.map((name) => [name, JSON.parse(JSON.stringify(Deno[name]()))]));
}

/** Does something later, unless it is disposed of before. Waiting for it does not keep the process alive. */
export function quietTimer(delayMs: number, work: () => void): Disposable {
  const timer = setTimeout(work, delayMs);
  unref(timer);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** A package may have put the `setTimeout` of Node in the place of Deno's, which gives no number (Deno 2.6). */
function unref(timer: number | { readonly unref: () => void }): void {
  if (typeof timer === "number") Deno.unrefTimer(timer);
  else timer.unref();
}
