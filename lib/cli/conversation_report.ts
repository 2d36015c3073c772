import type { JsonObject } from "../core/json.ts";
import { toJson } from "../core/json.ts";
import type { ConversationError } from "../run/conversation_error.ts";
import type { LiveConversation } from "../run/live_conversation.ts";
import { conversationErrorCode } from "./conversation_error_code.ts";
import type { ConversationTurns } from "./conversation_turns.ts";
import type { EndedRun } from "./end_run.ts";
import { EXIT } from "../service/exit_code.ts";

/** What came of the turns of a command. */
export interface ConversationReportOptions {
  readonly turns: Pick<ConversationTurns, "last" | "said">;
  /** What was not taken. */
  readonly problem: ConversationError | undefined;
  /** For `--json`: its messages and slots too. */
  readonly withLog: boolean;
}

/** What is left of a conversation when its command is over; it is read at once, since its store is closed by then. */
export function conversationReport(
  live: LiveConversation,
  { turns: { last, said }, problem, withLog }: ConversationReportOptions,
): EndedRun {
  const status = last?.end.status ?? (live.status === "completed" ? "completed" : "held");
  const value = said.length === 0 ? undefined : said.join("\n\n");
  const code = last?.summary.exitCode ?? EXIT.ok;
  const error = problem?.message ?? last?.end.error;
  const log: JsonObject = withLog ? { messages: toJson(live.log), slots: toJson(live.slots()) } : {};
  return {
    status,
    value,
    isEmpty: false,
    flags: last?.summary.flags ?? [],
    exitCode: problem === undefined ? code : Math.max(code, conversationErrorCode(problem)),
    toJson: () => ({
      run: live.id,
      kind: "conversation",
      status,
      value: value ?? null,
      ...(error === undefined ? {} : { error }),
      ...(last?.end.reason === undefined ? {} : { reason: last.end.reason }),
      ...log,
      usage: last?.end.usage ?? { input: 0, output: 0 },
      ms: last?.end.at ?? 0,
    }),
  };
}
