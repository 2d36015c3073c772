import { join } from "node:path";

/** The text files of a project by their path from its root, with `/` between the parts. */
export type ProjectTree = ReadonlyMap<string, string>;

/** Folders that are made, not written. */
const MADE: ReadonlySet<string> = new Set([".git", ".orrery", "node_modules", "dist", "coverage"]);

/** Reads all text files under a folder; a file with a NUL byte is no text and is listed as empty. */
export async function readProject(root: string): Promise<ProjectTree> {
  const tree = new Map<string, string>();
  for (const path of await filesBelow(root, "")) {
    const text = await Deno.readTextFile(join(root, path));
    tree.set(path, text.includes("\0") ? "" : text);
  }
  return tree;
}

async function filesBelow(root: string, folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const entry of Deno.readDir(join(root, folder))) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory) files.push(...(MADE.has(entry.name) ? [] : await filesBelow(root, path)));
    else if (entry.isFile && !entry.name.endsWith(".tmp")) files.push(path);
  }
  return files.sort();
}
