import { fileProblem } from "../core/file_text.ts";
import { dirname, join } from "node:path";
import {
  fileBytes,
  type HeldPlace,
  maybeLookExactly,
  openExactly,
  writable,
  writeAll,
} from "./exact_place.ts";

/**
 * Fills a new file beside the target, waits until it is on the disk, and puts it in place. Its name cannot be guessed: where the folder
 * cannot be held and is exchanged for a link meanwhile, it is not found there.
 *
 * @param options.mode of a file that is not there yet; one that is keeps its own
 */
export async function replaceExactly(
  place: HeldPlace,
  options: { readonly fill: (file: Deno.FsFile) => Promise<void>; readonly mode?: number },
): Promise<void> {
  const present = maybeLookExactly(place);
  if (present !== undefined) refuseUnwritable(place, present);
  const mode = present === undefined ? options.mode : present.mode ?? undefined;
  const name = `.orrery-${crypto.randomUUID()}.tmp`;
  writable({ ...place, target: join(dirname(place.target), name) });
  const temporary = join(place.folder.path, name);
  const file = Deno.openSync(temporary, { write: true, createNew: true });
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
    if (mode !== undefined && Deno.build.os !== "windows") Deno.chmodSync(temporary, mode & 0o7777);
    Deno.renameSync(temporary, place.held);
    place.folder.confirm();
  } catch (error) {
    removeQuietly(temporary);
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
    removeQuietly(place.held);
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
