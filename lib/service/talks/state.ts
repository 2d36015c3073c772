import { heldSteps, keptState } from "../../conversation/position.ts";
import { ConversationSlots, scopeOf } from "../../conversation/slots.ts";
import {
  type ConversationRecord,
  type Journal,
  type Json,
  type JsonObject,
  type LogEntry,
  type MediaNote,
  type MessageRange,
  noteOf,
  type RunTrace,
  type SlotScope,
  turnKey,
  type Usage,
} from "../../core/core.ts";
import { readTurnStart } from "../../run/conversation/turn.ts";
import type { OpenAsk, TalkState } from "../service.ts";
import { conversationInput } from "./agent.ts";

/** Whose a conversation is where nobody is named. */
export const NOBODY_NAMED = "local";

const INTERRUPTED = "The last turn was interrupted: retry finishes it";

/** A conversation as it is kept, for whoever asks for it. */
export function talkState(
  record: ConversationRecord,
  { journal, asks, range = {} }: {
    readonly journal: Journal;
    readonly asks: readonly OpenAsk[];
    /** Which messages are wanted: those of the record were read for it. */
    readonly range?: MessageRange;
  },
): TalkState {
  const { id, file, status, turns, messages, slots, at, error, user, usage } = conversationJson(
    record,
    (scope) => ({ ...journal.slots(scope) }),
  );
  const isStopped = status === "stopped";
  const [step] = at;
  const why = error ?? (isStopped ? INTERRUPTED : undefined);
  return {
    id,
    agent: file,
    ...(user === NOBODY_NAMED ? {} : { user }),
    status: isStopped ? "failed" : status,
    turns,
    messages: withSaid(
      messages.map(({ n, who, text, media }) => ({ n, role: who, text, media: notesOf(media) })),
      record,
      range,
    ),
    slots,
    step,
    error: why,
    ...(isStopped && { interrupted: true as const }),
    usage,
    asks,
  };
}

/** What the person said that began a turn; nothing where the agent began it. */
export function saidIn({ steps }: Pick<RunTrace, "steps">, turn: number): readonly string[] {
  const outcome = steps.find(({ key }) => key === turnKey(turn))?.outcome;
  const { text } = outcome !== undefined && "ok" in outcome ? readTurnStart(outcome.ok) : {};
  return text === undefined ? [] : [text];
}

function notesOf(media: LogEntry["media"]): readonly MediaNote[] | undefined {
  return media?.map((each) => "data" in each ? noteOf(each) : each);
}

/** What the person said is in no log before the end of the turn. */
function withSaid(
  messages: TalkState["messages"],
  { said, checkpoint }: ConversationRecord,
  { last }: MessageRange,
): TalkState["messages"] {
  if (said === undefined) return messages;
  const n = (checkpoint?.messages ?? 0) + 1;
  const all: TalkState["messages"] = [...messages, { n, role: "user", text: said, answered: false }];
  return last === undefined ? all : all.slice(all.length - Math.min(last, all.length));
}

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
  const state = checkpoint && keptState(checkpoint.state);
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
