import { resolve } from "node:path";
import { memoryFiles } from "./memory_files.ts";
import { FileError } from "./world.ts";
import type { Files, FolderEntry } from "./world.ts";

/** Files over others: what is written stays in memory, and the others are only read. @param root what relative paths are relative to; absolute */
export function overlayFiles(
  below: Files,
  { root, files }: { readonly root: string; readonly files: Readonly<Record<string, string>> },
): Files {
  const above = memoryFiles(files, { root });
  const first = async <T>(work: (files: Files) => Promise<T>): Promise<T> => {
    try {
      return await work(above);
    } catch (error) {
      if (!(error instanceof FileError) || error.code !== "not-found") throw error;
      return await work(below);
    }
  };
  return {
    resolve: async (path) => {
      const isAbove = await above.stat(path).then(() => true, () => false);
      return isAbove ? resolve(root, path) : await below.resolve(path);
    },
    stat: (path) => first((each) => each.stat(path)),
    readBytes: (path, options) => first((each) => each.readBytes(path, options)),
    readText: (path, options) => first((each) => each.readText(path, options)),
    writeText: (path, text) => above.writeText(path, text),
    async list(path) {
      const found = await Promise.allSettled([below.list(path), above.list(path)]);
      const lists = found.flatMap((each) => each.status === "fulfilled" ? [each.value] : []);
      if (lists.length === 0) return await below.list(path);
      const byName = new Map<string, FolderEntry>(lists.flat().map((entry) => [entry.name, entry]));
      return [...byName.values()].sort((a, b) => a.name < b.name ? -1 : 1);
    },
  };
}
