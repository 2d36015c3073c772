import { fileProblem } from "./file_problem.ts";
import { decodeUtf8 } from "./utf8.ts";

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
