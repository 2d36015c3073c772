import { heldSteps } from "../conversation/position.ts";
import { keptState } from "../conversation/conversation_state.ts";
import { ConversationSlots, scopeOf } from "../conversation/slots.ts";
import type { LogEntry, SlotScope } from "../core/conversation.ts";
import type { ConversationRecord } from "../core/journal.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Usage } from "../core/model.ts";
import { conversationInput } from "./conversation_input.ts";

/** A conversation as `orrery show conversation --json` exports it. */
export interface ConversationJson {
  readonly id: string;
  readonly agent: string;
  readonly file: string;
  /** `running`: a turn is being made. `stopped`: one was interrupted. */
  readonly status: "running" | "stopped" | "held" | "completed" | "failed";
  /** The steps at which it waits, or the one that failed. */
  readonly at: readonly string[];
  readonly error?: string;
  readonly user: string;
  readonly module: string;
  readonly session: string;
  readonly model?: string;
  /** ms since 1970. */
  readonly startedAt: number;
  readonly updatedAt: number;
  /** Those that have ended. */
  readonly turns: number;
  readonly usage: Usage;
  readonly messages: readonly LogEntry[];
  /** By `destination.name`; those that outlive it as they are now. */
  readonly slots: Readonly<Record<string, Json>>;
}

/** What is kept of a conversation, put together. */
export function conversationJson(
  { summary, run, checkpoint, messages, isOpen }: ConversationRecord,
  slotsIn: (scope: SlotScope) => JsonObject,
): ConversationJson {
  const { id, file = "", owned, startedAt, updatedAt, usage } = summary;
  const { scope, model } = conversationInput(run.input);
  const state = checkpoint === undefined ? undefined : keptState(checkpoint.state);
  const { position, error } = state ?? {};
  const slots = new ConversationSlots({
    conversation: state?.slots ?? {},
    session: slotsIn(scopeOf("session", scope)),
    module: slotsIn(scopeOf("module", scope)),
    global: slotsIn(scopeOf("global", scope)),
  });
  return {
    id,
    agent: agentOf(run.input),
    file,
    status: owned ? "running" : isOpen ? "stopped" : state?.status ?? "held",
    at: position === undefined ? [] : position.at === "failed" ? [position.step] : heldSteps(position),
    error,
    ...scope,
    model,
    startedAt,
    updatedAt,
    turns: checkpoint?.n ?? 0,
    usage,
    messages,
    slots: slots.all,
  };
}

function agentOf(input: Json): string {
  return typeof input === "object" && input !== null && "agent" in input ? String(input.agent) : "";
}
