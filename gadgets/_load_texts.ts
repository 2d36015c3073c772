import { FileError, type Files, PermissionRefused } from "../lib/core/world.ts";
import { binaryKind, looksBinary } from "./_file_kind.ts";
import { compileGlob } from "./_glob.ts";
import { inOrder } from "./_in_order.ts";
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

interface Found {
  readonly file: string;
  readonly problem?: string;
}

interface Candidate extends Found {
  readonly size: number;
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_BYTES_AT_ONCE = 64 * 1024 * 1024;
const FILES_AT_ONCE = 16;

/** The texts of all files below a folder, in the order of the walk; several are read ahead, their bytes bounded. */
export function loadTexts(files: Files, options: LoadOptions): AsyncGenerator<LoadedText> {
  const candidates = inOrder(filesBelow(files, options), {
    atOnce: FILES_AT_ONCE,
    work: (found) => look(files, found),
  });
  return inOrder(candidates, {
    atOnce: FILES_AT_ONCE,
    weigh: ({ problem, size }) => problem === undefined ? size : 0,
    maxWeight: MAX_BYTES_AT_ONCE,
    work: (candidate) => read(files, candidate, options),
  });
}

async function* filesBelow(files: Files, { path, glob, signal }: LoadOptions): AsyncGenerator<Found> {
  const matches = glob === undefined ? () => true : compileGlob(glob);
  const { kind } = await files.stat(path);
  if (kind !== "folder") {
    yield { file: path };
    return;
  }
  for await (const entry of walk(files, { folder: path, depth: Infinity, signal })) {
    if (entry.problem !== undefined) yield { file: entry.fullPath, problem: entry.problem };
    else if (entry.kind === "file" && !entry.link && matches(entry.path)) yield { file: entry.fullPath };
  }
}

async function look(files: Files, found: Found): Promise<Candidate> {
  if (found.problem !== undefined) return { ...found, size: 0 };
  return await orProblem(found.file, async () => {
    const { size } = await files.stat(found.file);
    if (size <= MAX_FILE_BYTES) return { file: found.file, size };
    return {
      file: found.file,
      size,
      problem: `it has ${formatBytes(size)}, at most ${formatBytes(MAX_FILE_BYTES)} are searched`,
    };
  });
}

async function read(files: Files, { file, problem }: Candidate, options: LoadOptions): Promise<LoadedText> {
  if (problem !== undefined) return { file, problem };
  return await orProblem(file, async () => {
    const bytes = await files.readBytes(file, { signal: options.signal });
    if (!looksBinary(bytes)) return { file, text: linesOf(bytes) };
    // Among many files it goes without saying.
    return file === options.path ? { file, problem: `it is not text but ${binaryKind(bytes)}` } : { file };
  });
}

/** Bytes that are no UTF-8 become U+FFFD: a text in another encoding can still be searched for what is ASCII in it. */
function linesOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

async function orProblem<T extends Found>(file: string, work: () => Promise<T>): Promise<T | Candidate> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileError || error instanceof PermissionRefused) {
      return { file, size: 0, problem: error.message };
    }
    throw error;
  }
}
