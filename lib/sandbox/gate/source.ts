import { decodeUtf8, FileError, type Files, SourceError, spanAt } from "../../core/core.ts";

/** How many bytes of modules a gadget may have. */
export const MAX_GRAPH_BYTES = 5 * 1024 * 1024;

/** A module as it was read, once: what is hashed is what runs. */
export type ReadSource =
  | { readonly text: string; readonly bytes: number; readonly sha256: string }
  /** Why it cannot be used: goes behind `Cannot load "x.ts":`. */
  | { readonly problem: string };

/**
 * Reads a file of at most `left` bytes. A path that leads elsewhere than it did when it was judged, because somebody swapped a folder
 * for a link meanwhile, is a problem.
 *
 * @param path real and absolute
 */
export async function readSource(
  path: string,
  { disk, left }: { readonly disk: Files; readonly left: number },
): Promise<ReadSource> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    const { kind, size } = await disk.stat(path);
    if (kind !== "file") {
      return { problem: kind === "folder" ? "it is a folder, not a file" : "it is no regular file" };
    }
    if (size > left) return { problem: TOO_MUCH };
    bytes = Uint8Array.from(await disk.readBytes(path));
    if (await disk.resolve(path) !== path) return { problem: "it was replaced by a link while it was read" };
  } catch (thrown) {
    if (thrown instanceof FileError) return { problem: fileWords(thrown) };
    throw thrown;
  }
  if (bytes.length > left) return { problem: TOO_MUCH };
  const decoded = decodeUtf8(bytes);
  if ("wrongAt" in decoded) {
    return { problem: `it is not UTF-8 text: the first wrong byte is at offset ${decoded.wrongAt}` };
  }
  return { text: decoded.text, bytes: bytes.length, sha256: await sha256Of(bytes) };
}

const TOO_MUCH = `the modules of a gadget have at most ${MAX_GRAPH_BYTES} bytes together`;

async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fileWords({ code, message }: FileError): string {
  if (code === "not-found" || code === "not-folder") return "there is no such file";
  const at = message.lastIndexOf('": ');
  return at === -1 ? message : message.slice(at + 3);
}

/** The text of a module as it was written: errors point into it. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
}

/** What is wrong at an offset of the text (UTF-16 units, from 0), and what to do about it. */
export function gateError(
  source: SourceText,
  options: {
    readonly at: number;
    readonly message: string;
    readonly hint?: string;
    readonly length?: number;
  },
): SourceError {
  const { at, message, hint, length } = options;
  return new SourceError(message, {
    span: spanAt(source.text, at, { file: source.file, length }),
    source: source.text,
    code: GATE_CODE,
    hint,
  });
}

/** The code of every error of the gate. */
export const GATE_CODE = "E-gadget-module";
