import { dirname } from "node:path";
import { denoGrants } from "./process.ts";
import { holdPlace, lookExactly, writable } from "./exact_place.ts";
import type { Place } from "./held_folder.ts";

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
    if (isNothing(error)) return false;
    throw error;
  }
  throw new Deno.errors.NotADirectory();
}

/** Of Deno or of `node:fs`. */
function isNothing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
