import { FileError } from "../core/world.ts";
import type { Terminal } from "../host/terminal.ts";
import { callText } from "./call_source.ts";

/** More would not fit into any model's window. */
const MAX_BYTES = 10 * 1024 * 1024;
const MAX_WORDS = "10 MB";
/** A pipe that nobody writes to or closes looks like a program that hangs. */
const NOTICE_MS = 3_000;

/**
 * All of stdin as text; undefined when it is a terminal.
 *
 * @throws {FileError} when it is not UTF-8 text, or longer than 10 MB
 */
export async function pipedText(
  terminal: Terminal,
  { signal, onWait }: { readonly signal: AbortSignal; readonly onWait: (text: string) => void },
): Promise<string | undefined> {
  if (terminal.stdinIsTerminal) return undefined;
  const timer = setTimeout(
    () =>
      onWait(
        "waiting for stdin to end, because it is a pipe; for a question without context, add </dev/null",
      ),
    NOTICE_MS,
  );
  try {
    let text = "";
    for await (const piece of callText(bounded(terminal.stdinChunks({ signal })), "stdin")) text += piece;
    return text;
  } finally {
    clearTimeout(timer);
  }
}

async function* bounded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) {
      throw new FileError(
        `Cannot read stdin: it is longer than ${MAX_WORDS}, which is too much for a question; send the part that matters`,
        { path: "stdin", code: "other" },
      );
    }
    yield chunk;
  }
}
