// Events of a run folded into rows: one for each step, each call and each thing that was decided, found by key. Lines, live views, traces and
// pages draw them.
import type { RunEvent, StepKind } from "../core/event.ts";
import { type Json, objectOrEmpty } from "../core/json.ts";
import { addUsage, type Usage } from "../core/model.ts";
import { thoughtWords } from "./shown_text.ts";
import type { RunTally } from "./run_tally.ts";
import { callStep, keyParts, stepWord } from "./step_words.ts";

/** What a row is: a kind of step, a turn of a conversation, a part of keys that is no step itself, or something that was decided. */
export type RowKind = StepKind | "turn" | "group" | "skip" | "jump" | "hold" | "warning" | "permission";

/** How it stands, in the words of runs; a `note` takes no time. */
export type RowState =
  | ReturnType<typeof stepWord>
  | "waiting"
  | "waits for you"
  | "reused"
  | "skipped"
  | "note";

/** One thing of a run. */
export interface RunRow {
  readonly key: string;
  /** The key that says what it lies below: its own, or for what was decided that of what it is about. */
  readonly place: string;
  kind: RowKind;
  /** Of a call its gadget. */
  name: string;
  state: RowState;
  /** How many operations and calls it is inside of. */
  readonly depth: number;
  /** ms since the start of the run: of a call when it began to run, as soon as that is known. */
  at: number;
  /** When its last attempt began. */
  ranAt?: number;
  /** Since when it waits for a person. */
  askedAt?: number;
  /** For a person. */
  waitedMs: number;
  endedAt?: number;
  /** How long it took, as it says itself. */
  ms?: number;
  attempt: number;
  /** Of its own model calls. */
  usage?: Usage;
  /** What its last attempt was answered by, and what that took. */
  answer?: Usage & { readonly model: string };
  /** Of the model calls of an operation. */
  inside?: Usage;
  /** What it thinks, or thought, before it answered. */
  thought?: Thought;
  /** The last log line, the error, why it was skipped; of an operation the model that it waits for, or where it jumps to. */
  note?: string;
  /** Absent of what is no call. */
  readonly call?: RowCall;
  /** The turn of a conversation that it belongs to. */
  readonly turn?: RunRow;
}

/** What a call is besides. */
export interface RowCall {
  /** The model step that wrote it; absent when the run's own text did. */
  readonly step?: string;
  readonly id: string;
  readonly dependencies: readonly string[];
  progress?: { readonly done: number; readonly total?: number };
}

/** How much a model thought; `ms` from its question on, where that was seen. */
export interface Thought {
  readonly characters: number;
  readonly ms?: number;
}

const NO_USAGE: Usage = { input: 0, output: 0 };

type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { readonly type: Type }>;
type CallEvent = Extract<RunEvent, { readonly invocationId: string }>;

/** Everything that views know of a run. */
export interface RunRows {
  /** In the order in which they were told. */
  readonly all: readonly RunRow[];
  readonly byKey: ReadonlyMap<string, RunRow>;
  readonly tally: Readonly<RunTally>;
  /** The end of the text that a step gives at the moment, or of what a model thinks. */
  readonly tail: { readonly step: string; readonly text: string; readonly isThought?: true };
  /** How it ended; undefined again when it goes on. */
  readonly end: EventOf<"run-end"> | undefined;
  /** The calls of the run. */
  readonly calls: readonly RunRow[];
  /** Takes an event. @returns the row that it is about */
  take(event: RunEvent): RunRow | undefined;
  /** That of the call which an event is about. */
  callOf(event: CallEvent): RunRow | undefined;
  /** The innermost operation that a step belongs to. */
  operationOf(step: string): RunRow | undefined;
  /** How it stands; what has no end of its own when the run ends has broken off. */
  stateOf(row: RunRow): RowState;
  /** ms that it has run until now, without what it has waited for a person; undefined when it has not run. */
  msOf(row: RunRow, now: number): number | undefined;
  /** Adds one that no event has told of. */
  add(begun: Begun): RunRow;
  /** Those of a step and of what it is inside of, the innermost first. */
  path(step: string): readonly RunRow[];
}

/** @param isReused whether an operation did what an earlier run had done already */
export function createRows(isReused: (key: string) => boolean = () => false): RunRows {
  const all: RunRow[] = [];
  const byKey = new Map<string, RunRow>();
  const tally: RunTally = {
    opened: 0,
    running: 0,
    done: 0,
    failed: 0,
    skipped: 0,
    answers: 0,
    usage: NO_USAGE,
  };
  let tail: RunRows["tail"] = { step: "", text: "" };
  let end: EventOf<"run-end"> | undefined;
  /** The newest step of each name: so messages and slots of a conversation say whose they are. */
  const byName = new Map<string, RunRow>();
  const callRows = new Map<string, RunRow>();
  let hasTurns = false;
  let turnCount = 0;
  let turnNow: RunRow | undefined;

  function take(event: RunEvent): RunRow | undefined {
    if (event.type !== "run-end") end = undefined;
    switch (event.type) {
      case "run-start":
        return event.kind === "conversation" ? beginTurn(event.at) : undefined;
      case "run-end":
        end = event;
        return endTurn(event);
      case "step-start":
        return beginStep(event);
      case "step-end":
        return endStep(event);
      case "text-delta":
        tail = grown(event);
        return undefined;
      case "reasoning-delta":
        tail = { ...grown(event), isThought: true };
        return think(event);
      case "message":
      case "slot-set":
      case "block-merge":
        return ownerOf(event.step);
      case "usage":
        return use(event);
      case "call-open":
        return openCall(event);
      case "call-run":
      case "call-log":
      case "call-progress":
      case "call-result":
      case "call-error":
      case "call-skip":
        return changeCall(event);
      case "permission-ask":
        return ask(event);
      case "permission-answer":
        return answered(event);
      case "step-skip":
        return mark(event, {
          kind: "skip",
          key: event.step,
          name: event.name ?? event.step,
          note: event.condition,
        });
      case "jump":
        noteOf(event.from, `to ${event.to}`);
        return mark(event, { kind: "jump", key: event.from, name: `${event.from} \u2192 ${event.to}` });
      case "hold":
        return mark(event, { kind: "hold", key: event.step, name: event.step });
      case "warning":
        return mark(event, { kind: "warning", key: "", name: event.text });
      default: // of a server that knows more
        event satisfies never;
        return undefined;
    }
  }

  function grown({ type, step, text }: EventOf<"text-delta" | "reasoning-delta">): RunRows["tail"] {
    const isSame = tail.step === step && (tail.isThought === true) === (type === "reasoning-delta");
    return { step, text: grownTail(isSame ? tail.text : "", text) };
  }

  function think({ step, text, at }: EventOf<"reasoning-delta">): RunRow | undefined {
    const row = byKey.get(step);
    if (row === undefined) return undefined;
    if (row.thought === undefined) noteOf(step, `${row.name}, thinking`);
    const characters = (row.thought?.characters ?? 0) + text.length;
    row.thought = { characters, ms: at - (row.ranAt ?? at) };
    return row;
  }

  function callOf(event: CallEvent): RunRow | undefined {
    return callRows.get(keyOf(event));
  }

  function operationOf(step: string): RunRow | undefined {
    return path(step).find(({ kind }) => kind === "step");
  }

  function stateOf({ state }: RunRow): RowState {
    if (end === undefined || !isOpen(state)) return state;
    return end.status === "failed" ? "failed" : "stopped";
  }

  function msOf({ ranAt, askedAt, endedAt, waitedMs }: RunRow, now: number): number | undefined {
    if (ranAt === undefined) return undefined;
    return Math.max(0, (endedAt ?? end?.at ?? askedAt ?? now) - ranAt - waitedMs);
  }

  function add(begun: Begun): RunRow {
    const row = newRow(begun);
    byKey.set(row.key, row);
    return row;
  }

  function newRow(
    { key, kind, name, at, place = key, state = "running", turn = turnNow, ...more }: Begun,
  ): RunRow {
    const above = path(place).find((each) => each.key !== key && isNested(each));
    const depth = above === undefined ? 0 : above.depth + 1;
    const row: RunRow = { key, place, kind, name, state, at, depth, waitedMs: 0, attempt: 1, turn, ...more };
    all.push(row);
    return row;
  }

  function path(step: string): readonly RunRow[] {
    const parts = keyParts(step);
    return parts.flatMap((_, index) => byKey.get(parts.slice(0, parts.length - index).join("/")) ?? []);
  }

  function ownerOf(step: string): RunRow | undefined {
    return byKey.get(step) ?? byName.get(step) ?? path(step)[0];
  }

  function mark(
    { at }: { readonly at: number },
    mark: Pick<Begun, "kind" | "key" | "name" | "note">,
  ): RunRow {
    const owner = byKey.get(mark.key) ?? byName.get(mark.key);
    const place = owner?.key ?? (hasTurns ? "" : mark.key);
    return newRow({ ...mark, at, place, state: mark.kind === "skip" ? "skipped" : "note" });
  }

  function noteOf(step: string, note: string | undefined): void {
    const operation = operationOf(step);
    if (operation !== undefined) operation.note = note;
  }

  function beginTurn(at: number): RunRow {
    hasTurns = true;
    turnCount++;
    turnNow = undefined;
    return turnNow = add({
      key: `turn[${turnCount}]`,
      kind: "turn",
      name: `turn ${turnCount}`,
      at,
    });
  }

  function endTurn({ at, status }: EventOf<"run-end">): RunRow | undefined {
    const turn = turnNow;
    if (turn === undefined) return undefined;
    turn.ms = at - turn.at;
    turn.state = status === "failed" || status === "stopped" ? status : "done";
    return turn;
  }

  /** One that begins again, in another attempt or after a resume, goes on in its row. */
  function beginStep({ key, kind, name, at, attempt }: EventOf<"step-start">): RunRow {
    const row = byKey.get(key) ?? add({ key, kind, name, at });
    Object.assign(row, { attempt, state: "running", waitedMs: 0 });
    row.endedAt =
      row.note =
      row.answer =
      row.thought =
        undefined;
    if (row.call === undefined) row.ranAt = at;
    if (kind === "step") byName.set(name, row);
    if (kind === "model") noteOf(key, name);
    return row;
  }

  function endStep(end: EventOf<"step-end">): RunRow | undefined {
    const { key, ms, at, error } = end;
    const row = byKey.get(key);
    if (tail.step === key || tail.step.startsWith(`${key}/`)) tail = { step: "", text: "" };
    if (row === undefined) return undefined;
    const word = stepWord(end, { isAlive: true });
    row.state = word === "done" && row.kind === "step" && isReused(key) ? "reused" : word;
    row.endedAt = at;
    row.ms = Math.max(0, ms - row.waitedMs);
    if (row.kind === "model") {
      const { length: characters } = thoughtIn(end.outcome);
      if (characters > 0) row.thought ??= { characters };
      noteOf(key, row.thought && thoughtWords(row.thought));
    }
    if (isAnswerOrCall(row)) row.note = error?.message;
    return row;
  }

  function use(answer: EventOf<"usage">): RunRow {
    tally.answers++;
    tally.usage = addUsage(tally.usage, answer);
    const operation = operationOf(answer.step);
    if (operation !== undefined) operation.inside = addUsage(operation.inside ?? NO_USAGE, answer);
    const { step: key, model: name, at } = answer;
    const row = byKey.get(key) ?? add({ key, kind: "model", name, at });
    row.answer = answer;
    row.usage = addUsage(row.usage ?? NO_USAGE, answer);
    return row;
  }

  /** Of two calls of one id only the first is the step of that key. */
  function openCall(event: EventOf<"call-open">): RunRow {
    const { step, invocationId: id, gadgetName: name, dependencies, line, at } = event;
    const own = callStep(event);
    const key = byKey.has(own) ? `${own}@${line}` : own;
    const call = { step, id, dependencies };
    const row = add({ key, kind: "gadget", name, at, state: "waiting", call });
    callRows.set(keyOf(event), row);
    tally.opened++;
    return row;
  }

  function changeCall(event: Exclude<CallEvent, EventOf<"call-open">>): RunRow | undefined {
    const row = callOf(event);
    if (row?.call === undefined) return undefined;
    switch (event.type) {
      case "call-run":
        row.state = "running";
        row.at = row.ranAt = event.at;
        tally.running++;
        return row;
      case "call-log":
        row.note = event.text;
        return row;
      case "call-progress":
        row.call.progress = { done: event.done, total: event.total };
        return row;
    }
    const [state, note] = event.type === "call-result"
      ? ["done"] as const
      : event.type === "call-error"
      ? ["failed", event.error] as const
      : ["skipped", event.reason] as const;
    if (row.ranAt !== undefined) tally.running--;
    tally[state]++;
    Object.assign(row, { state, note, endedAt: event.at });
    if (state !== "skipped") row.ms = Math.max(0, event.at - row.at - row.waitedMs);
    row.call.progress = undefined;
    return row;
  }

  function ask({ step = "", at }: EventOf<"permission-ask">): RunRow | undefined {
    const rows = path(step);
    for (const row of rows) {
      if (row.state === "running") Object.assign(row, { state: "waits for you", askedAt: at });
    }
    return rows[0];
  }

  /** What a person thinks about is no time of a step. */
  function answered(answer: EventOf<"permission-answer">): RunRow {
    const { step = "", subject, at } = answer;
    for (const row of path(step)) {
      if (row.state !== "waits for you") continue;
      row.state = "running";
      row.waitedMs += at - (row.askedAt ?? at);
      row.askedAt = undefined;
    }
    return ownerOf(subject) ?? ownerOf(`call:${subject}`) ??
      mark(answer, { kind: "permission", key: subject, name: subject });
  }

  return {
    all,
    byKey,
    tally,
    get tail() {
      return tail;
    },
    get end() {
      return end;
    },
    get calls() {
      return [...callRows.values()];
    },
    take,
    callOf,
    operationOf,
    stateOf,
    msOf,
    add,
    path,
  };
}

/** What a row begins with. */
type Begun =
  & Pick<RunRow, "key" | "kind" | "name" | "at" | "call" | "turn" | "note">
  & Partial<Pick<RunRow, "place" | "state">>;

/** What a model thought, by the outcome of its step; the empty text where it did not, or nobody is told. */
export function thoughtIn(outcome: Json | undefined): string {
  const { reasoning } = objectOrEmpty(outcome);
  return Array.isArray(reasoning)
    ? reasoning.map((each) => String(objectOrEmpty(each).text ?? "")).filter(Boolean).join("\n\n")
    : "";
}

/** Whether it has no end yet. */
export function isOpen(state: RowState): boolean {
  return state === "waiting" || state === "running" || state === "waits for you";
}

/** Operations and calls, and what was left out of them: as the views of documents and conversations have them. */
export function isNested({ kind, call }: RunRow): boolean {
  return kind === "step" || kind === "skip" || call !== undefined;
}

/** Calls, and what models and servers are asked. */
export function isAnswerOrCall({ kind, call }: RunRow): boolean {
  return kind === "model" || kind === "http" || call !== undefined;
}

/** What a row is called; which operation was left out is not always told: `line 12` for the key `op[12]`. */
export function nameWords({ kind, key, name }: RunRow): string {
  if (kind !== "skip" || name !== key) return name;
  const place = key.slice(key.lastIndexOf("op[") + 3).replace(/\](#\d+)?$/, "");
  return /^\d+$/.test(place) ? `line ${place}` : place;
}

/** Two calls may be written with one id (calls.md 2), in one text or by several answers of a model: step and line tell them apart. */
export function keyOf(
  event: { readonly step?: string; readonly invocationId: string; readonly line: number },
): string {
  return `${event.step ?? ""} ${event.invocationId}@${event.line}`;
}

/** Beyond this many calls the view shows no depths: it would cost more than it tells. */
const MAX_CALLS = 2000;

/** How many calls stand before each one on its longest way, by call; a cycle counts as if it began at its first call. */
export function callDepths(rows: RunRows): ReadonlyMap<RunRow, number> {
  const depths = new Map<RunRow, number>();
  const above = new Set<RunRow>();
  const depthOf = (row: RunRow): number => {
    const known = depths.get(row);
    if (known !== undefined) return known;
    above.add(row);
    const before = dependenciesOf(row, rows).filter((each) => !above.has(each)).map((each) =>
      depthOf(each) + 1
    );
    above.delete(row);
    const depth = Math.max(0, ...before);
    depths.set(row, depth);
    return depth;
  };
  if (rows.calls.length <= MAX_CALLS) rows.calls.forEach(depthOf);
  return depths;
}

/** The calls that a call waits for: ids are of one step, and the next answer may use them again. */
export function dependenciesOf({ call }: RunRow, { byKey }: RunRows): readonly RunRow[] {
  if (call === undefined) return [];
  return call.dependencies.flatMap((id) => byKey.get(callStep({ step: call.step, invocationId: id })) ?? []);
}

/** So many of the last characters are enough for every window. */
const KEPT = 16_000;

/** What is kept of a text that grows, so that its last lines can be shown. */
export function grownTail(tail: string, text: string): string {
  const all = tail + text;
  return all.length > 2 * KEPT ? all.slice(-KEPT) : all;
}
