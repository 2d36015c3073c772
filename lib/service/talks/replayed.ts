// A conversation that a record answers: each of its turns is a run again, and nothing outside of the record is touched.
import { EMPTY_CATALOG, objectOrEmpty, type RecordLine, ReplayError } from "../../core/core.ts";
import type { ReadRecord } from "../../journal/record_file.ts";
import { memoryJournal } from "../../journal/memory_journal.ts";
import type { AgentFile } from "../../parse/agent/agent.ts";
import { readyTools } from "../../project/document/place.ts";
import { newConversation } from "../../run/conversation/conversation.ts";
import { conversationSubRuns } from "../../run/conversation/work.ts";
import { Replay } from "../../run/replay/replay.ts";
import { containersOf } from "../start/containers.ts";
import { promptsAt, type StartPlace } from "../start/ready_run.ts";
import { conversationInput } from "./agent.ts";
import type { ConversationSession } from "./session.ts";

/** One that is answered. */
export interface ReplayedTalk {
  readonly session: Pick<
    ConversationSession,
    "live" | "isInterrupted" | "turn" | "settle" | "back" | "close"
  >;
  /** One message for each turn behind the first; it is answered as what was said in that. */
  readonly said: readonly string[];
}

/** Opens the conversation of a record. @param at as `recordedPlace` gives it */
export function replayedTalk(
  { run, lines }: ReadRecord,
  { agent, at, signal }: { readonly agent: AgentFile; readonly at: StartPlace; readonly signal: AbortSignal },
): ReplayedTalk {
  const turns = turnsOf(lines);
  const { scope, budget, limits, model: modelName } = conversationInput(run.input);
  const { timeoutMs, resultBytes } = limits;
  const { maxSteps } = objectOrEmpty(run.input);
  let n = 0;
  const live = newConversation(run.id, {
    agent,
    scope,
    journal: memoryJournal(),
    context: {},
    maxSteps: typeof maxSteps === "number" ? maxSteps : undefined,
    replay: () => new Replay(run, turns[n++] ?? []),
    signal,
    means: {
      models: { find: () => undefined },
      http: { fetch: nothing, open: nothing },
      tools: readyTools(() => Promise.resolve(EMPTY_CATALOG)),
      budget,
      calls: { timeoutMs, resultBytes },
      env: (name) => `\${env.${name}}`, // as the record has it
      ...conversationSubRuns,
    },
    containers: containersOf({
      place: promptsAt(at, false),
      catalog: EMPTY_CATALOG,
      budget,
      limits,
      modelName,
    }),
  });
  return {
    session: {
      live,
      get isInterrupted() {
        return live.status === "running";
      },
      async *turn(make) {
        yield* make(live);
      },
      settle: nothing,
      back: nothing,
      close: () => undefined,
    },
    said: turns.slice(1).map(() => "what was said"),
  };
}

function nothing(): never {
  throw new ReplayError("A replay does nothing but what was recorded");
}

/** Each begins with its `run-start`. */
function turnsOf(lines: readonly RecordLine[]): readonly RecordLine[][] {
  const turns: RecordLine[][] = [];
  for (const line of lines) {
    if (line.type === "event" && line.event.type === "run-start") turns.push([]);
    turns.at(-1)?.push(line);
  }
  return turns;
}
