// Both sides of a conversation, whoever answers in it.

import type { StepOutcome } from "../core/journal.ts";
import type { Json } from "../core/json.ts";
import type { DialogSource } from "./dialog.ts";
import type { ReplayedStep } from "./replay.ts";
import type { Run, RunEnd } from "./run.ts";
import { endOfThrown } from "./work_run.ts";

/** What came of a message. */
export type Answered =
  | { readonly value: Json }
  /** There is no answer: that is told, and the conversation goes on. */
  | { readonly problem: string }
  /** The conversation is over. */
  | { readonly end: RunEnd };

/** A message that is to be answered. */
export interface Said {
  /** From 1. */
  readonly n: number;
  readonly text: string;
}

/**
 * Hears one message after the other and has each answered, until there is none; the value is the last answer. A message that was said
 * before the run was resumed is not asked for again. What is thrown ends the conversation.
 */
export async function talk(
  run: Run,
  { source, answer }: { readonly source: DialogSource; answer(said: Said): Promise<Answered> },
): Promise<RunEnd> {
  let last: { readonly value?: Json } = {};
  try {
    for (let n = 1;; n++) {
      const text = await hear(run, { source, n });
      if (text === undefined) return { status: "done", ...last, keepAs: "held" }; // it can be gone on with
      const answered = await answer({ n, text });
      if ("end" in answered) return answered.end;
      if ("value" in answered) last = { value: answered.value };
      else run.emit({ type: "warning", text: answered.problem });
      await source.answered?.(n);
    }
  } catch (error) {
    const end = endOfThrown(error, run);
    return end.reason === "interrupted" ? { ...end, ...last } : end;
  }
}

async function hear(
  run: Run,
  { source, n }: { readonly source: DialogSource; readonly n: number },
): Promise<string | undefined> {
  const key = `say[${n}]`;
  const begun = run.begin({ key, kind: "ask", name: "user", input: null, idempotent: true });
  if (begun.do === "answer") return textOf(begun.outcome);
  if (begun.do === "replay") return await replayed(begun.step);
  const said = await source.next(n);
  if (said === undefined) {
    run.part(key, null); // only a record needs to know: a resumed talk asks again
    return undefined;
  }
  const text = run.mask(said);
  run.finish(key, { ok: text });
  return text;
}

function textOf(outcome: StepOutcome): string | undefined {
  return "ok" in outcome && typeof outcome.ok === "string" ? outcome.ok : undefined;
}

/** A part instead of an outcome: nothing more was said. */
async function replayed({ parts, outcome }: ReplayedStep): Promise<string | undefined> {
  for await (const _end of parts) return undefined;
  return textOf(await outcome);
}
