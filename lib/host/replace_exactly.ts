import { fileProblem } from "../core/file_text.ts";
import { dirname, join } from "../core/path.ts";
import { exactly, maybeInfo, type Place, writable, writeAll } from "./exact_place.ts";

/**
 * Fills a new file beside the target, waits until it is on the disk, and puts it in place. Its name cannot be guessed: when the folder is
 * exchanged for a link meanwhile, it is not found there.
 *
 * @param options.mode of a file that is not there yet; one that is keeps its own
 */
export async function replaceExactly(
  place: Place,
  options: { readonly fill: (file: Deno.FsFile) => Promise<void>; readonly mode?: number | undefined },
): Promise<void> {
  exactly(place);
  const present = maybeInfo(place.target);
  if (present !== undefined) refuseUnwritable(place, present);
  const mode = present === undefined ? options.mode : present.mode ?? undefined;
  const temporary = join(dirname(place.target), `.orrery-${crypto.randomUUID()}.tmp`);
  const file = Deno.openSync(writable({ ...place, target: temporary }), { write: true, createNew: true });
  try {
    try {
      await options.fill(file);
      await file.sync();
    } finally {
      file.close();
    }
    exactly(place);
    if (mode !== undefined && Deno.build.os !== "windows") Deno.chmodSync(temporary, mode & 0o7777);
    Deno.renameSync(temporary, writable(place));
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
}

function refuseUnwritable({ action, path }: Place, info: Deno.FileInfo): void {
  if (!info.isFile) throw fileProblem(path, { action, code: info.isDirectory ? "is-folder" : "other" });
  if (info.mode !== null && (info.mode & 0o222) === 0) {
    throw fileProblem(path, { action, code: "denied", reason: "the file is marked read-only" });
  }
}

/** At the end of a file. What cannot be written whole is taken back. */
export async function appendExactly(place: Place, bytes: Uint8Array): Promise<void> {
  exactly(place);
  const present = maybeInfo(place.target);
  if (present === undefined) return await createExactly(place, bytes);
  refuseUnwritable(place, present);
  using file = Deno.openSync(writable(place), { append: true });
  const { size } = file.statSync();
  try {
    await writeAll(file, bytes);
  } catch (error) {
    await file.truncate(size).catch(() => undefined);
    throw error;
  }
}

/** A file that is not there yet. */
export async function createExactly(place: Place, bytes: Uint8Array): Promise<void> {
  exactly(place);
  using file = Deno.openSync(writable(place), { write: true, createNew: true });
  try {
    await writeAll(file, bytes);
  } catch (error) {
    removeQuietly(place.target);
    throw error;
  }
}

function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    return; // it is gone already, or its folder is
  }
}
