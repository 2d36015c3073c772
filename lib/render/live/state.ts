import type { RunEvent, StepKind } from "../../core/event.ts";
import type { Usage } from "../../core/model.ts";
import { keyOf } from "../plain_lines.ts";
import { emptyTally, type RunTally, tallyAfter } from "../run_tally.ts";
import { callStep, stepWord } from "../step_words.ts";

/** A call as the live view shows it. */
export interface LiveCall {
  /** The model step that wrote it; absent when the run's own text did. */
  readonly step?: string;
  readonly invocationId: string;
  readonly gadgetName: string;
  readonly dependencies: readonly string[];
  state: "waiting" | "running" | "waits for you" | "done" | "failed" | "skipped";
  /** ms since the start of the run, later by what it has waited for a person. */
  ranAt?: number;
  /** Since when it waits for a person. */
  askedAt?: number;
  endedAt?: number;
  /** The last log line, the error, or why it was skipped. */
  note?: string;
  progress?: { readonly done: number; readonly total?: number };
}

/** An answer of a model, or of a server, as the live view shows it. */
export interface LiveStep {
  readonly key: string;
  /** What was asked, and of models then the one that answered. */
  name: string;
  state: ReturnType<typeof stepWord>;
  ranAt: number;
  endedAt?: number;
  usage?: Usage;
  note?: string;
}

/** A line of the live view. */
export type LiveRow = LiveCall | LiveStep;

/** Everything the live view knows of a run. */
export interface LiveState {
  /** By step, id and line, in the order in which they were written. */
  readonly calls: Map<string, LiveCall>;
  /** The first call of each id of a step: that is what dependents mean. */
  readonly byId: Map<string, LiveCall>;
  /** By key. */
  readonly steps: Map<string, LiveStep>;
  /** Answers, each with its calls behind it. */
  readonly rows: LiveRow[];
  tally: RunTally;
  /** Text outside the blocks whose line is not complete yet. */
  openLine: string;
  /** When the run ended, ms since its start. */
  endedAt?: number;
}

/** A run of which nothing is known yet. */
export function liveState(): LiveState {
  return { calls: new Map(), byId: new Map(), steps: new Map(), rows: [], tally: emptyTally, openLine: "" };
}

/** Steps that others answer. */
const WAITED_FOR: ReadonlySet<StepKind> = new Set(["model", "http"]);

/** Takes an event into the state; in place, because a copy of ten thousand calls for each event would cost seconds. */
export function updateLive(state: LiveState, event: RunEvent): void {
  const call = "invocationId" in event ? state.calls.get(keyOf(event)) : undefined;
  state.tally = tallyAfter(state.tally, event, call?.state === "running");
  if (event.type === "call-open") openCall(state, event);
  if (event.type === "step-start" && WAITED_FOR.has(event.kind)) openStep(state, event);
  else if (event.type === "step-end" || event.type === "usage") updateStep(state, event);
  if (event.type === "run-end") endRun(state, event);
  if (event.type === "permission-ask" || event.type === "permission-answer") askIn(state, event);
  if (call !== undefined) updateCall(call, event);
}

/** What a person thinks about is no time of the call. */
function askIn(
  { calls }: LiveState,
  { type, step = "", at }: Extract<RunEvent, { type: "permission-ask" | "permission-answer" }>,
): void {
  const call = [...calls.values()].find((each) => `${step}/`.startsWith(`${callStep(each)}/`));
  if (type === "permission-ask" && call?.state === "running") {
    call.state = "waits for you";
    call.askedAt = at;
  } else if (type === "permission-answer" && call?.state === "waits for you") {
    call.state = "running";
    call.ranAt = (call.ranAt ?? at) + at - (call.askedAt ?? at);
    delete call.askedAt;
  }
}

function openCall(state: LiveState, event: Extract<RunEvent, { type: "call-open" }>): void {
  const { step, invocationId, gadgetName, dependencies } = event;
  const call: LiveCall = {
    step,
    invocationId,
    gadgetName,
    dependencies,
    state: "waiting",
  };
  state.calls.set(keyOf(event), call);
  state.rows.push(call);
  const id = idOf(step, invocationId);
  if (!state.byId.has(id)) state.byId.set(id, call);
}

/** Ids are of one step: the next answer may use them again. */
export function idOf(step: string | undefined, invocationId: string): string {
  return `${step ?? ""} ${invocationId}`;
}

/** A step that begins again after a resume goes on in its line. */
function openStep(state: LiveState, event: Extract<RunEvent, { type: "step-start" }>): void {
  const { key, name, at } = event;
  const step: LiveStep = { key, name, state: "running", ranAt: at };
  const before = state.steps.get(key);
  if (before === undefined) state.rows.push(step);
  else state.rows[state.rows.indexOf(before)] = step;
  state.steps.set(key, step);
}

function updateStep(state: LiveState, event: Extract<RunEvent, { type: "step-end" | "usage" }>): void {
  const step = state.steps.get(event.type === "usage" ? event.step : event.key);
  if (step === undefined) return;
  if (event.type === "usage") {
    step.name = event.model;
    step.usage = event;
    return;
  }
  step.endedAt = event.at;
  step.state = stepWord(event, { isAlive: true });
  if (event.error !== undefined) step.note = event.error.message;
}

/** An answer that broke off has no end of its own. */
function endRun(
  state: LiveState,
  { at, status }: Extract<RunEvent, { type: "run-end" }>,
): void {
  state.endedAt = at;
  for (const step of state.steps.values()) {
    if (step.state !== "running") continue;
    step.state = status === "stopped" ? "stopped" : "failed";
    step.endedAt = at;
  }
}

function updateCall(call: LiveCall, event: RunEvent): void {
  if (event.type === "call-run") {
    call.state = "running";
    call.ranAt = event.at;
  } else if (event.type === "call-log") call.note = event.text;
  else if (event.type === "call-progress") {
    call.progress = { done: event.done, total: event.total };
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

/** Beyond this many calls the view shows no depths: it would cost more than it tells. */
const MAX_CALLS = 2000;

/** How many calls stand before each one on its longest way, by call; a cycle counts as if it began at its first call. */
export function callDepths(state: LiveState): ReadonlyMap<LiveCall, number> {
  const depths = new Map<LiveCall, number>();
  if (state.calls.size > MAX_CALLS) return depths;
  for (const call of state.calls.values()) depthOf(call, { state, depths, above: new Set() });
  return depths;
}

function depthOf(
  call: LiveCall,
  walk: { readonly state: LiveState; readonly depths: Map<LiveCall, number>; readonly above: Set<LiveCall> },
): number {
  const known = walk.depths.get(call);
  if (known !== undefined) return known;
  walk.above.add(call);
  let depth = 0;
  for (const id of call.dependencies) {
    const dependency = walk.state.byId.get(idOf(call.step, id));
    if (dependency !== undefined && !walk.above.has(dependency)) {
      depth = Math.max(depth, depthOf(dependency, walk) + 1);
    }
  }
  walk.above.delete(call);
  walk.depths.set(call, depth);
  return depth;
}
