import { FileError, type Files, type FolderEntry, PermissionRefused } from "../lib/core/core.ts";

/** An entry below the folder where a walk began. */
export interface WalkEntry extends FolderEntry {
  /** Below the first folder, with `/` between its parts. */
  readonly path: string;
  /** What `Files` takes. */
  readonly fullPath: string;
  /** Why a folder could not be looked into; absent when it could. */
  readonly problem?: string;
}

/** Folders that hold no work of the user's: versions, installed packages, Orrery's own notes. */
const SKIPPED = new Set([".git", "node_modules", ".orrery"]);

/** In words, for descriptions. */
export const SKIPPED_IN_WORDS = "`.git`, `node_modules` and `.orrery`";

/**
 * Everything below a folder: an entry, then what is in it; names sorted by their UTF-16 units. Links are told but not
 * followed, so that a walk ends and stays where it began; the skipped folders are told but not entered.
 *
 * @throws {FileError} when the first folder cannot be listed; a further one that cannot is told with its `problem`.
 */
export async function* walk(
  files: Files,
  options: { readonly folder: string; readonly depth: number; readonly signal: AbortSignal },
): AsyncGenerator<WalkEntry> {
  const base = options.folder.replace(/\/+$/, "") || (options.folder === "" ? "." : "");
  yield* walkEntries(await files.list(options.folder), { ...options, files, base, below: "" });
}

interface Place {
  readonly files: Files;
  readonly base: string;
  readonly below: string;
  readonly depth: number;
  readonly signal: AbortSignal;
}

async function* walkEntries(entries: readonly FolderEntry[], place: Place): AsyncGenerator<WalkEntry> {
  for (const entry of entries) {
    place.signal.throwIfAborted();
    const path = place.below + entry.name;
    const fullPath = place.base === "." ? path : `${place.base}/${path}`;
    const enter = entry.kind === "folder" && !entry.link && place.depth > 1 && !SKIPPED.has(entry.name);
    const inside = enter ? await listed(place.files, fullPath) : [];
    if (typeof inside === "string") {
      yield { ...entry, path, fullPath, problem: inside };
      continue;
    }
    yield { ...entry, path, fullPath };
    yield* walkEntries(inside, { ...place, below: `${path}/`, depth: place.depth - 1 });
  }
}

async function listed(files: Files, path: string): Promise<readonly FolderEntry[] | string> {
  try {
    return await files.list(path);
  } catch (error) {
    if (error instanceof FileError || error instanceof PermissionRefused) return error.message;
    throw error;
  }
}
