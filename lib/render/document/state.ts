import type { RunEvent } from "../../core/event.ts";
import { addUsage, type Usage } from "../../core/model.ts";
import type { LineState } from "../live/line.ts";
import { keyOf } from "../plain_lines.ts";
import { emptyTally, type RunTally, tallyAfter } from "../run_tally.ts";
import { stepWord } from "../step_words.ts";

/** An operation of a document, or the call of a tool in one, as the live view shows it. */
export interface LiveOperation {
  readonly key: string;
  readonly kind: "operation" | "call";
  /** `@llm plan.md:12`, or the name of the tool. */
  readonly name: string;
  /** How many operations it is inside of. */
  readonly depth: number;
  state: LineState;
  /** ms since the start of the run. */
  ranAt: number;
  endedAt?: number;
  /** Of its own model calls. */
  usage?: Usage;
  /** The model that it waits for, where it jumps to, or why it is not done. */
  note?: string;
}

/** Everything the live view knows of a document's run. */
export interface DocumentState {
  /** In the order in which they began. */
  readonly rows: LiveOperation[];
  /** Those of the rows that run, the outermost first. */
  readonly running: LiveOperation[];
  /** How many rows of each state are not kept any more. */
  readonly gone: Map<LineState, number>;
  /** Of the operations. */
  readonly counts: Map<LineState, number>;
  tally: RunTally;
  /** The end of the text that a step gives at the moment. */
  tail: { readonly step: string; readonly text: string };
  /** When the run ended, ms since its start. */
  endedAt?: number;
}

/** How an operation went that did what an earlier run had done already. */
export type IsReused = (key: string) => boolean;

/** Beyond twice this many, the oldest rows are only counted. */
const KEPT_ROWS = 1000;

/** A run of which nothing is known yet. */
export function documentState(): DocumentState {
  return {
    rows: [],
    running: [],
    gone: new Map(),
    counts: new Map(),
    tally: emptyTally,
    tail: { step: "", text: "" },
  };
}

/** Takes an event into the state, in place. */
export function updateDocument(
  state: DocumentState,
  event: RunEvent,
  isReused: IsReused = () => false,
): void {
  const call = "invocationId" in event ? runningCall(state, event) : undefined;
  state.tally = tallyAfter(state.tally, event, call?.state === "running");
  switch (event.type) {
    case "step-start":
      if (event.kind === "step") return begin(state, { ...event, kind: "operation" });
      if (event.kind === "model") noteOf(state, event.key, event.name);
      return;
    case "step-end":
      return stepEnd(state, event, isReused);
    case "step-skip":
      return skip(state, event);
    case "jump":
      return noteOf(state, event.from, `to ${event.to}`);
    case "usage":
      return addTokens(state, event);
    case "text-delta":
      return addText(state, event);
    case "call-open":
      return begin(state, {
        kind: "call",
        key: keyOf(event),
        name: event.gadgetName,
        at: event.at,
        step: event.step,
      });
    case "call-result":
      return call && end(state, call, { state: "done", at: event.at });
    case "call-error":
      return call && end(state, call, { state: "failed", at: event.at, note: event.error });
    case "call-skip":
      return call && end(state, call, { state: "skipped", at: event.at, note: event.reason });
    case "run-end":
      return endRun(state, event);
    default:
      return;
  }
}

/** The innermost operation that the step belongs to. */
export function operationOf(state: DocumentState, step: string): LiveOperation | undefined {
  return state.running.findLast(({ key, kind }) =>
    kind === "operation" && (step === key || step.startsWith(`${key}/`))
  );
}

function runningCall(
  { running }: DocumentState,
  event: { readonly step?: string; readonly invocationId: string; readonly line: number },
): LiveOperation | undefined {
  const key = keyOf(event);
  return running.findLast((each) => each.kind === "call" && each.key === key);
}

function begin(
  state: DocumentState,
  { kind, key, name, at, step }: {
    readonly kind: LiveOperation["kind"];
    readonly key: string;
    readonly name: string;
    readonly at: number;
    /** Of the model that wrote a call: the call stands below its operation, whatever else runs. */
    readonly step?: string;
  },
): void {
  const owner = step === undefined ? state.running.at(-1) : operationOf(state, step);
  const row: LiveOperation = {
    key,
    kind,
    name,
    depth: owner === undefined ? 0 : owner.depth + 1,
    state: "running",
    ranAt: at,
  };
  state.running.push(row);
  addRow(state, row);
}

function addRow(state: DocumentState, row: LiveOperation): void {
  const { rows, gone } = state;
  rows.push(row);
  if (rows.length <= 2 * KEPT_ROWS) return;
  const old = rows.slice(0, KEPT_ROWS).filter((each) => each.state !== "running");
  const left = new Set(old);
  for (const { state: ended } of old) gone.set(ended, (gone.get(ended) ?? 0) + 1);
  rows.splice(0, KEPT_ROWS, ...rows.slice(0, KEPT_ROWS).filter((each) => !left.has(each)));
}

function stepEnd(
  state: DocumentState,
  event: Extract<RunEvent, { type: "step-end" }>,
  isReused: IsReused,
): void {
  const { key, at } = event;
  const operation = state.running.findLast((each) => each.kind === "operation" && each.key === key);
  const word = stepWord(event, { isAlive: true });
  if (operation === undefined) return endInside(state, key);
  end(state, operation, { at, state: word === "done" && isReused(key) ? "reused" : word });
}

/** A model has answered, or a command has ended: what it gave is not on its way any more. */
function endInside(state: DocumentState, step: string): void {
  if (state.tail.step === step) state.tail = { step: "", text: "" };
  const operation = operationOf(state, step);
  if (operation !== undefined && step.endsWith("/model")) delete operation.note;
}

function end(
  state: DocumentState,
  row: LiveOperation,
  { at, note, state: how }: { readonly at: number; readonly note?: string; readonly state: LineState },
): void {
  row.state = how;
  row.endedAt = at;
  if (note !== undefined) row.note = note;
  state.running.splice(state.running.indexOf(row), 1);
  if (row.kind === "operation") count(state, how);
  if (state.tail.step === row.key || state.tail.step.startsWith(`${row.key}/`)) {
    state.tail = { step: "", text: "" };
  }
}

function count({ counts }: DocumentState, how: LineState): void {
  counts.set(how, (counts.get(how) ?? 0) + 1);
}

function skip(
  state: DocumentState,
  { step, name = skippedName(step), condition, at }: Extract<RunEvent, { type: "step-skip" }>,
): void {
  const depth = state.running.length;
  count(state, "skipped");
  addRow(state, {
    key: step,
    kind: "operation",
    name,
    depth,
    state: "skipped",
    ranAt: at,
    endedAt: at,
    note: condition,
  });
}

/** `line 12` for the key `op[12]`: which operation is there is not told. */
function skippedName(key: string): string {
  const place = key.slice(key.lastIndexOf("op[") + 3).replace(/\](#\d+)?$/, "");
  return /^\d+$/.test(place) ? `line ${place}` : place;
}

function noteOf(state: DocumentState, step: string, note: string): void {
  const operation = operationOf(state, step);
  if (operation !== undefined) operation.note = note;
}

function addTokens(state: DocumentState, event: Extract<RunEvent, { type: "usage" }>): void {
  const operation = operationOf(state, event.step);
  if (operation !== undefined) {
    operation.usage = operation.usage === undefined ? event : addUsage(operation.usage, event);
  }
}

function addText(state: DocumentState, { step, text }: Extract<RunEvent, { type: "text-delta" }>): void {
  const before = state.tail.step === step ? state.tail.text : "";
  state.tail = { step, text: grownTail(before, text) };
}

/** What broke off has no end of its own. */
function endRun(state: DocumentState, { at, status }: Extract<RunEvent, { type: "run-end" }>): void {
  state.endedAt = at;
  for (const row of state.running) {
    row.state = status === "failed" ? "failed" : "stopped";
    row.endedAt = at;
    if (row.kind === "operation") count(state, row.state);
  }
}

/** So many of the last characters are enough for every window. */
const KEPT = 16_000;

/** What is kept of a text that grows, so that its last lines can be shown. */
export function grownTail(tail: string, text: string): string {
  const all = tail + text;
  return all.length > 2 * KEPT ? all.slice(-KEPT) : all;
}
