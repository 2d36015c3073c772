import { whenAborted } from "../core/async.ts";
import { fileProblem } from "../core/file_text.ts";
import { messageOf } from "../core/source_error.ts";
import { attemptOnFile, readable } from "./file_attempt.ts";

const CHUNK_BYTES = 64 * 1024;

interface Readable {
  read(into: Uint8Array): Promise<number | null>;
}

/** The bytes of an open file. */
export interface FileChunks extends AsyncIterable<Uint8Array> {
  /** False for a pipe or a device, which gives other bytes the next time. */
  readonly isRegular: boolean;
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
    const file = isFile ? Deno.openSync(path) : await openedUnlessAborted(path, options);
    if (file === undefined) return { isRegular: false, async *[Symbol.asyncIterator]() {} };
    const source: Readable = isFile ? { read: async (into) => await file.readSync(into) } : file;
    return { isRegular: isFile, [Symbol.asyncIterator]: () => closing(file, source, options) };
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
  return chunksOf(Deno.stdin, "stdin", options);
}

async function* closing(
  file: Disposable,
  source: Readable,
  options: { signal?: AbortSignal },
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunksOf(source, "the file", options);
  } finally {
    file[Symbol.dispose]();
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
      throw new Error(`Cannot go on reading ${name}: ${messageOf(cause)}`, { cause });
    });
    if (count === null) return;
    yield buffer.slice(0, count);
  }
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
