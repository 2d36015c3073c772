import {
  type Clock,
  DivergedError,
  type Json,
  messageOf,
  ModelError,
  PromptError,
  type RunEvent,
  type RunKind,
} from "../core/core.ts";
import { AgentError } from "./agent/call_state.ts";
import { BudgetError } from "./budget.ts";
import { Run, type RunEnd, type RunOptions } from "./run.ts";

/** A run whose value is what a work gives; its events begin with the first read. */
export function workRun(
  kind: RunKind,
  options: RunOptions & { readonly file?: string },
  work: (run: Run) => Promise<Json>,
): AsyncIterable<RunEvent> {
  return endingRun(kind, options, async (run) => ({ status: "done", value: await work(run) }));
}

/** A run that ends as a work says, or with what it throws. */
export function endingRun(
  kind: RunKind,
  options: RunOptions & { readonly file?: string },
  work: (run: Run) => Promise<RunEnd>,
): AsyncIterable<RunEvent> {
  return {
    [Symbol.asyncIterator]() {
      const run = new Run(options);
      run.start(kind, options.file);
      work(run)
        .catch((error) => endOfThrown(error, run))
        .then((end) => run.end(end))
        .catch((error) => run.events.fail(error));
      return run.events;
    },
  };
}

/** How a run ends whose work threw: whoever interrupts it makes everything in it throw. */
export function endOfThrown(error: unknown, run: Run): RunEnd {
  const end = endOfError(error);
  const isInterrupted = run.signal.aborted && end.reason !== "diverged";
  return isInterrupted ? { status: "stopped", reason: "interrupted" } : end;
}

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

/** Does a work in a run that nobody keeps; its events go to whoever wants them. */
export async function inOwnRun<Result>(
  options: {
    readonly clock: Clock;
    readonly signal?: AbortSignal;
    readonly onEvent?: (event: RunEvent) => void;
  },
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  const { clock, signal, onEvent } = options;
  const run = new Run({ clock, signal });
  run.start("prompt", undefined);
  const told = tell(run.events, onEvent);
  told.catch(() => undefined); // thrown below, when the work has ended
  try {
    const result = await work(run);
    run.end({ status: "done" });
    return result;
  } catch (error) {
    run.end({ status: run.signal.aborted ? "stopped" : "failed", error: messageOf(error) });
    throw error;
  } finally {
    await told;
  }
}

async function tell(
  events: AsyncIterable<RunEvent>,
  onEvent: ((event: RunEvent) => void) | undefined,
): Promise<void> {
  for await (const event of events) onEvent?.(event);
}
