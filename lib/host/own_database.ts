// Databases of Orrery beside the journal of a project, `orrery.db-NAME`: by how their names begin, no run may write them.

import { journalPath, removeFile } from "./journal_files.ts";

/** What SQLite writes beside a file of its own while it changes that. */
const BESIDE = "-journal";

/**
 * The path of an SQLite file, which need not be there yet; the folder is. Undefined when nothing can be kept in the project, and when
 * something else is in its place, or in that of what SQLite writes beside it: a link could lead anywhere.
 *
 * @param root the project's root, absolute
 */
export function ownDatabasePath(root: string, name: string): string | undefined {
  try {
    const path = `${journalPath(root)}-${name}`;
    return isFree(path) && isFree(path + BESIDE) ? path : undefined;
  } catch {
    return undefined;
  }
}

function isFree(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return true;
    throw error;
  }
}

/** Removes one, and what a process that died has left beside it. */
export function removeDatabase(path: string): void {
  removeFile(path);
  removeFile(path + BESIDE);
}
