import type { ConversationRecord, Journal, MessageRange } from "../core/journal.ts";
import { conversationJson } from "./conversation_json.ts";
import type { OpenAsk, TalkState } from "./service.ts";

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
    messages: withSaid(messages.map(({ n, who, text }) => ({ n, role: who, text })), record, range),
    slots,
    step,
    error: why,
    ...(isStopped && { interrupted: true as const }),
    usage,
    asks,
  };
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
