import { resolve } from "node:path";
import { type FileAction, fileProblem, fileText } from "./file_text.ts";
import { FileError, type Files, type FolderEntry } from "./world.ts";

/**
 * Files in memory, for tests: no links, no modes, nothing on a disk. A path of `initial` is relative to `root` (default
 * `/project`) or absolute, and its folders exist because it does.
 *
 * ```ts
 * import { memoryFiles } from "orrery";
 *
 * const files = memoryFiles({ "a.txt": "one" });
 * await files.writeText("b.txt", "two");
 * console.log((await files.list(".")).map((entry) => entry.name)); // => [ "a.txt", "b.txt" ]
 * ```
 */
export function memoryFiles(
  initial: Readonly<Record<string, string | Uint8Array>> = {},
  options: {
    readonly root?: string;
    /** Where they are kept, by absolute path, for whoever changes them too; a path that ends with `/` is an empty folder. */
    readonly contents?: Map<string, Uint8Array>;
  } = {},
): Files {
  const root = options.root ?? "/project";
  const contents = options.contents ?? new Map<string, Uint8Array>();
  const absolute = (path: string) => resolve(root, path);
  const bytesOf = (content: string | Uint8Array) =>
    typeof content === "string" ? new TextEncoder().encode(content) : content;
  for (const [path, content] of Object.entries(initial)) contents.set(absolute(path), bytesOf(content));

  const isFolder = (at: string) =>
    at === root || at === "/" || [...contents.keys()].some((file) => file.startsWith(`${at}/`));
  const fileAbove = (at: string) => [...contents.keys()].find((file) => at.startsWith(`${file}/`));
  const missing = (path: string, action: FileAction) =>
    fileProblem(path, { action, code: fileAbove(absolute(path)) === undefined ? "not-found" : "not-folder" });

  function read(path: string): Uint8Array {
    const found = contents.get(absolute(path));
    if (found !== undefined) return found;
    throw isFolder(absolute(path))
      ? fileProblem(path, { action: "read", code: "is-folder" })
      : missing(path, "read");
  }

  function write(path: string, text: string): void {
    const at = absolute(path);
    if (isFolder(at)) throw fileProblem(path, { action: "write", code: "is-folder" });
    if (fileAbove(at) !== undefined) throw missing(path, "write");
    contents.set(at, bytesOf(text));
  }

  function list(path: string): FolderEntry[] {
    const at = absolute(path);
    if (contents.has(at)) throw fileProblem(path, { action: "list", code: "not-folder" });
    if (!isFolder(at)) throw missing(path, "list");
    const entries = new Map<string, FolderEntry>();
    const start = at === "/" ? "/" : `${at}/`;
    for (const file of contents.keys()) {
      if (!file.startsWith(start)) continue;
      const [name = "", ...below] = file.slice(start.length).split("/");
      if (name === "") continue;
      entries.set(name, { name, kind: below.length === 0 ? "file" : "folder", link: false });
    }
    return [...entries.values()].sort((a, b) => a.name < b.name ? -1 : 1);
  }

  return {
    resolve: (path) => soon("find", path, () => absolute(path)),
    stat: (path) =>
      soon("look at", path, () => {
        const found = contents.get(absolute(path));
        if (found !== undefined) return { kind: "file", size: found.length };
        if (isFolder(absolute(path))) return { kind: "folder", size: 0 };
        throw missing(path, "look at");
      }),
    readBytes: (path, { signal } = {}) => soon("read", path, () => read(path).slice(), signal),
    readText: (path, { signal } = {}) => soon("read", path, () => fileText(path, read(path)), signal),
    writeText: (path, text) => soon("write", path, () => write(path, text)),
    list: (path) => soon("list", path, () => list(path)),
  };
}

/** What is thrown comes as a rejection. */
function soon<T>(action: FileAction, path: string, work: () => T, signal?: AbortSignal): Promise<T> {
  return Promise.resolve().then(() => {
    signal?.throwIfAborted();
    if (!path.includes("\0")) return work();
    throw fileProblem(path, { action, code: "other", reason: "the path holds a NUL character" });
  });
}

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
