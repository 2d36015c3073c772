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
    cause,
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
    return { wrongAt: wrongOffset(bytes) };
  }
}

/** Where the first sequence begins that is not well-formed: there a lenient decoder puts a character that takes other bytes. */
function wrongOffset(bytes: Uint8Array): number {
  const lenient = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const again = new TextEncoder().encode(lenient);
  let at = again.findIndex((byte, index) => byte !== bytes[index]);
  while (((again[at] ?? 0) & 0xc0) === 0x80) at--; // its first bytes may be the same
  return at;
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
