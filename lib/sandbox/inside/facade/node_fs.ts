import { join } from "node:path";
import { FACADE_NAMES } from "../../facade_modules.ts";
import { bytesOf, optionsOf, pathOf, refuseMode, signalOf } from "./arguments.ts";
import { notThere } from "./error.ts";
import {
  type Ask,
  type Entry,
  FailedEffect,
  isFolder,
  isMissing,
  list,
  type Look,
  look,
  makeFolders,
  maybeLook,
  step,
  type Steps,
} from "./steps.ts";

type Given = readonly unknown[];

/** `node:fs` and `node:fs/promises`: the same work, blocking, with a callback, and as a promise. */
export function nodeFiles(
  ask: Ask,
): { readonly fs: Readonly<Record<string, unknown>>; readonly promises: Readonly<Record<string, unknown>> } {
  const promises: Record<string, unknown> = { constants: NODE_CONSTANTS };
  const fs: Record<string, unknown> = { constants: NODE_CONSTANTS, Stats, Dirent, promises };
  for (const [name, work] of Object.entries(NODE_WORKS)) {
    const soon = async (...given: Given): Promise<unknown> =>
      await ask.soon(work(...given), signalOf(given.at(-1)));
    promises[name] = soon;
    fs[name] = calledBack(name, soon);
    fs[`${name}Sync`] = (...given: Given) => ask.now(work(...given));
    if (name !== "realpath") continue;
    for (const each of [fs.realpath, fs.realpathSync]) Object.defineProperty(each, "native", { value: each });
  }
  const existsSync = (path: unknown): boolean => ask.now(exists(path));
  fs.existsSync = existsSync;
  fs.exists = (path: unknown, callback: unknown) => {
    if (typeof callback !== "function") throw new TypeError("fs.exists needs a callback");
    ask.soon(exists(path)).catch(() => false).then((found) => Reflect.apply(callback, undefined, [found]));
  };
  addAbsent(fs, "fs", FACADE_NAMES["node:fs"]);
  addAbsent(promises, "fs.promises", FACADE_NAMES["node:fs/promises"]);
  return { fs, promises };
}

function calledBack(name: string, soon: (...given: Given) => Promise<unknown>): (...given: Given) => void {
  return (...given) => {
    const callback = given.at(-1);
    if (typeof callback !== "function") {
      throw new TypeError(
        `fs.${name} needs a callback as its last argument; fs.${name}Sync and fs.promises.${name} do not`,
      );
    }
    const call = (...result: Given): void => queueMicrotask(() => Reflect.apply(callback, undefined, result));
    soon(...given.slice(0, -1)).then((value) => call(null, value), (error: unknown) => call(error));
  };
}

/** Everything else that there is in Node: its message names it. */
function addAbsent(target: Record<string, unknown>, owner: string, names: readonly string[]): void {
  for (const name of names) {
    target[name] ??= () => {
      throw notThere(
        `${owner}.${name}`,
        "use readFile, writeFile, appendFile, readdir, mkdir, rm, rename, copyFile or stat",
      );
    };
  }
}

type Work = (...given: readonly unknown[]) => Steps<unknown>;

/** What each function of `node:fs` does, by the name that it has in `node:fs/promises`. */
const NODE_WORKS: Readonly<Record<string, Work>> = {
  *readFile(path, options) {
    const { bytes } = yield* step({ kind: "read", path: filePath(path) });
    const { flag = "r", encoding } = encodingOptions(options);
    refuseFlag("readFile", flag, ["r"]);
    return decodedAs(bytes, encoding);
  },
  *writeFile(path, data, options) {
    const { flag = "w", encoding, mode } = encodingOptions(options);
    refuseMode("fs.writeFile", mode, 0o666);
    refuseFlag("writeFile", flag, ["w", "a", "wx", "ax"]);
    const how = flag === "w" ? "replace" : flag === "a" ? "append" : "create";
    yield* step({ kind: "write", path: filePath(path), how }, encodedAs(data, encoding));
  },
  *appendFile(path, data, options) {
    const { encoding, mode } = encodingOptions(options);
    refuseMode("fs.appendFile", mode, 0o666);
    yield* step({ kind: "write", path: filePath(path), how: "append" }, encodedAs(data, encoding));
  },
  *access(path) {
    yield* look(pathOf(path), false);
  },
  *stat(path, options) {
    return yield* stats(path, options, false);
  },
  *lstat(path, options) {
    return yield* stats(path, options, true);
  },
  *readdir(path, options) {
    const { withFileTypes = false, recursive = false } = optionsOf(options);
    const folder = pathOf(path);
    const found = recursive ? yield* everything(folder, "") : yield* list(folder);
    if (!withFileTypes) return found.map(([name]) => name);
    return found.map(([name, kind]) => new Dirent(folder, name, kind));
  },
  *mkdir(path, options) {
    const { recursive = false, mode } = optionsOf(options);
    refuseMode("fs.mkdir", mode, 0o777);
    const folder = pathOf(path);
    if (recursive) return yield* makeFolders(folder);
    yield* step({ kind: "make-folder", path: folder, isRecursive: false });
    return undefined;
  },
  *mkdtemp(prefix) {
    const path = `${pathOf(prefix)}${crypto.randomUUID().slice(-6)}`;
    yield* step({ kind: "make-folder", path, isRecursive: false });
    return path;
  },
  *rm(path, options) {
    const { recursive = false, force = false } = optionsOf(options);
    const target = pathOf(path);
    if (!recursive && (yield* isFolder(target))) {
      throw folderProblem(target, "fs.rm with recursive: true removes it");
    }
    try {
      yield* step({ kind: "remove", path: target, isRecursive: Boolean(recursive) });
    } catch (error) {
      if (!force || !isMissing(error)) throw error;
    }
  },
  *rmdir(path) {
    const target = pathOf(path);
    const found = yield* look(target, true);
    if (found.kind !== "folder") throw failed("not-folder", target, "it is no folder");
    yield* step({ kind: "remove", path: target, isRecursive: false });
  },
  *unlink(path) {
    const target = pathOf(path);
    if (yield* isFolder(target)) throw folderProblem(target, "fs.rmdir removes it");
    yield* step({ kind: "remove", path: target, isRecursive: false });
  },
  *rename(path, to) {
    yield* step({ kind: "rename", path: pathOf(path), to: pathOf(to) });
  },
  *copyFile(path, to, mode = 0) {
    const [from, target] = [pathOf(path), pathOf(to)];
    if (mode === NODE_CONSTANTS.COPYFILE_EXCL) {
      const { bytes } = yield* step({ kind: "read", path: from });
      yield* step({ kind: "write", path: target, how: "create" }, bytes);
    } else yield* step({ kind: "copy", path: from, to: target });
  },
  *cp(path, to, options) {
    const { recursive = false, force = true, errorOnExist = false } = optionsOf(options);
    yield* copyTree(pathOf(path), pathOf(to), {
      isRecursive: Boolean(recursive),
      isForced: Boolean(force),
      isStrict: Boolean(errorOnExist),
    });
  },
  *realpath(path) {
    return (yield* step({ kind: "real-path", path: pathOf(path) })).ok;
  },
};

/** What `fs.existsSync` tells. */
function* exists(path: unknown): Steps<boolean> {
  if (typeof path !== "string" && !(path instanceof URL) && !(path instanceof Uint8Array)) return false;
  return (yield* maybeLook(pathOf(path), false)) !== undefined;
}

function* stats(path: unknown, options: unknown, isLink: boolean): Steps<Stats | undefined> {
  const { throwIfNoEntry = true, bigint = false } = optionsOf(options);
  if (bigint) throw notThere("bigint: true of fs.stat", "leave it out");
  const target = pathOf(path);
  const found = throwIfNoEntry ? yield* look(target, isLink) : yield* maybeLook(target, isLink);
  return found && new Stats(found);
}

function* everything(folder: string, under: string): Steps<readonly Entry[]> {
  const found: Entry[] = [];
  for (const [name, kind] of yield* list(join(folder, under))) {
    const path = under === "" ? name : join(under, name);
    found.push([path, kind]);
    if (kind === "folder") found.push(...yield* everything(folder, path));
  }
  return found;
}

interface CopyOptions {
  readonly isRecursive: boolean;
  readonly isForced: boolean;
  readonly isStrict: boolean;
}

function* copyTree(from: string, to: string, options: CopyOptions): Steps<void> {
  if ((yield* look(from, false)).kind !== "folder") return yield* copyOne(from, to, options);
  if (!options.isRecursive) throw folderProblem(from, "fs.cp with recursive: true copies it");
  yield* step({ kind: "make-folder", path: to, isRecursive: true });
  for (const [name] of yield* list(from)) yield* copyTree(join(from, name), join(to, name), options);
}

function* copyOne(from: string, to: string, { isForced, isStrict }: CopyOptions): Steps<void> {
  if (!isForced && (yield* maybeLook(to, true)) !== undefined) {
    if (isStrict) throw failed("exists", to, "it is there already, and the options say force: false");
    return;
  }
  yield* step({ kind: "copy", path: from, to });
}

function folderProblem(path: string, instead: string): FailedEffect {
  return failed("is-folder", path, `it is a folder; ${instead}`);
}

function failed(code: "is-folder" | "not-folder" | "exists", path: string, why: string): FailedEffect {
  const message = `Cannot use ${JSON.stringify(path)}: ${why}`;
  return new FailedEffect({ code, message }, { op: { kind: "remove", path, isRecursive: false } });
}

function filePath(value: unknown): string {
  if (typeof value === "number") {
    throw notThere("a file descriptor", "fs.open is not there either; name the file by its path");
  }
  return pathOf(value);
}

function encodingOptions(options: unknown): Readonly<Record<string, unknown>> {
  return typeof options === "string" ? { encoding: options } : { ...optionsOf(options) };
}

function refuseFlag(where: string, flag: unknown, known: readonly string[]): void {
  if (known.includes(String(flag))) return;
  throw notThere(`flag ${JSON.stringify(String(flag))} of fs.${where}`, `use one of ${known.join(", ")}`);
}

/** `fs.constants`, as far as anything here asks for them. */
const NODE_CONSTANTS = {
  F_OK: 0,
  R_OK: 4,
  W_OK: 2,
  X_OK: 1,
  COPYFILE_EXCL: 1,
  COPYFILE_FICLONE: 2,
  COPYFILE_FICLONE_FORCE: 4,
};

/** What kind of thing is at a path, as Node asks it. */
class Kind {
  readonly #kind: string;

  constructor(kind: string) {
    this.#kind = kind;
  }

  isFile(): boolean {
    return this.#kind === "file";
  }

  isDirectory(): boolean {
    return this.#kind === "folder";
  }

  isSymbolicLink(): boolean {
    return this.#kind === "link";
  }

  isBlockDevice(): boolean {
    return false;
  }

  isCharacterDevice(): boolean {
    return false;
  }

  isFIFO(): boolean {
    return false;
  }

  isSocket(): boolean {
    return false;
  }
}

/** What Node tells of a file, as far as a gadget is told. */
class Stats extends Kind {
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly birthtimeMs: number;
  readonly mtime: Date;
  readonly birthtime: Date;

  constructor({ kind, size, mode, modifiedMs = 0, createdMs = modifiedMs }: Look) {
    super(kind);
    this.size = size;
    this.mode = mode ?? (kind === "folder" ? 0o040755 : 0o100644);
    this.mtimeMs = modifiedMs;
    this.birthtimeMs = createdMs;
    this.mtime = new Date(modifiedMs);
    this.birthtime = new Date(createdMs);
  }
}

/** An entry of a folder. */
class Dirent extends Kind {
  readonly name: string;
  readonly parentPath: string;

  constructor(folder: string, path: string, kind: string) {
    super(kind);
    const at = path.search(/[^\\/]+$/);
    this.name = path.slice(at);
    this.parentPath = at > 0 ? `${folder}/${path.slice(0, at - 1)}` : folder;
  }
}

const UTF8 = /^utf-?8$/i;

/** A text in the encoding; without one a `Buffer`. */
function decodedAs(bytes: Uint8Array, encoding: unknown): unknown {
  if (typeof encoding === "string" && UTF8.test(encoding)) {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }
  const buffer = bufferClass().from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (encoding === undefined || encoding === null || encoding === "buffer") return buffer;
  return Reflect.apply(buffer.toString, buffer, [encoding]);
}

/** The bytes of what is written: a text in the encoding, by default UTF-8. @throws {TypeError} */
function encodedAs(data: unknown, encoding: unknown): Uint8Array {
  const isPlain = encoding === undefined || encoding === null || UTF8.test(String(encoding));
  if (typeof data !== "string" || isPlain) return bytesOf(data);
  return Reflect.apply(bufferClass().from, bufferClass(), [data, encoding]);
}

/** Node's own class is loaded by the runtime when it is first named: not before somebody needs it. */
const bufferClass = (): typeof import("node:buffer").Buffer => Reflect.get(globalThis, "Buffer");
