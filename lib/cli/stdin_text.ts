import type { Terminal } from "../host/terminal.ts";
import { callText } from "./call_source.ts";

/** All of stdin as text, also what is typed; undefined after Ctrl-C. @throws {FileError} when it is not UTF-8 text */
export async function stdinText(terminal: Terminal, signal: AbortSignal): Promise<string | undefined> {
  let text = "";
  for await (const piece of callText(terminal.stdinChunks({ signal }), "stdin")) text += piece;
  return signal.aborted ? undefined : text;
}
