import { type FileAction, fileProblem } from "../core/file_text.ts";
import { dirname } from "../core/path.ts";
import { readable, withoutDeno } from "./file_attempt.ts";
import { denoGrants } from "./deno_grants.ts";
import { realPath } from "./paths.ts";

/** Where something is done to a file. */
export interface Place {
  readonly action: FileAction;
  /** As it was given. */
  readonly path: string;
  /** Absolute. */
  readonly target: string;
}

/**
 * That no link is on the path: whoever judged it judged a real one. True for as long as this turn of the event loop, as far as Orrery
 * itself goes.
 *
 * @param options.isLink its last part may be one
 * @throws {FileError} `other`
 */
export function exactly({ action, path, target }: Place, { isLink = false } = {}): void {
  const expected = isLink ? dirname(target) : target;
  if (realPath(expected) === expected) return;
  const reason = "a link is on this path, which was not there when the path was checked";
  throw fileProblem(path, { action, code: "other", reason });
}

/** Gives the target back when Deno may write it. @throws {FileError} `denied` otherwise. */
export function writable({ action, path, target }: Place): string {
  if (denoGrants({ name: "write", path: target })) return target;
  throw withoutDeno(path, { action, flag: `--allow-write=${target}` });
}

/** What is there, a link as itself; undefined when nothing is, and when Deno may not look. */
export function maybeInfo(path: string): Deno.FileInfo | undefined {
  if (!denoGrants({ name: "read", path })) return undefined;
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Opens a regular file for reading: a pipe or a device may never end, and opening one may never come back. */
export function openExactly(place: Place): Deno.FsFile {
  const { action, path, target } = place;
  exactly(place);
  const { isFile, isDirectory } = Deno.lstatSync(readable(action, path, target));
  if (!isFile) throw fileProblem(path, { action, code: isDirectory ? "is-folder" : "other" });
  return Deno.openSync(target);
}

const CHUNK_BYTES = 256 * 1024;

/** The bytes of an open file as they are read. A short one is read at once: the way to another thread takes longer. */
export async function* fileBytes(file: Deno.FsFile): AsyncGenerator<Uint8Array> {
  while (true) {
    const buffer = new Uint8Array(CHUNK_BYTES);
    const count = file.readSync(buffer);
    if (count === null) return;
    yield buffer.subarray(0, count);
    if (count === CHUNK_BYTES) await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/** Writes all of it: a single write may take a part. */
export async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) written += await file.write(bytes.subarray(written));
}
