import type { RunEvent } from "../core/event.ts";
import { keyOf } from "./plain_lines.ts";
import type { RunTally } from "./run_tally.ts";
import { emptyTally, tallyAfter } from "./run_tally.ts";

/** A call as the live view shows it. */
export interface LiveCall {
  readonly invocationId: string;
  readonly gadgetName: string;
  readonly dependencies: readonly string[];
  state: "waiting" | "running" | "done" | "failed" | "skipped";
  /** ms since the start of the run. */
  ranAt?: number;
  endedAt?: number;
  /** The last log line, the error, or why it was skipped. */
  note?: string;
  progress?: { readonly done: number; readonly total?: number };
}

/** Everything the live view knows of a run. */
export interface LiveState {
  /** By id and line, in the order in which they were written. */
  readonly calls: Map<string, LiveCall>;
  /** The first call of each id: that is what dependents mean. */
  readonly byId: Map<string, LiveCall>;
  tally: RunTally;
  /** Text outside the blocks whose line is not complete yet. */
  openLine: string;
  /** When the run ended, ms since its start. */
  endedAt?: number;
}

/** A run of which nothing is known yet. */
export function liveState(): LiveState {
  return { calls: new Map(), byId: new Map(), tally: emptyTally, openLine: "" };
}

/** Takes an event into the state; in place, because a copy of ten thousand calls for each event would cost seconds. */
export function updateLive(state: LiveState, event: RunEvent): void {
  const call = "invocationId" in event ? state.calls.get(keyOf(event)) : undefined;
  state.tally = tallyAfter(state.tally, event, call?.state === "running");
  if (event.type === "call-open") openCall(state, event);
  if (event.type === "run-end") state.endedAt = event.at;
  if (call !== undefined) updateCall(call, event);
}

function openCall(state: LiveState, event: Extract<RunEvent, { type: "call-open" }>): void {
  const { invocationId, gadgetName, dependencies } = event;
  const call: LiveCall = { invocationId, gadgetName, dependencies, state: "waiting" };
  state.calls.set(keyOf(event), call);
  if (!state.byId.has(invocationId)) state.byId.set(invocationId, call);
}

function updateCall(call: LiveCall, event: RunEvent): void {
  if (event.type === "call-run") {
    call.state = "running";
    call.ranAt = event.at;
  } else if (event.type === "call-log") call.note = event.text;
  else if (event.type === "call-progress") {
    call.progress = { done: event.done, ...(event.total === undefined ? {} : { total: event.total }) };
  } else if (event.type === "call-result") endCall(call, event.at, { state: "done" });
  else if (event.type === "call-error") endCall(call, event.at, { state: "failed", note: event.error });
  else if (event.type === "call-skip") endCall(call, event.at, { state: "skipped", note: event.reason });
}

function endCall(
  call: LiveCall,
  at: number,
  { state, note }: { state: LiveCall["state"]; note?: string },
): void {
  call.state = state;
  call.endedAt = at;
  delete call.progress;
  if (note === undefined) delete call.note;
  else call.note = note;
}
