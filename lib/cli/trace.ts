import type { RunTrace } from "../core/journal.ts";
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
  await terminal.stdout.write(flags.json ? `${JSON.stringify(found, null, 2)}\n` : await traceText(found));
  return EXIT.ok;
}

async function traceText(found: RunTrace): Promise<string> {
  if (found.summary.kind !== "conversation") return traceTree(found);
  const { conversationTrace }: typeof import("../render/conversation_trace.ts") = await import(
    "../render/conversation_trace.ts" as string
  );
  return conversationTrace(found);
}
