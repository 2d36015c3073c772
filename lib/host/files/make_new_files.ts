import { dirname, join } from "node:path";
import { attemptOnFile, readable, withoutDeno } from "./attempt.ts";
import { denoGrants } from "../process.ts";

/** Files that may not be there yet. */
export interface NewFiles {
  /** Absolute; made with the folders on the way when it is not there. */
  readonly folder: string;
  /** By their paths from the folder, with `/`. */
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Writes all of them, or none: what was made before something failed is taken away again.
 *
 * @returns the paths at which there is something already; then nothing was written
 * @throws {FileError}
 */
export async function makeNewFiles({ folder, texts }: NewFiles): Promise<readonly string[]> {
  const flag = `--allow-write=${folder}`;
  if (!denoGrants({ name: "write", path: folder })) throw withoutDeno(folder, { action: "write", flag });
  const places = [...texts].map(([path, text]) => ({ path, text, target: join(folder, path) }));
  const taken: string[] = [];
  for (const { path, target } of places) {
    if (await attemptOnFile("look at", path, () => isTaken(path, target))) taken.push(path);
  }
  if (taken.length > 0) return taken;
  const made: string[] = [];
  try {
    for (const { path, text, target } of places) {
      await attemptOnFile("create", path, () => {
        makeFolders(dirname(target), made);
        using file = Deno.openSync(target, { write: true, createNew: true }); // somebody may have been faster
        made.push(target);
        const bytes = new TextEncoder().encode(text);
        for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
      });
    }
  } catch (error) {
    // A folder that somebody else has put something into stays.
    for (const path of made.reverse()) await Deno.remove(path).catch(() => undefined);
    throw error;
  }
  return [];
}

/** Also by a link that leads to nothing. */
function isTaken(path: string, target: string): boolean {
  try {
    Deno.lstatSync(readable("look at", path, target));
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}

function makeFolders(folder: string, made: string[]): void {
  try {
    Deno.mkdirSync(folder);
    made.push(folder);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return;
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    makeFolders(dirname(folder), made);
    makeFolders(folder, made);
  }
}
