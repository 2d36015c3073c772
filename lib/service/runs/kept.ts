import {
  RunEndedError,
  type RunEvent,
  RunNotFoundError,
  RunOwnedError,
  type RunSummary as KeptSummary,
  type RunTrace,
} from "../../core/core.ts";
import type { Kind } from "../kinds/kind.ts";
import { kindNamed } from "../kinds/kinds.ts";
import { RunSummary } from "./summary.ts";
import type { HeldRun } from "./held_run.ts";
import { type RunState, ServiceError } from "../service.ts";

/** The kind of a run as the journal has it; one of a newer Orrery counts as calls. */
export function runKind(kind: string, kinds: readonly Kind[]): string {
  return kindNamed(kind, kinds)?.name ?? "calls";
}

/** A run as the journal lists it. One whose process has died stands still: somebody may go on with it. */
export function listedState(summary: KeptSummary, kinds: readonly Kind[]): RunState {
  const { id, kind, file, status, owned, startedAt, updatedAt, steps, usage, hasFailed } = summary;
  return {
    id,
    kind: runKind(kind, kinds),
    status: status === "running" && !owned ? "stopped" : status,
    owned,
    file,
    startedAt,
    ms: Math.max(0, updatedAt - startedAt),
    usage,
    steps,
    hasFailed,
    asks: [],
  };
}

/** The same with all that its trace says. */
export function tracedState({ summary, events }: RunTrace, kinds: readonly Kind[]): RunState {
  const state = listedState(summary, kinds);
  const calls = new RunSummary({ withCalls: true });
  for (const event of events) calls.add(event);
  const end = events.findLast(isRunEnd);
  const isOver = state.status !== "running";
  return {
    ...state,
    ms: events.at(-1)?.at ?? state.ms,
    calls: calls.calls,
    ...(isOver && { value: end?.value, error: end?.error, reason: end?.reason }),
  };
}

function isRunEnd(event: RunEvent): event is Extract<RunEvent, { readonly type: "run-end" }> {
  return event.type === "run-end";
}

/** A run that only this process has, as a journal would have it; its steps are not kept. */
export function heldTrace({ id, kind, state, history }: HeldRun): RunTrace {
  const { status, file, startedAt, usage, steps, ms } = state;
  return {
    summary: {
      id,
      kind,
      file,
      status: status === "completed" ? "done" : status,
      owned: status === "running",
      startedAt,
      updatedAt: startedAt + ms,
      steps,
      usage,
    },
    run: { id, kind, file, input: null },
    steps: [],
    events: history.behind(0, { maxBytes: Infinity }).events,
    messages: [],
    checkpoints: [],
  };
}

/** What the journal refuses, as the service says it. @throws {ServiceError} `not-found`, `busy`, `ended` */
export function inWords<Value>(id: string, look: () => Value): Value {
  try {
    return look();
  } catch (error) {
    if (error instanceof RunNotFoundError) {
      const { message, runs } = error;
      throw runs.length === 0
        ? noRun(id)
        : new ServiceError(message, { code: "not-found", details: { runs: [...runs] } });
    }
    if (error instanceof RunOwnedError) throw new ServiceError(error.message, { code: "busy" });
    if (error instanceof RunEndedError) throw new ServiceError(error.message, { code: "ended" });
    throw error;
  }
}

/** Nobody knows it. */
export function noRun(id: string): ServiceError {
  return new ServiceError(`There is no run ${JSON.stringify(id)} in the project`, { code: "not-found" });
}

/** Nobody else may have it now. */
export function busyRun(id: string): ServiceError {
  return new ServiceError(`Run ${id} is under way: wait until it has ended, or cancel it`, { code: "busy" });
}
