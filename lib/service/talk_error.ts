import { ProblemsError } from "../core/problems_error.ts";
import { SourceError } from "../core/source_error.ts";
import { ConversationError } from "../run/conversation_error.ts";
import type { ConversationErrorCode } from "../run/conversation_error.ts";
import type { AgentLine } from "./agent_lines.ts";
import { ServiceError } from "./service.ts";
import type { ServiceErrorCode } from "./service.ts";

const CODES: { readonly [Code in ConversationErrorCode]: ServiceErrorCode } = {
  empty: "invalid",
  busy: "busy",
  ended: "ended",
  interrupted: "busy",
  nothing: "ended",
  changed: "changed",
  gone: "not-found",
};

/** What a conversation does not take, as the service says it; `details.reason` has its own word for it. */
export function talkError(error: unknown): unknown {
  if (!(error instanceof ConversationError)) return error;
  const { message, code: reason } = error;
  return new ServiceError(message, { code: CODES[reason], details: { reason } });
}

/** What is wrong with an agent file, or missing for it. */
export function agentError(problems: readonly AgentLine[]): ProblemsError {
  const errors = problems.filter(({ severity }) => severity === "error");
  return new ProblemsError(
    errors.map(({ file, line, column, path, message, hint }) =>
      new SourceError(`${path}: ${message}`, {
        span: { file, line, column },
        code: "E-agent",
        hint,
      })
    ),
  );
}
