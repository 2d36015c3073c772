// A path is only a text: by the time that it is used it may lead elsewhere, since others rename what is on it. A folder that is held is
// one folder for good. On Linux it is opened without being used (`O_PATH`), the kernel is asked where it really is, and what is done in
// it goes through `/proc/self/fd/N`, which is that folder whatever its path leads to by then.
//
// Elsewhere, and where Deno was started with a part of its permissions and lets nobody look into `/proc`, the folder is only looked at
// before and after. Who exchanges it twice, at the right moments, is not found out there.
import type * as NodeFs from "node:fs";
import { type FileAction, type FileError, fileProblem } from "../../core/core.ts";
import { denoGrants } from "../process.ts";
import { realPath } from "../paths.ts";

/** Where something is done to a file. */
export interface Place {
  readonly action: FileAction;
  /** As it was given. */
  readonly path: string;
  /** Absolute, and real by the word of whoever judged it. */
  readonly target: string;
}

/** A folder that stays the one that it was when its path was checked. */
export interface HeldFolder extends Disposable {
  /** Leads into it: `${path}/name` is in it. */
  readonly path: string;
  /** Says whether its path still leads to it, where it cannot be held. @throws {FileError} `other` */
  confirm(): void;
}

/** What holds folders and opens files in them. */
export type NodeFileSystem = typeof NodeFs;

let loaded: NodeFileSystem | undefined;

/** To be awaited before anything is held. It comes late, since it takes 20 ms in Deno 2.9. */
export async function loadNodeFs(): Promise<void> {
  loaded ??= await import("node:fs");
}

/** What {@linkcode loadNodeFs} has loaded. */
export function nodeFs(): NodeFileSystem {
  if (loaded === undefined) throw new Error("loadNodeFs has to be awaited before");
  return loaded;
}

/** The error for a path that leads elsewhere than it did when it was judged. */
export function linkProblem({ action, path }: Place): FileError {
  const reason = "a link is on this path, which was not there when the path was checked";
  return fileProblem(path, { action, code: "other", reason });
}

/** Holds a folder. @param folder absolute, without links @throws {FileError} `other` when there is a link on the path by now */
export function holdFolder(place: Place, folder: string): HeldFolder {
  return isExact() ? opened(place, folder) : watched(place, folder);
}

/** Names the file without opening it: not in `node:fs`. See open(2). */
const O_PATH = 0o10000000;

function opened(place: Place, folder: string): HeldFolder {
  const descriptor = openPath(place, folder);
  const number = numberOf(descriptor, folder);
  if (number === undefined) {
    nodeFs().closeSync(descriptor);
    throw linkProblem(place);
  }
  held.add(number);
  return {
    path: `/proc/self/fd/${number}`,
    confirm: () => undefined,
    [Symbol.dispose]: () => {
      held.delete(number);
      nodeFs().closeSync(descriptor);
    },
  };
}

function openPath(place: Place, folder: string): number {
  const { openSync, constants: { O_DIRECTORY, O_NOFOLLOW } } = nodeFs();
  try {
    return openSync(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (isLink(folder)) throw linkProblem(place);
    throw error;
  }
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch {
    return false; // the error that there is already says more
  }
}

/** What {@linkcode holdFolder} gives where a folder cannot be held. */
function watched(place: Place, folder: string): HeldFolder {
  const confirm = (): void => {
    if (realPath(folder) !== folder) throw linkProblem(place);
  };
  confirm();
  const before = maybeIdentity(folder);
  return {
    path: folder,
    confirm() {
      confirm();
      if (maybeIdentity(folder) !== before) throw linkProblem(place);
    },
    [Symbol.dispose]: () => undefined,
  };
}

/** Undefined where Deno may not look, and where the system says nothing of it. */
function maybeIdentity(folder: string): string | undefined {
  if (!denoGrants({ name: "read", path: folder })) return undefined;
  try {
    const { dev, ino } = Deno.lstatSync(folder);
    return ino === null ? undefined : `${dev} ${ino}`;
  } catch {
    return undefined; // not there: whatever is done in it says so
  }
}

/** The numbers of the folders that are held at the moment. */
const held = new Set<number>();
let lastNumber: number | undefined;

/**
 * What the system calls an open folder; undefined when it is none that its path leads to by now. Up to Deno 2.6 `node:fs` gives numbers of its
 * own, which may be those of other files: of the folders that were opened with `O_PATH`, the one of this path that is not held is the one
 * that has just been opened. Whatever else is open so belongs to another worker. The lowest free number is given, so it is mostly the same
 * one as the last time.
 */
function numberOf(descriptor: number, folder: string): number | undefined {
  if (isUnheld(descriptor, folder)) return descriptor;
  if (lastNumber === undefined || !isUnheld(lastNumber, folder)) lastNumber = searchedNumber(folder);
  return lastNumber;
}

function searchedNumber(folder: string): number | undefined {
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    if (isUnheld(Number(name), folder)) return Number(name);
  }
  return undefined;
}

function isUnheld(number: number, folder: string): boolean {
  if (held.has(number)) return false;
  const open = `/proc/self/fd/${number}`;
  try {
    return isPath(Deno.lstatSync(open)) && Deno.readLinkSync(open) === folder;
  } catch {
    return false; // closed, as the one is by which the folder of them all is read
  }
}

/** proc_pid_fd(5): its bits say what it was opened for, and with `O_PATH` that is nothing. */
function isPath({ mode }: Deno.FileInfo): boolean {
  return ((mode ?? 0o700) & 0o700) === 0;
}

let isExactHere: boolean | undefined;

/** Whether folders can be held here. */
function isExact(): boolean {
  return isExactHere ??= Deno.build.os === "linux" && EVERY_KIND.every((name) => denoGrants({ name })) &&
    canHold();
}

/** Who has a part of them only may not look into `/proc`, and would be asked on the terminal. */
const EVERY_KIND = ["read", "write", "net", "env", "run", "sys", "ffi"] as const;

/** Tries it once: `/proc` may not be mounted. */
function canHold(): boolean {
  const { openSync, closeSync, constants } = nodeFs();
  try {
    const descriptor = openSync("/", O_PATH | constants.O_DIRECTORY);
    try {
      return numberOf(descriptor, "/") !== undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false;
  }
}
