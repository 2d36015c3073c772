// A path is only a text: by the time that it is used it may lead elsewhere, since others rename what is on it. A folder that is held is
// one folder for good. On Linux it is opened without being used (`O_PATH`), the kernel is asked where it really is, and what is done in
// it goes through `/proc/self/fd/N`, which is that folder whatever its path leads to by then.
//
// Elsewhere, and where Deno was started with a part of its permissions and lets nobody look into `/proc`, the folder is only looked at
// before and after. Who exchanges it twice, at the right moments, is not found out there.
import type * as NodeFs from "node:fs";
import { type FileAction, fileProblem } from "../core/file_text.ts";
import type { FileError } from "../core/world.ts";
import { denoGrants } from "./deno_grants.ts";
import { realPath } from "./paths.ts";

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
  const number = numberOf(descriptor);
  const path = `/proc/self/fd/${number}`;
  const release = (): void => {
    held.delete(number);
    nodeFs().closeSync(descriptor);
  };
  held.add(number);
  try {
    if (Deno.readLinkSync(path) !== folder) throw linkProblem(place);
  } catch (error) {
    release();
    throw error;
  }
  return { path, confirm: () => undefined, [Symbol.dispose]: release };
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
let lastNumber = 0;

/**
 * What the system calls an open file. Up to Deno 2.6 `node:fs` gives numbers of its own, which may be those of other files, but nobody else
 * in this process opens anything with `O_PATH`: of these, the one that is not held is the one that has just been opened. The lowest free
 * number is given, so it is mostly the same one as the last time.
 */
function numberOf(descriptor: number): number {
  if (isUnheldPath(descriptor)) return descriptor;
  if (!isUnheldPath(lastNumber)) lastNumber = searchedNumber();
  return lastNumber;
}

function searchedNumber(): number {
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    if (isUnheldPath(Number(name))) return Number(name);
  }
  throw new Error("Cannot hold a folder: /proc/self/fd does not have what has just been opened");
}

function isUnheldPath(number: number): boolean {
  return !held.has(number) && isPath(number);
}

/** proc_pid_fd(5): its bits say what it was opened for, and with `O_PATH` that is nothing. */
function isPath(number: number): boolean {
  try {
    return ((Deno.lstatSync(`/proc/self/fd/${number}`).mode ?? 0o700) & 0o700) === 0;
  } catch {
    return false; // closed, as the one is by which the folder of them all is read
  }
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
      return Deno.readLinkSync(`/proc/self/fd/${numberOf(descriptor)}`) === "/";
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false;
  }
}
