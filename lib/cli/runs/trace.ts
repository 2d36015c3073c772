import type { RunTrace } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { conversationTrace } from "../../render/trace/turn.ts";
import { traceTree } from "../../render/trace/tree.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { openApp } from "../../service/app.ts";
import { writeText } from "../here.ts";
import { tell } from "../page.ts";

/** `orrery trace ID`. @throws {UsageError} */
export async function trace(
  { words, flags }: ParsedCommand<typeof COMMANDS.trace>,
  terminal: Terminal,
): Promise<number> {
  checkTraceForm(flags);
  using app = await openApp();
  return await tellTrace((await app.neededJournal()).read(words[0] ?? ""), flags, terminal);
}

type TraceFlags = Pick<ParsedCommand<typeof COMMANDS.trace>["flags"], "json" | "html">;

/** Finds out whether a trace is wanted in two forms. @throws {UsageError} */
export function checkTraceForm({ json, html }: TraceFlags): void {
  if (!json || html === undefined) return;
  throw new UsageError(
    "found --json and --html, expected one of them: JSON for a program, or a page",
    "trace",
  );
}

/** Tells a trace in the form that is wanted; gives the exit code. */
export async function tellTrace(found: RunTrace, flags: TraceFlags, terminal: Terminal): Promise<number> {
  if (flags.html === undefined) return await tell({ json: found, text: traceText(found) }, flags, terminal);
  await writeText(await tracePage(found), { output: flags.html, terminal });
  return EXIT.ok;
}

/** Pages are loaded when one is wanted. */
async function tracePage(found: RunTrace): Promise<string> {
  const { traceFile }: typeof import("../../server/pages/trace.tsx") = await import(
    "../../server/pages/trace.tsx" as string
  );
  return await traceFile(found);
}

function traceText(found: RunTrace): string {
  if (found.summary.kind !== "conversation") return traceTree(found);
  return conversationTrace(found);
}
