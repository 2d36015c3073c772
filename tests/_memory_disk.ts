import { type FileErrorCode, type Files, memoryFiles } from "../mod.ts";
import { type FileChanges, type FileLook, tooLargeReason } from "../lib/core/file_changes.ts";
import { type FileAction, fileProblem } from "../lib/core/file_text.ts";
import { basename, dirname, resolve } from "node:path";

/** Files in memory, for tests, that can be read as `Files` and changed: no links, no modes. */
export interface MemoryDisk {
  readonly files: Files;
  readonly changes: FileChanges;
}

/** @param initial by paths that are relative to `root` (default `/project`) or absolute */
export function memoryDisk(
  initial: Readonly<Record<string, string | Uint8Array>> = {},
  { root = "/project" }: { readonly root?: string } = {},
): MemoryDisk {
  const contents = new Map<string, Uint8Array>();
  return { files: memoryFiles(initial, { root, contents }), changes: new MemoryChanges(contents, root) };
}

class MemoryChanges implements FileChanges {
  readonly #contents: Map<string, Uint8Array>;
  readonly #root: string;

  constructor(contents: Map<string, Uint8Array>, root: string) {
    this.#contents = contents;
    this.#root = root;
  }

  look(path: string): Promise<FileLook> {
    return this.#soon("look at", path, (at) => {
      const kind = this.#found(path, at, "look at");
      return { kind, size: this.#contents.get(at)?.length ?? 0, modifiedMs: 0 };
    });
  }

  readBytes(
    path: string,
    { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array> {
    return this.#soon("read", path, (at) => {
      signal?.throwIfAborted();
      if (this.#found(path, at, "read") === "folder") throw problem("read", path, "is-folder");
      const bytes = this.#contents.get(at) ?? new Uint8Array();
      if (bytes.length <= maxBytes) return bytes.slice();
      throw fileProblem(path, {
        action: "read",
        code: "too-large",
        reason: tooLargeReason(bytes.length, maxBytes),
      });
    });
  }

  list(path: string): ReturnType<FileChanges["list"]> {
    return this.#soon("list", path, (at) => {
      if (this.#found(path, at, "list") === "file") throw problem("list", path, "not-folder");
      const names = new Set(this.#below(at).map((inside) => inside.slice(at.length + 1).split("/")[0] ?? ""));
      names.delete("");
      return [...names].sort().map((name) => ({ name, kind: this.#kind(resolve(at, name)) ?? "other" }));
    });
  }

  writeBytes(path: string, bytes: Uint8Array): Promise<void> {
    return this.#soon("write", path, (at) => this.#put(path, { at, action: "write", bytes }));
  }

  append(path: string, bytes: Uint8Array): Promise<void> {
    return this.#soon("append to", path, (at) => {
      const before = this.#contents.get(at) ?? new Uint8Array();
      const after = new Uint8Array(before.length + bytes.length);
      after.set(before);
      after.set(bytes, before.length);
      this.#put(path, { at, action: "append to", bytes: after });
    });
  }

  create(path: string, bytes: Uint8Array): Promise<void> {
    return this.#soon("create", path, (at) => {
      if (this.#kind(at) !== undefined) throw problem("create", path, "exists");
      this.#put(path, { at, action: "create", bytes });
    });
  }

  makeFolder(path: string, { isRecursive }: { readonly isRecursive: boolean }): Promise<void> {
    const action = "make the folder";
    return this.#soon(action, path, (at) => {
      const there = this.#kind(at);
      if (there === "folder" && isRecursive) return;
      if (there !== undefined) throw problem(action, path, "exists");
      if (!isRecursive) this.#needFolder(path, { at, action });
      if (this.#fileAbove(at)) throw problem(action, path, "not-folder");
      this.#contents.set(`${at}/`, new Uint8Array());
    });
  }

  remove(path: string, { isRecursive }: { readonly isRecursive: boolean }): Promise<void> {
    return this.#soon("remove", path, (at) => {
      const kind = this.#found(path, at, "remove");
      const below = this.#below(at).filter((inside) => inside !== `${at}/`);
      if (kind === "folder" && below.length > 0 && !isRecursive) throw problem("remove", path, "not-empty");
      this.#take(at);
    });
  }

  rename(path: string, to: string): Promise<void> {
    return this.#soon("rename", path, (at) => {
      const kind = this.#found(path, at, "rename");
      const target = resolve(this.#root, to);
      this.#needFolder(to, { at: target, action: "rename" });
      const there = this.#kind(target);
      if (there === "folder" && kind === "file") throw problem("rename", to, "is-folder");
      if (there === "file" && kind === "folder") throw problem("rename", to, "not-folder");
      if (this.#below(target).some((inside) => inside !== `${target}/`)) {
        throw problem("rename", to, "not-empty");
      }
      for (const [inside, bytes] of this.#take(at)) {
        this.#contents.set(target + inside.slice(at.length), bytes);
      }
    });
  }

  copy(path: string, to: string): Promise<void> {
    return this.#soon("copy", path, (at) => {
      if (this.#found(path, at, "copy") === "folder") throw problem("copy", path, "is-folder");
      const bytes = this.#contents.get(at) ?? new Uint8Array();
      this.#put(to, { at: resolve(this.#root, to), action: "write", bytes: bytes.slice() });
    });
  }

  #put(path: string, { at, action, bytes }: { at: string; action: FileAction; bytes: Uint8Array }): void {
    this.#needFolder(path, { at, action });
    if (this.#kind(at) === "folder") throw problem(action, path, "is-folder");
    this.#keepFolder(at);
    this.#contents.set(at, bytes.slice());
  }

  /** The folder of a path stays when the last thing in it goes. */
  #keepFolder(at: string): void {
    this.#contents.set(`${dirname(at)}/`, new Uint8Array());
  }

  #take(at: string): readonly (readonly [path: string, bytes: Uint8Array])[] {
    this.#keepFolder(at);
    const taken = [...this.#contents].filter(([inside]) => inside === at || inside.startsWith(`${at}/`));
    for (const [inside] of taken) this.#contents.delete(inside);
    return taken;
  }

  #needFolder(path: string, { at, action }: { at: string; action: FileAction }): void {
    const above = this.#kind(dirname(at));
    if (this.#fileAbove(at) || above === "file") throw problem(action, path, "not-folder");
    if (above === undefined) throw problem(action, path, "not-found");
  }

  #fileAbove(at: string): boolean {
    return [...this.#contents.keys()].some((file) => !file.endsWith("/") && at.startsWith(`${file}/`));
  }

  #found(path: string, at: string, action: FileAction): "file" | "folder" {
    const kind = this.#kind(at);
    if (kind !== undefined) return kind;
    throw problem(action, path, this.#fileAbove(at) ? "not-folder" : "not-found");
  }

  #kind(at: string): "file" | "folder" | undefined {
    if (this.#contents.has(at)) return "file";
    return at === this.#root || basename(at) === "" || this.#below(at).length > 0 ? "folder" : undefined;
  }

  #below(at: string): readonly string[] {
    return [...this.#contents.keys()].filter((inside) => inside.startsWith(`${at}/`));
  }

  #soon<T>(action: FileAction, path: string, work: (at: string) => T): Promise<T> {
    return Promise.resolve().then(() => {
      if (!path.includes("\0")) return work(resolve(this.#root, path));
      throw fileProblem(path, { action, code: "other", reason: "the path holds a NUL character" });
    });
  }
}

function problem(action: FileAction, path: string, code: FileErrorCode): Error {
  return fileProblem(path, { action, code });
}
