// Where the journal of a project is.

import { systemReason } from "./file_attempt.ts";
import { JournalError } from "../core/journal.ts";
import { basename, dirname, join } from "node:path";
import { denoGrants } from "./process.ts";

/** The files of runs beside one database, `orrery.db-run-ID`: earlier versions kept short runs so, until somebody opened the database. */
export interface RunFiles {
  list(): readonly { readonly id: string; readonly text: string }[];
  remove(id: string): void;
}

/** The files of runs beside the database at `path`, an absolute one. */
export function runFiles(path: string): RunFiles {
  const folder = dirname(path);
  const prefix = `${basename(path)}-run-`;
  const isWhole = (name: string) => name.startsWith(prefix) && !name.endsWith(".tmp");
  return {
    list: () =>
      Array.from(Deno.readDirSync(folder), ({ name }) => name).filter(isWhole).flatMap((name) => {
        const text = maybeText(join(folder, name));
        return text === undefined ? [] : [{ id: name.slice(prefix.length), text }];
      }),
    remove: (id) => removeFile(join(folder, prefix + id)),
  };
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
