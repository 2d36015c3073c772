// A folder that nobody else can look into, and that is gone when this process ends, in whatever order that happens. What a signal ends that
// nobody listens to can do nothing more: where nobody waits for that (`whenWeHaveEnded`), the next process that makes such a folder takes it away.
import { dirname, isAbsolute, join } from "node:path";
import { maybeFindProgram } from "../commands/child.ts";
import {
  atExit,
  denoGrants,
  hearsSignals,
  hostEnv,
  hostEnvProblem,
  isProcessAlive,
  quietly,
  thisProcess,
} from "../process.ts";

const PREFIX = "orrery-gadget-";
/** With the number of the process, what says among which ones it is that, and when it was started. */
const NAME = new RegExp(`^${PREFIX}(\\d+)-(n\\d+-)?(?:t(\\d+)-)?`);
/** A process of another container may have left it: where that is not known its number says nothing, and only time does. */
const LEFT_BEHIND_MS = 3_600_000;

/** A folder of mode 0700 with files in it. */
export interface PrivateFolder extends Disposable {
  /** Real and absolute. */
  readonly path: string;
  /** Writes files of mode 0600. @param texts by plain file names */
  write(texts: Readonly<Record<string, string>>): void;
  /** Comes back when nothing is under way for it any more, once it was disposed of. */
  settled(): Promise<void>;
}

/** How long it is there. */
export interface PrivateFolderOptions {
  /** It is gone also when a signal ends this process: where nobody hears those, that takes a process more. Default false. */
  readonly outlivesNobody?: boolean;
}

/** Makes one where temporary files are. @throws {Error} that says which permission of Deno is missing, or why it cannot be */
export function privateFolder({ outlivesNobody = false }: PrivateFolderOptions = {}): PrivateFolder {
  const { made, left } = outlivesNobody && !hearsSignals()
    ? madeAndWaited()
    : { made: makeFolder(), left: NOT_WAITED };
  const path = Deno.realPathSync(made);
  const remove = (): void => void quietly(() => Deno.removeSync(path, { recursive: true }));
  const exit = atExit(remove);
  const written = new Map<string, string>();
  const ends = new AbortController();
  globalThis.addEventListener("unload", remove, ends); // a program that just comes to its end
  const onUncaught = (event: Event): void => {
    if (event.defaultPrevented) return;
    remove();
    // Somebody who listens behind us may say that the program goes on.
    queueMicrotask(() => {
      if (!ends.signal.aborted) putBack(path, written);
    });
  };
  for (const name of ["error", "unhandledrejection"]) globalThis.addEventListener(name, onUncaught, ends);
  sweepOnce(dirname(path));
  return {
    path,
    write(texts) {
      for (const [name, text] of Object.entries(texts)) {
        writeNew(join(path, name), text);
        written.set(name, text);
      }
    },
    [Symbol.dispose]() {
      exit[Symbol.dispose]();
      ends.abort();
      written.clear();
      remove();
      void left.release();
    },
    settled: () => left.release(),
  };
}

/** Who takes it away is there before it, where its path is known so far: a signal may end us at any moment. */
function madeAndWaited(): { readonly made: string; readonly left: LeftFolder } {
  const start = maybeStart();
  if (start === undefined) {
    const made = makeFolder();
    return { made, left: whenWeHaveEnded(made) };
  }
  const left = whenWeHaveEnded(start);
  try {
    return { made: makeFolder(), left };
  } catch (error) {
    void left.release();
    throw error;
  }
}

/** What the paths of our folders begin with, and of nobody else's: where temporary ones are, and which process we are. */
function maybeStart(): string | undefined {
  if (numbering() === undefined || started() === "" || hostEnvProblem("TMPDIR") !== undefined) {
    return undefined;
  }
  const parent = hostEnv("TMPDIR") ?? "/tmp";
  return isAbsolute(parent) ? join(parent, prefix()) : undefined;
}

function writeNew(path: string, text: string): void {
  Deno.writeTextFileSync(path, text, { createNew: true, mode: 0o600 });
}

/** Where somebody has taken its name, what is not loaded yet is not found. */
function putBack(path: string, written: ReadonlyMap<string, string>): void {
  quietly(() => {
    Deno.mkdirSync(path, { mode: 0o700 });
    for (const [name, text] of written) writeNew(join(path, name), text);
  });
}

function prefix(): string {
  return `${PREFIX}${Deno.pid}-${numbering() ?? ""}${started()}`;
}

function makeFolder(): string {
  try {
    return Deno.makeTempDirSync({ prefix: prefix() });
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotCapable)) throw cause;
    const reason = "Deno itself was started without --allow-write for the folder of temporary files";
    throw new Error(`Cannot start a gadget: ${reason}`, { cause });
  }
}

/** What says among which processes our number is ours alone: another container has numbers of its own. Only Linux tells. */
function numbering(): string | undefined {
  const path = "/proc/self/ns/pid";
  if (Deno.build.os !== "linux" || !denoGrants({ name: "read" })) return undefined;
  try {
    const id = /\d+/.exec(Deno.readLinkSync(path))?.[0];
    return id === undefined ? undefined : `n${id}-`;
  } catch {
    return undefined; // not all of /proc is there
  }
}

/** When we were started: a number is given again. */
function started(): string {
  const ticks = thisProcess().startedAt?.split("/")[1];
  return ticks === undefined ? "" : `t${ticks}-`;
}

/** Whether the process that made a folder has ended. */
function hasEnded(pid: number, ticks: string | undefined): boolean {
  const boot = thisProcess().startedAt?.split("/")[0];
  const startedAt = boot === undefined || ticks === undefined ? {} : { startedAt: `${boot}/${ticks}` };
  return isProcessAlive({ pid, ...startedAt }) === false;
}

let isSwept = false;

/** What killed processes have left: seldom, and not waited for. */
function sweepOnce(parent: string): void {
  if (isSwept || !denoGrants({ name: "read" }) || !denoGrants({ name: "write" })) return;
  isSwept = true;
  sweep(parent).catch(() => undefined);
}

/** Takes away the folders of processes that have ended. */
export async function sweep(parent: string): Promise<void> {
  const own = numbering();
  for await (const { name, isDirectory } of Deno.readDir(parent)) {
    const [, pid, other, ticks] = NAME.exec(name) ?? [];
    if (!isDirectory || pid === undefined || !hasEnded(Number(pid), ticks)) continue;
    const path = join(parent, name);
    const isOurs = own !== undefined && own === other;
    if (isOurs || await isOld(path)) await Deno.remove(path, { recursive: true }).catch(() => undefined);
  }
}

async function isOld(path: string): Promise<boolean> {
  const { mtime } = await Deno.lstat(path);
  return mtime === null || Date.now() - mtime.getTime() >= LEFT_BEHIND_MS;
}

// Takes a folder away when this process has ended, however it did: a signal that nobody listens to ends it at once, and to listen would change
// what a program that uses Orrery does at Ctrl-C. So a shell waits for the end of a pipe that only this process can write to. A command of `orrery` that
// listens needs none, and would pay two milliseconds before its first call.

const PATH = "/usr/bin:/bin";
/** Whoever ends our whole group, or our terminal, ends us and not this. It removes what has the name of such a folder, and nothing else. */
const WAITING =
  'trap "" HUP INT QUIT TERM; read -r _; case $1 in /*/orrery-gadget-[0-9a-f]*) rm -rf -- "$1"* ;; esac';

/** Somebody who waits for our end. */
interface LeftFolder {
  /** There is no such folder any more. The last time it comes back when nobody waits any more; never fails. */
  release(): Promise<void>;
}

/** Nobody waits. */
const NOT_WAITED: LeftFolder = { release: () => Promise.resolve() };

/** By what the paths of their folders begin with: one for all of them. */
const known = new Map<string, Waiting>();

/**
 * Has every folder taken away whose path begins like this once we have ended, whatever is in it by then: it may be said before there is one.
 * Where Deno may not start every program, and on Windows, nobody does it.
 *
 * @param start absolute, and of no folder of another process
 */
function whenWeHaveEnded(start: string): LeftFolder {
  const waiting = known.get(start) ?? maybeWaiting(start);
  if (waiting === undefined) return NOT_WAITED;
  known.set(start, waiting);
  waiting.folders++;
  let released: Promise<void> | undefined;
  return {
    release() {
      if (released !== undefined) return released;
      const isLast = --waiting.folders === 0;
      if (isLast) known.delete(start);
      return released = isLast ? endOf(waiting.child) : Promise.resolve();
    },
  };
}

interface Waiting {
  readonly child: Deno.ChildProcess;
  /** How many it waits for. */
  folders: number;
}

function maybeWaiting(start: string): Waiting | undefined {
  const [shell, ...options] = maybeShell() ?? [];
  if (shell === undefined) return undefined;
  try {
    const child = new Deno.Command(shell, {
      args: [...options, "-c", WAITING, "sh", start],
      cwd: "/", // it holds no folder of the user's
      env: { PATH },
      clearEnv: true,
      stdin: "piped",
      stdout: "null",
      stderr: "null",
    }).spawn();
    child.unref();
    return { child, folders: 0 };
  } catch {
    return undefined; // such as no process more: the next one that makes such a folder takes it away
  }
}

/** A shell, in a session of its own where that can be. */
function maybeShell(): readonly string[] | undefined {
  if (Deno.build.os === "windows" || !denoGrants({ name: "run" })) return undefined;
  const [shell, setsid] = ["sh", "setsid"].map((name) => maybeFindProgram(name, { path: PATH }));
  if (shell === undefined) return undefined;
  return setsid === undefined ? [shell] : [setsid, shell];
}

async function endOf(child: Deno.ChildProcess): Promise<void> {
  quietly(() => {
    child.ref();
    child.kill("SIGKILL"); // before the pipe ends: the name may be another's by then
  });
  await Promise.all([child.status, child.stdin.abort().catch(() => undefined)]);
}

/** A folder that goes away with all that is in it. */
interface TemporaryFolder extends AsyncDisposable {
  /** Real and absolute. */
  readonly path: string;
}

/** Makes one. @throws {Deno.errors.NotCapable} without Deno's permission to write where temporary files are */
export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-" }));
  return {
    path,
    [Symbol.asyncDispose]: async () => await Deno.remove(path, { recursive: true }).catch(() => undefined),
  };
}

/** Copies a file as it is, with the folders on its way. */
export async function copyFile(
  from: string,
  to: { readonly folder: string; readonly path: string },
): Promise<void> {
  const target = `${to.folder}/${to.path}`;
  await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
  await Deno.copyFile(from, target);
}
