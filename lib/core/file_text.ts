import { FileError, type FileErrorCode, type Files } from "./world.ts";

/** What some editors put at the start of a text; it is no part of what the text says. */
export const BYTE_ORDER_MARK = "\uFEFF";

/** A text without the byte order mark at its start, if it has one. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
}

/** Whether UTF-8 begins with a byte order mark. */
export function hasByteOrderMark([first, second, third]: Uint8Array): boolean {
  return first === 0xef && second === 0xbb && third === 0xbf;
}

/**
 * The text of a file that was read for `path`; a byte order mark at the start is dropped.
 *
 * @throws {FileError} `not-text`, with the offset (from 0) of the first byte that is not UTF-8.
 */
export function fileText(path: string, bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  if ("text" in decoded) return decoded.text;
  const byte = (bytes[decoded.wrongAt] ?? 0).toString(16).toUpperCase().padStart(2, "0");
  const reason = `it is not UTF-8 text: the first wrong byte is 0x${byte} at offset ${decoded.wrongAt}`;
  throw fileProblem(path, { action: "read", code: "not-text", reason });
}

/** What was being done to a file. */
export type FileAction =
  | "find"
  | "look at"
  | "read"
  | "write"
  | "list"
  | "append to"
  | "create"
  | "make the folder"
  | "remove"
  | "rename"
  | "copy";

/**
 * The `FileError` in the words that every implementation of `Files` uses: `Cannot read "notes.txt": no such file`.
 *
 * `reason` replaces the usual words of the code; `other` has none of its own.
 */
export function fileProblem(
  path: string,
  options: {
    readonly action: FileAction;
    readonly code: FileErrorCode;
    readonly reason?: string;
    readonly cause?: unknown;
  },
): FileError {
  const { action, code, cause } = options;
  const reason = options.reason ?? usualReason(code, action);
  return new FileError(`Cannot ${action} ${JSON.stringify(path)}: ${reason}`, {
    path,
    code,
    ...(cause === undefined ? {} : { cause }),
  });
}

function usualReason(code: FileErrorCode, action: FileAction): string {
  switch (code) {
    case "not-found":
      return action === "list"
        ? "no such folder"
        : ["look at", "remove", "rename"].includes(action)
        ? "no such file or folder"
        : ["write", "append to", "create", "make the folder"].includes(action)
        ? "the folder that it would be in does not exist"
        : "no such file";
    case "exists":
      return "there is something of this name already";
    case "not-empty":
      return "the folder is not empty";
    case "too-large":
      return "it is too large";
    case "is-folder":
      return "it is a folder, not a file";
    case "not-folder":
      return action === "list" ? "it is a file, not a folder" : "a part of the path is a file, not a folder";
    case "not-text":
      return "it is not UTF-8 text";
    case "denied":
      return "the operating system does not permit it";
    case "other":
      return "it is not a regular file";
    default:
      return code satisfies never;
  }
}

/** Bytes as text, or the offset (from 0) of the first byte that is not part of well-formed UTF-8. */
export type DecodedText = { readonly text: string } | { readonly wrongAt: number };

/** Decodes strictly (RFC 3629: no surrogates, nothing overlong); a byte order mark at the start is dropped. */
export function decodeUtf8(bytes: Uint8Array): DecodedText {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { wrongAt: wellFormedLength(bytes) };
  }
}

/** For each lead byte: from, to, how many bytes follow, and the range of the first of them (Unicode, table 3-7). */
const SEQUENCES: readonly (readonly [number, number, number, number, number])[] = [
  [0x00, 0x7f, 0, 0, 0],
  [0xc2, 0xdf, 1, 0x80, 0xbf],
  [0xe0, 0xe0, 2, 0xa0, 0xbf],
  [0xe1, 0xec, 2, 0x80, 0xbf],
  [0xed, 0xed, 2, 0x80, 0x9f],
  [0xee, 0xef, 2, 0x80, 0xbf],
  [0xf0, 0xf0, 3, 0x90, 0xbf],
  [0xf1, 0xf3, 3, 0x80, 0xbf],
  [0xf4, 0xf4, 3, 0x80, 0x8f],
];

function wellFormedLength(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return at;
}

/** The length of the sequence that starts here; 0 when it is not well-formed. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  const sequence = SEQUENCES.find(([from, to]) => lead >= from && lead <= to);
  if (sequence === undefined) return 0;
  const [, , following, low, high] = sequence;
  for (let i = 1; i <= following; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) return 0;
    if (i === 1 ? byte < low || byte > high : byte < 0x80 || byte > 0xbf) return 0;
  }
  return following + 1;
}

/** The text of a file; undefined when there is none. @throws {FileError} when it is there and cannot be read */
export async function maybeText(files: Files, path: string): Promise<string | undefined> {
  try {
    return await files.readText(path);
  } catch (error) {
    if (error instanceof FileError && error.code === "not-found") return undefined;
    throw error;
  }
}
