// What is done to exactly the file that a path named when it was judged: in its folder, which is held, and without following a link there.
import { basename, dirname, join, resolve, sep } from "node:path";
import { type FileAction, fileProblem, oneArray, timerTurn } from "../../core/core.ts";
import { attemptOnFile, codeOf, readable, withoutDeno } from "./attempt.ts";
import { type HeldFolder, holdFolder, linkProblem, loadNodeFs, nodeFs, type Place } from "./held_folder.ts";
import { denoGrants, removeFile } from "../process.ts";

/** Does something with the place of a path; what goes wrong becomes a `FileError`. */
type ExactAttempt = <T>(
  action: FileAction,
  path: string,
  work: (place: Place) => T | Promise<T>,
  signal?: AbortSignal,
) => Promise<T>;

/** What does something with places. @param root what relative paths are relative to; real and absolute */
export function exactAttempt(root: string): ExactAttempt {
  return (action, path, work, signal) =>
    attemptOnFile(action, path, async () => {
      await loadNodeFs();
      return await work({ action, path, target: resolve(root, path) });
    }, signal);
}

/** A place whose folder is held. */
export interface HeldPlace extends Place, Disposable {
  /** Leads to it, whatever its path leads to by now. The last part may be a link. */
  readonly held: string;
  readonly folder: HeldFolder;
}

/** Holds the folder that a place is in. @throws {FileError} `other` when a link is on the way to it by now */
export function holdPlace(place: Place): HeldPlace {
  const { action, path, target } = place;
  const [parent, name] = partsOf(target);
  const folder = holdFolder(place, parent);
  return {
    action,
    path,
    target,
    // The root of all has no name; nobody exchanges it.
    held: name === "" ? target : folder.path.endsWith(sep) ? folder.path + name : folder.path + sep + name,
    folder,
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** The folder and the name. Of a path that was resolved nothing but its last separator has to be looked at. */
function partsOf(target: string): readonly [string, string] {
  const cut = target.lastIndexOf(sep);
  if (sep !== "/" || cut === 0) return [dirname(target), basename(target)];
  return [target.slice(0, cut), target.slice(cut + 1)];
}

/** What is at a place. @param options.isLink a link may be, and is looked at itself */
export function lookExactly(place: HeldPlace, { isLink = false } = {}): Deno.FileInfo {
  readable(place.action, place.path, place.target);
  const info = Deno.lstatSync(place.held);
  place.folder.confirm();
  if (info.isSymlink && !isLink) throw linkProblem(place);
  return info;
}

/** The same; undefined when nothing is there, and when Deno may not look. */
export function maybeLookExactly(place: HeldPlace): Deno.FileInfo | undefined {
  if (!denoGrants({ name: "read", path: place.target })) return undefined;
  try {
    return lookExactly(place);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Gives the target back when Deno may write it. @throws {FileError} `denied` otherwise. */
export function writable({ action, path, target }: Place): string {
  if (denoGrants({ name: "write", path: target })) return target;
  throw withoutDeno(path, { action, flag: `--allow-write=${target}` });
}

/** The entries of exactly this folder. */
export function listExactly(place: Place): Deno.DirEntry[] {
  readable(place.action, place.path, place.target);
  using folder = holdFolder(place, place.target);
  const entries = [...Deno.readDirSync(folder.path)];
  folder.confirm();
  return entries;
}

/** A regular file that is open. */
export interface OpenedFile extends Disposable {
  /** Bytes, when it was looked at. */
  readonly size: number;
  /** POSIX bits with the kind; null where there are none. */
  readonly mode: number | null;
  /** Reads some bytes; 0 at the end. */
  read(buffer: Uint8Array): number;
  /** Writes all of them, at the end of the file. */
  append(bytes: Uint8Array): Promise<void>;
  truncate(size: number): void;
  /** What was really opened: between the first look and that, a pipe may have taken its place. */
  look(): { isFile(): boolean; readonly size: number; readonly nlink: number };
}

/** Opens a regular file: a pipe or a device may never end, and opening one may never come back. */
function openExactly(place: HeldPlace, how: "read" | "append" = "read"): OpenedFile {
  const { action, path } = place;
  const fs = nodeFs();
  const { isFile, isDirectory, size, mode } = lookExactly(place);
  if (!isFile) throw fileProblem(path, { action, code: isDirectory ? "is-folder" : "other" });
  const descriptor = openQuietly(place, how);
  const close = (): void => fs.closeSync(descriptor);
  try {
    place.folder.confirm();
  } catch (error) {
    close();
    throw error;
  }
  return {
    size,
    mode,
    read: (buffer) => fs.readSync(descriptor, buffer, 0, buffer.length, null),
    async append(bytes) {
      for (let at = 0; at < bytes.length;) at += await write(descriptor, bytes.subarray(at));
    },
    truncate: (size) => fs.ftruncateSync(descriptor, size),
    look: () => fs.fstatSync(descriptor),
    [Symbol.dispose]: close,
  };
}

/** Holds the folder of a file only until the file is open for reading: many may be read at once. */
export function openedFile(place: Place): OpenedFile {
  using at = holdPlace(place);
  return openExactly(at);
}

/** Whatever is there by now: follows no link, and waits for nobody at a pipe. Windows has neither flag. */
function openQuietly(place: HeldPlace, how: "read" | "append"): number {
  const { O_RDONLY, O_WRONLY, O_APPEND, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = nodeFs().constants;
  const purpose = how === "read" ? O_RDONLY : O_WRONLY | O_APPEND;
  try {
    return nodeFs().openSync(place.held, purpose | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ELOOP") throw linkProblem(place);
    throw error;
  }
}

function write(descriptor: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    nodeFs().write(descriptor, bytes, 0, bytes.length, null, (error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}

const SHORT_BYTES = 1024;
const CHUNK_BYTES = 256 * 1024;

/** The bytes of an open file as they are read. */
export async function* fileBytes(place: Place, file: OpenedFile): AsyncGenerator<Uint8Array> {
  const reader = new ChunkReader(place, file);
  for (let chunk = reader.next(); chunk !== undefined; chunk = reader.next()) {
    yield chunk;
    if (chunk.length === CHUNK_BYTES) await timerTurn();
  }
}

/**
 * All bytes of a file. A short one is read at once: the way to another thread takes longer, and a thousand of them that are read side by side
 * are not open side by side.
 *
 * @param check told how many there are; may throw
 */
export async function readExactly(place: Place, check: (size: number) => void): Promise<Uint8Array> {
  using file = openedFile(place);
  check(file.size);
  const reader = new ChunkReader(place, file);
  const chunks: Uint8Array[] = [];
  for (let chunk = reader.next(); chunk !== undefined; chunk = reader.next()) {
    check(reader.total);
    chunks.push(chunk);
    if (chunk.length === CHUNK_BYTES) await timerTurn();
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only.slice() : oneArray(chunks, reader.total);
}

class ChunkReader {
  readonly #place: Place;
  readonly #file: OpenedFile;
  #isAtEnd = false;
  /** Bytes so far. */
  total = 0;

  constructor(place: Place, file: OpenedFile) {
    this.#place = place;
    this.#file = file;
  }

  next(): Uint8Array | undefined {
    const { size } = this.#file;
    if (this.#isAtEnd) return undefined;
    // One byte more than there should be: that the file ends there is seen by the same read.
    const buffer = new Uint8Array(Math.min(Math.max(size + 1 - this.total, SHORT_BYTES), CHUNK_BYTES));
    const count = this.#file.read(buffer);
    const isLonger = this.total <= size && this.total + count > size;
    if (isLonger && !this.#file.look().isFile()) {
      throw fileProblem(this.#place.path, { action: this.#place.action, code: "other" });
    }
    this.total += count;
    this.#isAtEnd = count === 0 || (this.total === size && count < buffer.length);
    return count === 0 ? undefined : buffer.subarray(0, count);
  }
}

/** Writes all of it: a single write may take a part. */
export async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await file.write(bytes.subarray(written));
}

/** Makes a folder in one that is there. */
export function makeFolderExactly(place: Place): void {
  using parent = holdPlace(place);
  writable(place);
  Deno.mkdirSync(parent.held);
  parent.folder.confirm();
}

/**
 * Makes a folder with those on the way to it, each in the one before, which is held meanwhile. One that is there is no error.
 *
 * @throws {Deno.errors.NotADirectory} when something on the way is no folder
 */
export function makeFoldersExactly(place: Place): void {
  const missing: string[] = [];
  for (let target = place.target; !isFolder({ ...place, target }); target = dirname(target)) {
    missing.push(target);
  }
  for (const target of missing.reverse()) {
    try {
      makeFolderExactly({ ...place, target });
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error; // somebody else has made it
    }
  }
}

function isFolder(place: Place): boolean {
  const { target } = place;
  if (dirname(target) === target) return true;
  // Deno may not look at it, so it is not for us to make.
  if (!denoGrants({ name: "read", path: target })) return true;
  try {
    using at = holdPlace(place);
    if (lookExactly(at).isDirectory) return true;
  } catch (error) {
    if (codeOf(error) === "not-found") return false;
    throw error;
  }
  throw new Deno.errors.NotADirectory();
}

/**
 * Fills a new file beside the target, waits until it is on the disk, and puts it in place. Its name cannot be guessed: where the folder
 * cannot be held and is exchanged for a link meanwhile, it is not found there.
 *
 * @param options.mode of the file. Default: a file that is there keeps its own, and `newMode` is that of one that is not
 */
export async function replaceExactly(
  place: HeldPlace,
  options: {
    readonly fill: (file: Deno.FsFile) => Promise<void>;
    readonly mode?: number;
    readonly newMode?: number;
  },
): Promise<void> {
  const present = maybeLookExactly(place);
  if (present !== undefined) refuseUnwritable(place, present);
  const mode = options.mode ?? (present === undefined ? options.newMode : present.mode ?? undefined);
  const name = `.orrery-${crypto.randomUUID()}.tmp`;
  writable({ ...place, target: join(dirname(place.target), name) });
  const temporary = join(place.folder.path, name);
  const file = Deno.openSync(temporary, { write: true, createNew: true, mode: options.mode });
  try {
    try {
      place.folder.confirm();
      await options.fill(file);
      await file.sync();
    } finally {
      file.close();
    }
    writable(place);
    place.folder.confirm();
    // Also where it was made with it: the process's own mask took bits away then.
    if (mode !== undefined && Deno.build.os !== "windows") Deno.chmodSync(temporary, mode & 0o7777);
    Deno.renameSync(temporary, place.held);
    place.folder.confirm();
  } catch (error) {
    removeFile(temporary);
    throw error;
  }
}

function refuseUnwritable({ action, path }: HeldPlace, info: Deno.FileInfo): void {
  if (!info.isFile) throw fileProblem(path, { action, code: info.isDirectory ? "is-folder" : "other" });
  if (info.mode !== null && (info.mode & 0o222) === 0) {
    throw fileProblem(path, { action, code: "denied", reason: "the file is marked read-only" });
  }
}

/**
 * At the end of a file. What cannot be written whole is taken back. A file that has another name elsewhere is made anew: who may write here
 * may not write there.
 */
export async function appendExactly(place: HeldPlace, bytes: Uint8Array): Promise<void> {
  const present = maybeLookExactly(place);
  if (present === undefined) return await createExactly(place, bytes);
  refuseUnwritable(place, present);
  writable(place);
  using file = openExactly(place, "append");
  const opened = file.look();
  if (!opened.isFile()) throw fileProblem(place.path, { action: place.action, code: "other" });
  if (opened.nlink > 1) return await appendToCopy(place, bytes);
  try {
    await file.append(bytes);
  } catch (error) {
    file.truncate(opened.size);
    throw error;
  }
}

async function appendToCopy(place: HeldPlace, bytes: Uint8Array): Promise<void> {
  using before = openExactly(place);
  await replaceExactly(place, {
    async fill(file) {
      for await (const chunk of fileBytes(place, before)) await writeAll(file, chunk);
      await writeAll(file, bytes);
    },
  });
}

/** A file that is not there yet. */
export async function createExactly(place: HeldPlace, bytes: Uint8Array): Promise<void> {
  writable(place);
  using file = Deno.openSync(place.held, { write: true, createNew: true });
  try {
    place.folder.confirm();
    await writeAll(file, bytes);
  } catch (error) {
    removeFile(place.held);
    throw error;
  }
}
