import type { Terminal } from "../host/terminal.ts";
import { traceTree } from "../render/trace_tree.ts";
import { EXIT } from "./exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { neededJournal } from "./journal_here.ts";

/** `orrery trace ID`. */
export async function trace(
  { words, flags }: ParsedCommand<typeof COMMANDS.trace>,
  terminal: Terminal,
): Promise<number> {
  using here = await neededJournal();
  const found = here.journal.read(words[0] ?? "");
  await terminal.stdout.write(flags.json ? `${JSON.stringify(found, null, 2)}\n` : traceTree(found));
  return EXIT.ok;
}
