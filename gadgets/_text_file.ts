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
import { binaryKind, looksBinary } from "./_file_kind.ts";
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
