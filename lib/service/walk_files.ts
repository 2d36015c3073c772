import { join } from "node:path";
import { FileError } from "../core/world.ts";
import type { Files } from "../core/world.ts";

/**
 * The files below a folder whose names are wanted, absolute and sorted, those of a folder before those of the folders in it. Hidden folders,
 * `node_modules`, and folders that may not be looked into are left out, and links are not followed.
 *
 * @param folder absolute
 * @throws {FileError} when the folder itself cannot be looked into
 */
export async function walkFiles(
  folder: string,
  { files, isWanted }: { readonly files: Files; isWanted(name: string): boolean },
): Promise<readonly string[]> {
  const found: string[] = [];
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const entries = at === folder ? await files.list(at) : await maybeList(at, files);
    const own = entries.filter(({ name, link }) => !link && !isLeftOut(name));
    for (const { name, kind } of own) if (kind === "file" && isWanted(name)) found.push(join(at, name));
    for (const { name, kind } of own.reverse()) if (kind === "folder") waiting.push(join(at, name));
  }
  return found;
}

async function maybeList(folder: string, files: Files): ReturnType<Files["list"]> {
  try {
    return await files.list(folder);
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    return [];
  }
}

function isLeftOut(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}
