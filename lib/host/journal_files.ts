// Where the journal of a project is. Short runs are kept in files beside its database, `orrery.db-run-ID`, until somebody opens it.

import { systemReason } from "./file_attempt.ts";
import { JournalError } from "../core/journal.ts";
import { basename, dirname, join } from "../core/path.ts";
import { denoGrants } from "./process.ts";

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
        throw new JournalError(`Cannot write the journal "${path}": ${systemReason(error)}`, {
          cause: error,
        });
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

/** Removes a file; one that is not there, or that may not be removed, is left alone. */
export function removeFile(path: string): void {
  try {
    Deno.removeSync(path);
  } catch { /* nothing depends on it */ }
}

const FOLDER = ".orrery";
const DATABASE = "orrery.db";
const WAY_OUT = "--ephemeral runs without keeping anything";

/**
 * The path of a project's journal, `.orrery/orrery.db`. The folder is made, for its user alone and with a `.gitignore` of its own,
 * when there is none; what is there already is left as it is.
 *
 * @param root the project's root, absolute
 * @throws {JournalError} when a link or a file is in its place, or it cannot be made.
 */
export function journalPath(root: string): string {
  const folder = join(root, FOLDER);
  const path = join(folder, DATABASE);
  for (const name of ["read", "write"] as const) {
    if (denoGrants({ name, path: folder })) continue;
    throw cannotKeep(folder, `Deno itself was started without --allow-${name}=${folder}`);
  }
  const found = kindOf(folder);
  if (found === "nothing") make(folder);
  else if (found !== "folder") throw cannotKeep(folder, `it is ${found}, not a folder; move it away`);
  const database = kindOf(path);
  if (database !== "nothing" && database !== "a file") {
    throw cannotKeep(
      path,
      `it is ${database === "folder" ? "a folder" : database}, not a file; move it away`,
    );
  }
  return path;
}

type Kind = "nothing" | "folder" | "a file" | "a link" | "something else";

/** Links are not followed: a project that came from elsewhere could lead out of itself with one. */
function kindOf(path: string): Kind {
  try {
    const info = Deno.lstatSync(path);
    if (info.isSymlink) return "a link";
    return info.isDirectory ? "folder" : info.isFile ? "a file" : "something else";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "nothing";
    throw cannotKeep(path, systemReason(error));
  }
}

function make(folder: string): void {
  try {
    Deno.mkdirSync(folder, { mode: 0o700 });
    Deno.writeTextFileSync(join(folder, ".gitignore"), "*\n");
  } catch (error) {
    // Another process may have made it a moment ago; it writes the rest.
    if (error instanceof Deno.errors.AlreadyExists && kindOf(folder) === "folder") return;
    throw cannotKeep(folder, systemReason(error));
  }
}

function cannotKeep(path: string, reason: string): JournalError {
  return new JournalError(`Cannot keep runs in "${path}": ${reason}. ${WAY_OUT}`);
}
