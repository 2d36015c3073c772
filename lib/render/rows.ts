// Events of a run folded into rows: one for each step, each call and each thing that was decided, found by key. Lines, live views, traces and
// pages draw them.
import type { RunEvent, StepKind } from "../core/event.ts";
import { addUsage, type Usage } from "../core/model.ts";
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

const NO_USAGE: Usage = { input: 0, output: 0 };

type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { readonly type: Type }>;
type CallEvent = Extract<RunEvent, { readonly invocationId: string }>;

/** Everything that views know of a run. */
export class RunRows {
  /** In the order in which they were told. */
  readonly all: RunRow[] = [];
  readonly byKey = new Map<string, RunRow>();
  readonly tally: RunTally = {
    opened: 0,
    running: 0,
    done: 0,
    failed: 0,
    skipped: 0,
    answers: 0,
    usage: NO_USAGE,
  };
  /** The end of the text that a step gives at the moment. */
  tail = { step: "", text: "" };
  /** How it ended; undefined again when it goes on. */
  end: EventOf<"run-end"> | undefined;
  /** The newest step of each name: so messages and slots of a conversation say whose they are. */
  readonly #byName = new Map<string, RunRow>();
  readonly #calls = new Map<string, RunRow>();
  readonly #isReused: (key: string) => boolean;
  #hasTurns = false;
  #turns = 0;
  #turn: RunRow | undefined;

  /** @param isReused whether an operation did what an earlier run had done already */
  constructor(isReused: (key: string) => boolean = () => false) {
    this.#isReused = isReused;
  }

  /** Takes an event. @returns the row that it is about */
  take(event: RunEvent): RunRow | undefined {
    if (event.type !== "run-end") this.end = undefined;
    switch (event.type) {
      case "run-start":
        return event.kind === "conversation" ? this.#beginTurn(event.at) : undefined;
      case "run-end":
        this.end = event;
        return this.#endTurn(event);
      case "step-start":
        return this.#beginStep(event);
      case "step-end":
        return this.#endStep(event);
      case "text-delta":
        this.tail = {
          step: event.step,
          text: grownTail(this.tail.step === event.step ? this.tail.text : "", event.text),
        };
        return undefined;
      case "message":
      case "slot-set":
      case "block-merge":
        return this.#ownerOf(event.step);
      case "usage":
        return this.#use(event);
      case "call-open":
        return this.#openCall(event);
      case "call-run":
      case "call-log":
      case "call-progress":
      case "call-result":
      case "call-error":
      case "call-skip":
        return this.#changeCall(event);
      case "permission-ask":
        return this.#ask(event);
      case "permission-answer":
        return this.#answered(event);
      case "step-skip":
        return this.#mark(event, {
          kind: "skip",
          key: event.step,
          name: event.name ?? event.step,
          note: event.condition,
        });
      case "jump":
        this.#noteOf(event.from, `to ${event.to}`);
        return this.#mark(event, { kind: "jump", key: event.from, name: `${event.from} \u2192 ${event.to}` });
      case "hold":
        return this.#mark(event, { kind: "hold", key: event.step, name: event.step });
      case "warning":
        return this.#mark(event, { kind: "warning", key: "", name: event.text });
      default:
        return event satisfies never;
    }
  }

  /** That of the call which an event is about. */
  callOf(event: CallEvent): RunRow | undefined {
    return this.#calls.get(keyOf(event));
  }

  /** The calls of the run. */
  get calls(): readonly RunRow[] {
    return [...this.#calls.values()];
  }

  /** The innermost operation that a step belongs to. */
  operationOf(step: string): RunRow | undefined {
    return this.path(step).find(({ kind }) => kind === "step");
  }

  /** How it stands; what has no end of its own when the run ends has broken off. */
  stateOf({ state }: RunRow): RowState {
    if (this.end === undefined || !isOpen(state)) return state;
    return this.end.status === "failed" ? "failed" : "stopped";
  }

  /** ms that it has run until now, without what it has waited for a person; undefined when it has not run. */
  msOf({ ranAt, askedAt, endedAt, waitedMs }: RunRow, now: number): number | undefined {
    if (ranAt === undefined) return undefined;
    return Math.max(0, (endedAt ?? this.end?.at ?? askedAt ?? now) - ranAt - waitedMs);
  }

  /** Adds one that no event has told of. */
  add(begun: Begun): RunRow {
    const row = this.#row(begun);
    this.byKey.set(row.key, row);
    return row;
  }

  #row({ key, kind, name, at, place = key, state = "running", turn = this.#turn, ...more }: Begun): RunRow {
    const above = this.path(place).find((each) => each.key !== key && isNested(each));
    const depth = above === undefined ? 0 : above.depth + 1;
    const row: RunRow = { key, place, kind, name, state, at, depth, waitedMs: 0, attempt: 1, turn, ...more };
    this.all.push(row);
    return row;
  }

  /** Those of a step and of what it is inside of, the innermost first. */
  path(step: string): readonly RunRow[] {
    const parts = keyParts(step);
    return parts.flatMap((_, index) => this.byKey.get(parts.slice(0, parts.length - index).join("/")) ?? []);
  }

  #ownerOf(step: string): RunRow | undefined {
    return this.byKey.get(step) ?? this.#byName.get(step) ?? this.path(step)[0];
  }

  #mark({ at }: { readonly at: number }, mark: Pick<Begun, "kind" | "key" | "name" | "note">): RunRow {
    const owner = this.byKey.get(mark.key) ?? this.#byName.get(mark.key);
    const place = owner?.key ?? (this.#hasTurns ? "" : mark.key);
    return this.#row({ ...mark, at, place, state: mark.kind === "skip" ? "skipped" : "note" });
  }

  #noteOf(step: string, note: string | undefined): void {
    const operation = this.operationOf(step);
    if (operation !== undefined) operation.note = note;
  }

  #beginTurn(at: number): RunRow {
    this.#hasTurns = true;
    this.#turns++;
    this.#turn = undefined;
    return this.#turn = this.add({
      key: `turn[${this.#turns}]`,
      kind: "turn",
      name: `turn ${this.#turns}`,
      at,
    });
  }

  #endTurn({ at, status }: EventOf<"run-end">): RunRow | undefined {
    const turn = this.#turn;
    if (turn === undefined) return undefined;
    turn.ms = at - turn.at;
    turn.state = status === "failed" || status === "stopped" ? status : "done";
    return turn;
  }

  /** One that begins again, in another attempt or after a resume, goes on in its row. */
  #beginStep({ key, kind, name, at, attempt }: EventOf<"step-start">): RunRow {
    const row = this.byKey.get(key) ?? this.add({ key, kind, name, at });
    Object.assign(row, { attempt, state: "running", waitedMs: 0 });
    row.endedAt = row.note = row.answer = undefined;
    if (row.call === undefined) row.ranAt = at;
    if (kind === "step") this.#byName.set(name, row);
    if (kind === "model") this.#noteOf(key, name);
    return row;
  }

  #endStep(end: EventOf<"step-end">): RunRow | undefined {
    const { key, ms, at, error } = end;
    const row = this.byKey.get(key);
    if (this.tail.step === key || this.tail.step.startsWith(`${key}/`)) this.tail = { step: "", text: "" };
    if (row === undefined) return undefined;
    const word = stepWord(end, { isAlive: true });
    row.state = word === "done" && row.kind === "step" && this.#isReused(key) ? "reused" : word;
    row.endedAt = at;
    row.ms = Math.max(0, ms - row.waitedMs);
    if (row.kind === "model") this.#noteOf(key, undefined);
    if (isAnswerOrCall(row)) row.note = error?.message;
    return row;
  }

  #use(answer: EventOf<"usage">): RunRow {
    this.tally.answers++;
    this.tally.usage = addUsage(this.tally.usage, answer);
    const operation = this.operationOf(answer.step);
    if (operation !== undefined) operation.inside = addUsage(operation.inside ?? NO_USAGE, answer);
    const { step: key, model: name, at } = answer;
    const row = this.byKey.get(key) ?? this.add({ key, kind: "model", name, at });
    row.answer = answer;
    row.usage = addUsage(row.usage ?? NO_USAGE, answer);
    return row;
  }

  /** Of two calls of one id only the first is the step of that key. */
  #openCall(event: EventOf<"call-open">): RunRow {
    const { step, invocationId: id, gadgetName: name, dependencies, line, at } = event;
    const own = callStep(event);
    const key = this.byKey.has(own) ? `${own}@${line}` : own;
    const call = { step, id, dependencies };
    const row = this.add({ key, kind: "gadget", name, at, state: "waiting", call });
    this.#calls.set(keyOf(event), row);
    this.tally.opened++;
    return row;
  }

  #changeCall(event: Exclude<CallEvent, EventOf<"call-open">>): RunRow | undefined {
    const row = this.callOf(event);
    if (row?.call === undefined) return undefined;
    switch (event.type) {
      case "call-run":
        row.state = "running";
        row.at = row.ranAt = event.at;
        this.tally.running++;
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
    if (row.ranAt !== undefined) this.tally.running--;
    this.tally[state]++;
    Object.assign(row, { state, note, endedAt: event.at });
    if (state !== "skipped") row.ms = Math.max(0, event.at - row.at - row.waitedMs);
    row.call.progress = undefined;
    return row;
  }

  #ask({ step = "", at }: EventOf<"permission-ask">): RunRow | undefined {
    const rows = this.path(step);
    for (const row of rows) {
      if (row.state === "running") Object.assign(row, { state: "waits for you", askedAt: at });
    }
    return rows[0];
  }

  /** What a person thinks about is no time of a step. */
  #answered(answer: EventOf<"permission-answer">): RunRow {
    const { step = "", subject, at } = answer;
    for (const row of this.path(step)) {
      if (row.state !== "waits for you") continue;
      row.state = "running";
      row.waitedMs += at - (row.askedAt ?? at);
      row.askedAt = undefined;
    }
    return this.#ownerOf(subject) ?? this.#ownerOf(`call:${subject}`) ??
      this.#mark(answer, { kind: "permission", key: subject, name: subject });
  }
}

/** What a row begins with. */
type Begun =
  & Pick<RunRow, "key" | "kind" | "name" | "at" | "call" | "turn" | "note">
  & Partial<Pick<RunRow, "place" | "state">>;

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
