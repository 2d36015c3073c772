import { basename, dirname, isAbsolute, join } from "../core/path.ts";
import { nearestName } from "../core/nearest.ts";
import { FileError } from "../core/world.ts";
import { openFileChunks } from "../host/read_chunks.ts";
import type { FileChunks } from "../host/read_chunks.ts";
import type { Terminal } from "../host/terminal.ts";
import { shellWord } from "../policy/refusal.ts";
import { callText } from "./call_text.ts";
import { UsageError } from "./exit_code.ts";

/** Where calls come from: a file, or stdin. */
export interface CallSource {
  /** As messages and events name it. */
  readonly name: string;
  readonly isStdin: boolean;
  /** It cannot be read a second time: stdin, or a pipe with a name. */
  readonly isReadOnce: boolean;
  /** Absolute; absent for stdin. */
  readonly folder?: string;
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
  const abort = signal === undefined ? {} : { signal };
  if (word === "-") {
    return {
      name: "stdin",
      isStdin: true,
      isReadOnce: true,
      text: callText(terminal.stdinChunks(abort), "stdin"),
    };
  }
  const path = isAbsolute(word) ? word : join(cwd, word);
  const bytes = await openNamed(word, path, abort);
  if (!word.toLowerCase().endsWith(".calls")) throw otherKind(word, command);
  const text = callText(bytes, JSON.stringify(word));
  return { name: word, isStdin: false, isReadOnce: !bytes.isRegular, folder: dirname(path), text };
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

/** The file of the same folder whose name is nearest, and what is there at all when none is near. */
async function nearestFile(path: string, word: string): Promise<string> {
  const { hostFiles }: typeof import("../host/files.ts") = await import("../host/files.ts" as string);
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

function otherKind(word: string, command: string): UsageError {
  return new UsageError([
    `Cannot ${command} ${
      JSON.stringify(word)
    }: expected a call file, whose name ends with ".calls", or - for stdin. ` +
    `To read it as calls all the same: orrery ${command} - < ${shellWord(word)}`,
  ], { command });
}
