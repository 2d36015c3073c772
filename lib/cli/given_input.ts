// What the command line gives a document, the same for `run` and `check`.

import { UsageError } from "../service/exit_code.ts";

/** What `--block FILE#REF` names; the file as it was typed. @throws {UsageError} */
export function blockOf(
  block: string,
  command: "run" | "check",
): { readonly file: string; readonly reference: string } {
  const at = block.lastIndexOf("#");
  if (at < 1 || at === block.length - 1) {
    throw new UsageError([`--block ${block}: expected FILE#REF, such as notes.md#summary`], { command });
  }
  return { file: block.slice(0, at), reference: block.slice(at + 1) };
}
