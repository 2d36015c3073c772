import { FileError, type Files, PermissionRefused } from "../lib/core/world.ts";
import { binaryKind, looksBinary } from "./_file_kind.ts";
import { compileGlob } from "./_glob.ts";
import { walk } from "./_walk.ts";
import { formatBytes } from "./_words.ts";

/** Which files to load. */
export interface LoadOptions {
  /** A folder, or one file. */
  readonly path: string;
  readonly glob?: string;
  readonly signal: AbortSignal;
}

/** A file, or why there is no text of it. */
export interface LoadedText {
  /** As `Files` takes it. */
  readonly file: string;
  /** Its line breaks are LF. Undefined: it could not be read, or it is not text. */
  readonly text?: string;
  readonly problem?: string;
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The texts of all files below a folder, in the order of the walk. */
export async function* loadTexts(
  files: Files,
  { path, glob, signal }: LoadOptions,
): AsyncGenerator<LoadedText> {
  const matches = glob === undefined ? () => true : compileGlob(glob);
  const { kind } = await files.stat(path);
  if (kind !== "folder") return yield await load(files, path, { signal, isAsked: true });
  for await (const entry of walk(files, { folder: path, depth: Infinity, signal })) {
    if (entry.problem !== undefined) yield { file: entry.fullPath, problem: entry.problem };
    else if (entry.kind === "file" && !entry.link && matches(entry.path)) {
      yield await load(files, entry.fullPath, { signal, isAsked: false });
    }
  }
}

async function load(
  files: Files,
  file: string,
  { signal, isAsked }: { readonly signal: AbortSignal; readonly isAsked: boolean },
): Promise<LoadedText> {
  try {
    const { size } = await files.stat(file);
    if (size > MAX_FILE_BYTES) {
      const problem = `it has ${formatBytes(size)}, at most ${formatBytes(MAX_FILE_BYTES)} are searched`;
      return { file, problem };
    }
    const bytes = await files.readBytes(file, { signal });
    if (!looksBinary(bytes)) return { file, text: linesOf(bytes) };
    // Among many files it goes without saying.
    return isAsked ? { file, problem: `it is not text but ${binaryKind(bytes)}` } : { file };
  } catch (error) {
    if (!(error instanceof FileError || error instanceof PermissionRefused)) throw error;
    return { file, problem: error.message };
  }
}

/** Bytes that are no UTF-8 become U+FFFD: a text in another encoding can still be searched for what is ASCII in it. */
function linesOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}
