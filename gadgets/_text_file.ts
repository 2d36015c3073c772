import {
  decodeUtf8,
  FileError,
  type FileInfo,
  fileProblem,
  type Files,
  hasByteOrderMark,
  nearestName,
} from "../lib/core/core.ts";
import { basename, dirname, join } from "node:path";
import { formatBytes } from "./_words.ts";

/** The text of a file, with what is needed to write it back as it was. */
export interface TextFile {
  /** Without the byte order mark. */
  readonly text: string;
  readonly byteOrderMark: boolean;
}

const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads a file of text for a gadget.
 *
 * @throws {FileError} when it is not there, is larger than 64 MiB, or is not UTF-8 text; the message says what it is.
 */
export async function readTextFile(files: Files, path: string, signal: AbortSignal): Promise<TextFile> {
  const { kind, size } = await look(files, path);
  if (kind === "folder") {
    throw fileProblem(path, {
      action: "read",
      code: "is-folder",
      reason: "it is a folder; ListFolder shows what is in it",
    });
  }
  if (size > MAX_BYTES) {
    const reason = `it has ${formatBytes(size)}, at most ${formatBytes(MAX_BYTES)} are read`;
    throw fileProblem(path, { action: "read", code: "other", reason });
  }
  return textOf(path, await files.readBytes(path, { signal }));
}

/** What is at the path; when nothing is, the error names the file of the same folder whose name is nearest. */
async function look(files: Files, path: string): Promise<FileInfo> {
  try {
    return await files.stat(path);
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "not-found") throw error;
    const names = await files.list(dirname(path)).catch(() => []);
    const near = nearestName(
      basename(path),
      names.filter(({ kind }) => kind === "file").map(({ name }) => name),
    );
    const hint = near === undefined ? "" : `. Did you mean ${JSON.stringify(join(dirname(path), near))}?`;
    throw fileProblem(path, {
      action: "read",
      code: "not-found",
      reason: `no such file${hint}`,
      cause: error,
    });
  }
}

function textOf(path: string, bytes: Uint8Array): TextFile {
  if (looksBinary(bytes)) {
    const reason = `it is not text but ${binaryKind(bytes)} (${formatBytes(bytes.length)})`;
    throw fileProblem(path, { action: "read", code: "not-text", reason });
  }
  const decoded = decodeUtf8(bytes);
  if ("text" in decoded) {
    return { text: decoded.text, byteOrderMark: hasByteOrderMark(bytes) };
  }
  const byte = (bytes[decoded.wrongAt] ?? 0).toString(16).toUpperCase().padStart(2, "0");
  const reason =
    `it is not UTF-8 text: the first wrong byte is 0x${byte} at offset ${decoded.wrongAt}; save it as UTF-8`;
  throw fileProblem(path, { action: "read", code: "not-text", reason });
}

/** The first bytes of common files that are not text, and what to call them. */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ["89504e47", "a PNG image"],
  ["ffd8ff", "a JPEG image"],
  ["47494638", "a GIF image"],
  ["25504446", "a PDF document"],
  ["504b0304", "a ZIP archive or an office document"],
  ["1f8b", "a gzip archive"],
  ["7f454c46", "a program (ELF)"],
  ["4d5a", "a program (Windows)"],
  ["0061736d", "a WebAssembly module"],
  ["53514c69746520666f726d6174203300", "an SQLite database; SqlQuery reads it"],
  ["fffe", "UTF-16 text; save it as UTF-8"],
  ["feff", "UTF-16 text; save it as UTF-8"],
];

const START_BYTES = 8192;

const PERCENT = 0x25;

/** Whether these bytes are not text: a NUL near the start, by which `grep` and `git` decide too. */
export function looksBinary(bytes: Uint8Array): boolean {
  if (bytes.subarray(0, START_BYTES).includes(0)) return true;
  // "MZ;Mozambique" begins like a program: a start that is all ASCII is text until a byte says otherwise. A PDF says what it is.
  const isAscii = bytes.subarray(0, 16).every((byte) => byte >= 0x09 && byte < 0x7f);
  return maybeKind(bytes) !== undefined && (!isAscii || bytes[0] === PERCENT);
}

/** What bytes that are not text are, in words that fit after "it is". */
export function binaryKind(bytes: Uint8Array): string {
  return maybeKind(bytes) ?? "binary";
}

function maybeKind(bytes: Uint8Array): string | undefined {
  const start = bytes.subarray(0, 16).reduce((hex, byte) => hex + byte.toString(16).padStart(2, "0"), "");
  return SIGNATURES.find(([signature]) => start.startsWith(signature))?.[1];
}

// Calls run side by side, and two that read, change and write the same file would lose the change of one. The queue is
// the module's own, because WriteFile and EditFile share it.
const tails = new Map<string, Promise<unknown>>();

/** Runs the work when all work queued before for the same real path is done; a failure before it does not matter. */
export async function inTurn<T>(realPath: string, work: () => Promise<T>): Promise<T> {
  const before = tails.get(realPath) ?? Promise.resolve();
  const done = before.then(work, work);
  const tail = done.catch(() => {});
  tails.set(realPath, tail);
  try {
    return await done;
  } finally {
    if (tails.get(realPath) === tail) tails.delete(realPath);
  }
}
