// Short runs are kept in files beside the database of the journal, `orrery.db-run-ID`, until somebody opens it.

import { JournalError } from "../core/journal.ts";
import { basename, dirname, join } from "../core/path.ts";
import { removeFile } from "./remove_file.ts";

/** The files of runs beside one database. */
export interface RunFiles {
  /** The first bytes of the database; empty when there is none. */
  header(length: number): Uint8Array;
  /** Keeps the text under the run's id: whole and on the disk on return, or as it was before. @throws {JournalError} */
  write(id: string, text: string): void;
  /** What is kept, by id. */
  list(): readonly { readonly id: string; readonly text: string }[];
  remove(id: string): void;
}

/** Something that was being written when its process died is nobody's any more after this time. */
const STALE_MS = 60_000;
const UNFINISHED = ".tmp";

/** The files of runs beside the database at `path`, an absolute one. */
export function runFiles(path: string): RunFiles {
  const prefix = `${basename(path)}-run-`;
  const fileOf = (id: string) => join(dirname(path), prefix + id);
  return {
    header: (length) => firstBytes(path, length),
    write(id, text) {
      try {
        writeThrough(fileOf(id), text);
      } catch (error) {
        const reason = error instanceof Error
          ? error.message.replace(/ \(os error \d+\).*$/s, "")
          : String(error);
        throw new JournalError(`Cannot write the journal "${path}": ${reason}`, { cause: error });
      }
    },
    list: () =>
      namesIn(dirname(path)).filter((name) => name.startsWith(prefix)).flatMap((name) => {
        const file = join(dirname(path), name);
        if (name.endsWith(UNFINISHED)) removeStale(file);
        const text = name.endsWith(UNFINISHED) ? undefined : maybeText(file);
        return text === undefined ? [] : [{ id: name.slice(prefix.length), text }];
      }),
    remove: (id) => removeFile(fileOf(id)),
  };
}

function writeThrough(path: string, text: string): void {
  const unfinished = path + UNFINISHED;
  const bytes = new TextEncoder().encode(text);
  const file = Deno.openSync(unfinished, { write: true, create: true, truncate: true, mode: 0o600 });
  try {
    for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
    file.syncSync();
  } finally {
    file.close();
  }
  Deno.renameSync(unfinished, path);
  // The new name is on the disk when its folder is; Windows opens no folder.
  if (Deno.build.os === "windows") return;
  using folder = Deno.openSync(dirname(path));
  folder.syncSync();
}

function firstBytes(path: string, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  try {
    using file = Deno.openSync(path);
    return bytes.subarray(0, file.readSync(bytes) ?? 0);
  } catch {
    return bytes.subarray(0, 0);
  }
}

function namesIn(folder: string): readonly string[] {
  return Array.from(Deno.readDirSync(folder), ({ name }) => name);
}

function removeStale(path: string): void {
  try {
    const { mtime } = Deno.lstatSync(path);
    if (mtime !== null && Date.now() - mtime.getTime() > STALE_MS) removeFile(path);
  } catch { /* another process was faster */ }
}

/** Undefined when another process has taken it away. */
function maybeText(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
