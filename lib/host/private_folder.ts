// A folder that nobody else can look into, and that is gone when this process ends, in whatever order that happens. What a signal ends that
// nobody listens to can do nothing more: there the next process that makes such a folder takes it away.
import { dirname, join } from "../core/path.ts";
import { denoGrants } from "./deno_grants.ts";
import { isProcessAlive, thisProcess } from "./process_alive.ts";
import { atExit } from "./process.ts";

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
}

/** Makes one where temporary files are. @throws {Error} that says which permission of Deno is missing, or why it cannot be */
export function privateFolder(): PrivateFolder {
  const path = Deno.realPathSync(made());
  const remove = (): void => removeFolder(path);
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
    },
  };
}

function writeNew(path: string, text: string): void {
  Deno.writeTextFileSync(path, text, { createNew: true, mode: 0o600 });
}

function putBack(path: string, written: ReadonlyMap<string, string>): void {
  try {
    Deno.mkdirSync(path, { mode: 0o700 });
    for (const [name, text] of written) writeNew(join(path, name), text);
  } catch { /* somebody has taken its name: what is not loaded yet is not found */ }
}

function made(): string {
  try {
    return Deno.makeTempDirSync({ prefix: `${PREFIX}${Deno.pid}-${numbering() ?? ""}${started()}` });
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

function removeFolder(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch { /* it is gone, or nobody's to take away */ }
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
