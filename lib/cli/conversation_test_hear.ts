import type { RunEvent } from "../core/event.ts";
import { messageOf } from "../core/source_error.ts";
import type { Conversation, ConversationStatus } from "../run/live_conversation.ts";
import type { TestTurn } from "./conversation_test_turn.ts";

/** What came of a turn. */
export interface HeardTurn {
  readonly messages: readonly SaidMessage[];
  /** Steps at which the conversation waits. */
  readonly held: readonly string[];
  readonly status: ConversationStatus;
  /** Why it failed, or was not taken. */
  readonly error?: string;
}

/** A message of an agent. */
export interface SaidMessage {
  readonly step: string;
  readonly text: string;
}

/** Makes a turn. What goes wrong with it is a part of what came of it. */
export async function hearTurn(
  live: Conversation,
  turn: TestTurn,
  { isFirst }: { readonly isFirst: boolean },
): Promise<HeardTurn> {
  const before = live.log.length;
  const held: string[] = [];
  let error: string | undefined;
  try {
    for await (const event of eventsOf(live, turn, isFirst)) {
      if (event.type === "hold") held.push(event.step);
      if (event.type === "run-end") error = event.error;
    }
  } catch (thrown) {
    error = messageOf(thrown);
  }
  const said = live.log.slice(before).filter(({ who }) => who === "assistant");
  const messages = said.map(({ text, steps: [step = ""] }) => ({ step, text }));
  return { messages, held, status: live.status, error };
}

function eventsOf(live: Conversation, { say, isRetry }: TestTurn, isFirst: boolean): AsyncIterable<RunEvent> {
  if (isRetry) return live.retry();
  return isFirst || say === undefined ? live.start(say) : live.say(say);
}
