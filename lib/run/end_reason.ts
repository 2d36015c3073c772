import { DivergedError } from "../core/journal.ts";
import { ModelError } from "../core/model.ts";
import { PromptError } from "../core/prompt_error.ts";
import { messageOf } from "../core/source_error.ts";
import { AgentError } from "./agent_error.ts";
import { BudgetError } from "./budget_error.ts";
import type { RunEnd } from "./run.ts";

/** The reason of a `run-end` whose model could not answer. */
export function modelReason({ code }: ModelError): string {
  return code === "config" || code === "permission" || code === "timeout" ? code : "provider";
}

/** How a run ends that threw; what is no failure of a model, an agent, a prompt or a budget has no reason. */
export function endOfError(error: unknown): RunEnd {
  const message = messageOf(error);
  if (error instanceof DivergedError) {
    return { status: "failed", error: message, reason: "diverged", keepAs: "stopped" };
  }
  if (error instanceof BudgetError) {
    return { status: "stopped", error: message, reason: error.reached.reason };
  }
  if (error instanceof ModelError) return { status: "failed", error: message, reason: modelReason(error) };
  if (error instanceof PromptError) return { status: "failed", error: message, reason: "config" };
  return error instanceof AgentError ? endOfAgent(error) : { status: "failed", error: message };
}

function endOfAgent(error: AgentError): RunEnd {
  const { message, code, cause, state } = error;
  switch (code) {
    case "exceptions": {
      const last = state.attempts.findLast(({ role }) => role === "assistant");
      return {
        status: "failed",
        error: message,
        reason: "contract",
        ...(last === undefined ? {} : { value: last.content }),
      };
    }
    case "provider":
    case "rate_limit":
    case "config": {
      const reason = cause instanceof ModelError
        ? modelReason(cause)
        : code === "config"
        ? "config"
        : "provider";
      const keepAs = code === "config" ? {} : { keepAs: "stopped" as const };
      return { status: "failed", error: message, reason, ...keepAs };
    }
    case "aborted":
      return { status: "stopped", reason: "interrupted" };
    case "interrupts":
    case "handler":
    case "parser":
      return { status: "failed", error: message };
    default:
      return code satisfies never;
  }
}
