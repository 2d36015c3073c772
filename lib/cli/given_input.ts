// What the command line gives a document, the same for `run` and `check`.

import { maybeBlock } from "../check/check_options.ts";
import { UsageError } from "../service/exit_code.ts";

/** What `--block FILE#REF` names; the file as it was typed. @throws {UsageError} */
export function blockOf(
  block: string,
  command: "run" | "check",
): { readonly file: string; readonly reference: string } {
  const named = maybeBlock(block);
  if (named !== undefined) return named;
  throw new UsageError([`--block ${block}: expected FILE#REF, such as notes.md#summary`], { command });
}
