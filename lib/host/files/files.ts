// Files as they are, without any policy: lib/policy/guard.ts puts one around them.
import { dirname, join, resolve } from "node:path";
import {
  type FileInfo,
  fileProblem,
  type Files,
  fileText,
  type FolderEntry,
  messageOf,
  whenAborted,
} from "../../core/core.ts";
import { attemptOnFile, attemptOnFile as attempt, readable, withoutDeno } from "./attempt.ts";
import { replaceExactly, writeAll } from "./exact_place.ts";
import { realPath } from "../paths.ts";
import { denoGrants, program } from "../process.ts";

/** Where the files are, and how new ones are made. */
export interface HostFilesOptions {
  /** What relative paths are relative to; absolute. */
  readonly root: string;
  /** The mode of every file written, such as 0o600; then folders on the way are 0o700. Default: kept, or the usual one. */
  readonly mode?: number;
}

/** The files of this machine. No effect puts a question of Deno's own on the terminal: without Deno's permission it is a `denied` error. */
export function hostFiles(options: HostFilesOptions): Files {
  const absolute = (path: string) => resolve(options.root, path);
  const readBytes: Files["readBytes"] = (path, { signal } = {}) =>
    attempt("read", path, () => bytesAt({ path, target: absolute(path), signal }), signal);
  return {
    readBytes,
    resolve: (path) => attempt("find", path, () => realPath(readable("find", path, absolute(path)))),
    stat: (path) =>
      attempt(
        "look at",
        path,
        async () => infoOf(await Deno.stat(readable("look at", path, absolute(path)))),
      ),
    readText: async (path, { signal } = {}) => fileText(path, await readBytes(path, { signal })),
    writeText: (path, text) =>
      attempt("write", path, () => writeWhole({ path, target: absolute(path), text, mode: options.mode })),
    list: (path) => attempt("list", path, () => entriesOf(readable("list", path, absolute(path)))),
  };
}

async function bytesAt(options: { path: string; target: string; signal?: AbortSignal }): Promise<Uint8Array> {
  const { path, target, signal } = options;
  // Not on another thread: the way there takes several times as long as the look.
  const { kind } = infoOf(Deno.statSync(readable("read", path, target)));
  // A pipe or a device may never end.
  if (kind !== "file") {
    throw fileProblem(path, { action: "read", code: kind === "folder" ? "is-folder" : "other" });
  }
  return await Deno.readFile(target, { signal });
}

async function entriesOf(folder: string): Promise<readonly FolderEntry[]> {
  const entries: FolderEntry[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const info = entry.isSymlink ? await Deno.stat(join(folder, entry.name)).catch(() => undefined) : entry;
    const kind = info?.isFile ? "file" : info?.isDirectory ? "folder" : "other";
    entries.push({ name: entry.name, kind, link: entry.isSymlink });
  }
  return entries.sort((a, b) => a.name < b.name ? -1 : 1);
}

function infoOf(info: Deno.FileInfo): FileInfo {
  return { kind: info.isFile ? "file" : info.isDirectory ? "folder" : "other", size: info.size };
}

/** Writes a file whole or not at all: beside the target, then renamed. A link stays; what it leads to is written. */
async function writeWhole(
  options: { path: string; target: string; text: string; mode: number | undefined },
): Promise<void> {
  const { path, text } = options;
  const target = realPath(readable("write", path, options.target));
  const folder = dirname(target);
  if (!denoGrants({ name: "write", path: folder })) {
    // The folder, because the new text is written beside the file before it takes its place.
    throw withoutDeno(path, { action: "write", flag: `--allow-write=${folder}` });
  }
  await makeFolder(folder, options.mode);
  const nothing = (): void => {};
  const place = { action: "write", path, target, held: target, [Symbol.dispose]: nothing } as const;
  const unheld = { path: folder, confirm: nothing, [Symbol.dispose]: nothing };
  const bytes = new TextEncoder().encode(text);
  await replaceExactly({ ...place, folder: unheld }, {
    fill: (file) => writeAll(file, bytes),
    mode: options.mode,
  });
}

async function makeFolder(folder: string, fileMode: number | undefined): Promise<void> {
  try {
    await Deno.mkdir(folder, { recursive: true, ...(fileMode !== undefined && { mode: 0o700 }) });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw new Deno.errors.NotADirectory("", { cause: error });
    throw error;
  }
}

const CHUNK_BYTES = 64 * 1024;

interface Readable {
  read(into: Uint8Array): Promise<number | null>;
}

/** The bytes of an open file. */
export interface FileChunks extends AsyncIterable<Uint8Array> {
  /** False for a pipe or a device, which gives other bytes the next time. */
  readonly isRegular: boolean;
  /** For when its bytes are not wanted after all. */
  close(): void;
}

/**
 * The bytes of a file in chunks of at most 64 KB, read as they are taken; ends early when the signal is aborted.
 *
 * @throws {FileError} at once when the file is missing, is a folder, or may not be read.
 */
export function openFileChunks(
  path: string,
  options: { signal?: AbortSignal } = {},
): Promise<FileChunks> {
  return attemptOnFile("read", path, async () => {
    const { isDirectory, isFile } = Deno.statSync(readable("read", path, path));
    if (isDirectory) throw fileProblem(path, { action: "read", code: "is-folder" });
    // A pipe may have nobody at its other end yet; a file is there, and a thread of its own takes longer than it does.
    if (isFile) {
      const file = Deno.openSync(path);
      return {
        isRegular: true,
        close: () => file.close(),
        [Symbol.asyncIterator]: () => fileChunks(file, options),
      };
    }
    const file = await openedUnlessAborted(path, options);
    if (file === undefined) return { isRegular: false, close() {}, async *[Symbol.asyncIterator]() {} };
    return {
      isRegular: false,
      close: () => file.close(),
      [Symbol.asyncIterator]: () => closing(file, options),
    };
  });
}

async function openedUnlessAborted(
  path: string,
  { signal }: { signal?: AbortSignal },
): Promise<Deno.FsFile | undefined> {
  const opening = Deno.open(path);
  if (signal === undefined) return await opening;
  const file = await Promise.race([opening, whenAborted(signal)]);
  if (file === undefined) opening.then((late) => late.close(), () => undefined);
  return file;
}

/** The bytes of stdin as they come; ends early when the signal is aborted, also while nothing comes. */
export function stdinChunks(options: { signal?: AbortSignal } = {}): AsyncIterable<Uint8Array> {
  return chunksOf(program().stdin, "stdin", options);
}

/** What a file holds is there: nothing of it is waited for. */
async function* fileChunks(
  file: Deno.FsFile,
  { signal }: { signal?: AbortSignal },
): AsyncGenerator<Uint8Array> {
  try {
    const buffer = new Uint8Array(CHUNK_BYTES);
    while (signal?.aborted !== true) {
      const count = file.readSync(buffer);
      if (count === null) return;
      yield buffer.slice(0, count);
    }
  } catch (cause) {
    throw brokenReading("the file", cause);
  } finally {
    file.close();
  }
}

async function* closing(file: Deno.FsFile, options: { signal?: AbortSignal }): AsyncGenerator<Uint8Array> {
  try {
    yield* chunksOf(file, "the file", options);
  } finally {
    file.close();
  }
}

async function* chunksOf(
  source: Readable,
  name: string,
  options: { signal?: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  while (!options.signal?.aborted) {
    const count = await readUnlessAborted(source, buffer, options).catch((cause) => {
      throw brokenReading(name, cause);
    });
    if (count === null) return;
    yield buffer.slice(0, count);
  }
}

function brokenReading(name: string, cause: unknown): Error {
  return new Error(`Cannot go on reading ${name}: ${messageOf(cause)}`, { cause });
}

/** One read, or `null` as at the end when the signal is aborted first. A listener a read, taken away after it: no growth. */
function readUnlessAborted(
  source: Readable,
  buffer: Uint8Array,
  { signal }: { signal?: AbortSignal },
): Promise<number | null> {
  if (signal === undefined) return source.read(buffer);
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve(null);
    signal.addEventListener("abort", onAbort, { once: true });
    source.read(buffer).then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
