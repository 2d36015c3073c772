import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { decodeUtf8, FileError, nearestName, oneArray, withoutByteOrderMark } from "../../core/core.ts";
import { type FileChunks, hostFiles, openFileChunks } from "../../host/files/files.ts";
import { realPath } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { shellWord } from "../../policy/refusal.ts";
import { InterruptedError, UsageError } from "../../service/exit_code.ts";

/** Where calls come from: a file, or stdin. */
export interface CallSource {
  /** As messages and events name it. */
  readonly name: string;
  readonly isStdin: boolean;
  /** It cannot be read a second time: stdin, or a pipe with a name. */
  readonly isReadOnce: boolean;
  /** Absolute and real; absent for stdin. */
  readonly path?: string;
  readonly text: AsyncIterable<string>;
}

/**
 * Opens what `run` and `graph` read.
 *
 * @throws {UsageError} for another kind of file, {FileError} for one that cannot be read
 */
export async function openCallSource(
  word: string,
  { terminal, cwd, command, signal }: {
    readonly terminal: Terminal;
    readonly cwd: string;
    readonly command: "run" | "graph";
    readonly signal?: AbortSignal;
  },
): Promise<CallSource> {
  if (word === "-") {
    return {
      name: "stdin",
      isStdin: true,
      isReadOnce: true,
      text: callText(terminal.stdinChunks({ signal }), "stdin"),
    };
  }
  const path = isAbsolute(word) ? word : join(cwd, word);
  const bytes = await openNamed(word, path, { signal });
  if (!word.toLowerCase().endsWith(".calls")) {
    bytes.close();
    throw otherKind(word, command);
  }
  const text = callText(bytes, JSON.stringify(word));
  return { name: word, isStdin: false, isReadOnce: !bytes.isRegular, path: realPath(path), text };
}

async function openNamed(
  word: string,
  path: string,
  options: { signal?: AbortSignal },
): Promise<FileChunks> {
  try {
    return await openFileChunks(path, options);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const message = error.message.replace(JSON.stringify(path), () => JSON.stringify(word));
    const hint = error.code === "not-found"
      ? await nearestFile(path, word)
      : error.code === "is-folder"
      ? folderHint()
      : "";
    throw new FileError(message + hint, { path: word, code: error.code, cause: error });
  }
}

function folderHint(): string {
  return "; name one of its files, such as release.calls";
}

/** What is asked of a file that is named on the command line. @throws {FileError} that names what may have been meant, where it is not there */
export async function orNearest<Value>(word: string, cwd: string, asked: Promise<Value>): Promise<Value> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "not-found") throw error;
    const hint = await nearestFile(resolve(cwd, word), word);
    throw new FileError(`file not found: ${JSON.stringify(word)}${hint}`, {
      path: word,
      code: "not-found",
      cause: error,
    });
  }
}

/** The file of the same folder whose name is nearest, and what is there at all when none is near. */
async function nearestFile(path: string, word: string): Promise<string> {
  const files = hostFiles({ root: dirname(path) });
  try {
    const names = (await files.list(dirname(path))).filter(({ kind }) => kind === "file").map(({ name }) =>
      name
    );
    const withEnding = names.find((name) => name === `${basename(path)}.calls`);
    const near = withEnding ?? nearestName(basename(path), names);
    return near === undefined ? "" : `. Did you mean ${JSON.stringify(join(dirname(word), near))}?`;
  } catch {
    return `: its folder ${JSON.stringify(dirname(word))} is not there`;
  }
}

/** What can be no call file. */
export function otherKind(word: string, command: string): UsageError {
  return new UsageError(
    `Cannot ${command} ${
      JSON.stringify(word)
    }: expected a call file, whose name ends with ".calls", or - for stdin. ` +
      `To read it as calls all the same: orrery ${command} - < ${shellWord(word)}`,
    command,
  );
}

/** A NUL this far into a text means that it is none: a program, a picture, UTF-16. */
const BINARY_PROBE_BYTES = 8 * 1024;

/**
 * Bytes as text, chunk for chunk, strictly as UTF-8; a byte order mark at the start is dropped. All text before the first
 * wrong byte is given before the error.
 *
 * @param name how the error names the source: `"release.calls"` in quotes, or stdin
 * @throws {FileError} `not-text`
 */
export async function* callText(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let offset = 0;
  let tail = new Uint8Array();
  for await (const chunk of bytes) {
    const all = tail.length === 0 ? chunk : oneArray([tail, chunk], tail.length + chunk.length);
    refuseBinary(all, { offset, name });
    const decoded = decodeUtf8(all);
    const end = "wrongAt" in decoded ? decoded.wrongAt : all.length;
    yield textFrom(decoder.decode(all.subarray(0, end)), offset);
    offset += end;
    tail = all.slice(end);
    if (!mayGoOn(tail)) break;
  }
  if (tail.length > 0) throw notUtf8(name, { offset, byte: tail[0] ?? 0 });
}

/** Whether bytes may be the beginning of a sequence that goes on in the next chunk. */
function mayGoOn(bytes: Uint8Array): boolean {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true }) === "";
  } catch {
    return false;
  }
}

function textFrom(text: string, offset: number): string {
  return offset === 0 ? withoutByteOrderMark(text) : text;
}

function refuseBinary(
  bytes: Uint8Array,
  { offset, name }: { readonly offset: number; readonly name: string },
): void {
  if (offset >= BINARY_PROBE_BYTES) return;
  const at = bytes.subarray(0, BINARY_PROBE_BYTES - offset).indexOf(0);
  if (at === -1) return;
  throw new FileError(
    `Cannot read ${name}: it is not text but binary data: found a NUL byte at offset ${offset + at}; ` +
      "expected UTF-8 text",
    { path: name, code: "not-text" },
  );
}

function notUtf8(
  name: string,
  { offset, byte }: { readonly offset: number; readonly byte: number },
): FileError {
  const hex = byte.toString(16).toUpperCase().padStart(2, "0");
  return new FileError(
    `Cannot read ${name} any further: it is not UTF-8 text: the first wrong byte is 0x${hex} at offset ${offset}; ` +
      "save it as UTF-8",
    { path: name, code: "not-text" },
  );
}

/** All of stdin as text, also what is typed. @throws {InterruptedError} after Ctrl-C, {FileError} when it is not UTF-8 text */
export async function stdinText(terminal: Terminal, signal: AbortSignal): Promise<string> {
  let text = "";
  for await (const piece of callText(terminal.stdinChunks({ signal }), "stdin")) text += piece;
  if (signal.aborted) throw new InterruptedError();
  return text;
}
