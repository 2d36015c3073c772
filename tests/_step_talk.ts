// One step of a conversation, as the conversation shows it: what it says, writes, warns of and goes on to is a list of lines.

import assert from "node:assert/strict";
import type { ConversationOptions, Json, RunEvent } from "../mod.ts";
import { chain, endOf, go, say, type StepJson, type Talk, talk } from "./_conversation_turns.ts";

/** What the step finds. */
export interface StepTalkOptions extends ConversationOptions {
  readonly constants?: Readonly<Record<string, Json>>;
  /** `user text` or `assistant text`, oldest first: said before the step. */
  readonly log?: readonly string[];
}

/** What has come of a step. */
export interface MadeStep {
  /** `delta TEXT`, `say TEXT`, `warn TEXT`, `set DESTINATION.NAME JSON`, `goto STEP`, in order. */
  readonly told: readonly string[];
  readonly error: string | undefined;
  readonly slots: Readonly<Record<string, Json>>;
  readonly events: readonly RunEvent[];
  readonly one: Talk;
}

/** Where a step may go: `success` goes to `yes`, `fail` to `no`. */
export const FLOWS = { success: { goto: "yes" }, fail: { goto: "no" } } as const;

/** Takes the step, behind what was said before; its conversation ends behind it. */
export async function madeStep(step: StepJson, options: StepTalkOptions = {}): Promise<MadeStep> {
  const { log = [], ...rest } = options;
  const before = log.map((line, index): StepJson => {
    const [, who, text = ""] = /^(\w+) ([^]*)$/.exec(line) ?? [];
    return who === "user"
      ? { id: `log${index}`, message: { message: "", hold: true } }
      : say(`log${index}`, text);
  });
  const one = await talk(
    chain([...before, step, go("over", "end"), say("yes", ""), go("over yes", "end"), say("no", "")]),
    rest,
  );
  let events = await one.start();
  for (const line of log.filter((line) => line.startsWith("user "))) events = await one.say(line.slice(5));
  return {
    told: events.flatMap((event) => linesOf(event, step.id)),
    error: endOf(events).error,
    slots: one.conversation.slots(),
    events,
    one,
  };
}

function linesOf(event: RunEvent, id: string): readonly string[] {
  switch (event.type) {
    case "text-delta":
      return event.step === id ? [`delta ${event.text}`] : [];
    case "message":
      return event.step === id ? [`say ${event.text}`] : [];
    case "slot-set":
      return event.step === id
        ? [`set ${event.destination}.${event.name} ${JSON.stringify(event.value)}`]
        : [];
    case "jump":
      return event.from === id ? [`goto ${event.to}`] : [];
    case "warning": {
      const prefix = `step "${id}": `;
      assert.ok(event.text.startsWith(prefix), event.text);
      return [`warn ${event.text.slice(prefix.length)}`];
    }
    default:
      return [];
  }
}
