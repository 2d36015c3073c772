// What a run did, one item for each thing that took time or decided something, found by key: events say when, the kept steps say with what and
// what came of it. The journal's own times are those of its commits, so an event's time comes first.
import {
  addUsage,
  type RunEvent,
  type RunTrace,
  type StepKind,
  type StepRecord,
  type Usage,
} from "../../core/core.ts";
import { callStep, keyParts, stepWord } from "../step_words.ts";
import {
  BROKEN_OFF,
  END_UNKNOWN,
  errorValue,
  noteValue,
  resultValue,
  stepValues,
  type TraceValue,
} from "./values.ts";

/** What an item is: a kind of step, a turn of a conversation, a part of keys that is no step itself, or something that was decided. */
export type TraceKind = StepKind | "turn" | "group" | "skip" | "jump" | "hold" | "warning" | "permission";

/** How it stands, in the words of runs; a `note` takes no time. */
export type TraceState = ReturnType<typeof stepWord> | "waits for you" | "skipped" | "note";

/** One thing of a run. */
export interface TraceItem {
  readonly key: string;
  /** The key that says what it lies below: its own, or for what was decided that of what it is about. */
  readonly place: string;
  kind: TraceKind;
  name: string;
  state: TraceState;
  /** ms since the start of the run. */
  at: number;
  ms?: number;
  attempt: number;
  /** Of its own model calls. */
  usage?: Usage;
  values: TraceValue[];
  notes: TraceValue[];
  /** The turn of a conversation that it belongs to. */
  readonly turn?: TraceItem;
}

type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { readonly type: Type }>;
type CallEvent = Extract<RunEvent, { readonly invocationId: string }>;

/** All items of a run, in the order in which they were told. */
export function traceItems(trace: RunTrace): readonly TraceItem[] {
  const items = new TraceItems(trace.summary);
  for (const event of trace.events) items.tell(event);
  items.tellLogs();
  for (const step of trace.steps) items.keep(step);
  return items.all;
}

class TraceItems {
  readonly all: TraceItem[] = [];
  readonly #hasTurns: boolean;
  readonly #isAlive: boolean;
  readonly #byKey = new Map<string, TraceItem>();
  /** The newest step of each name: so messages and slots of a conversation say whose they are. */
  readonly #byName = new Map<string, TraceItem>();
  readonly #byCall = new Map<string, TraceItem>();
  readonly #logs = new Map<TraceItem, string[]>();
  readonly #askedAt = new Map<TraceItem, number>();
  /** For a person. */
  readonly #waitedMs = new Map<TraceItem, number>();
  #turn: TraceItem | undefined;
  #turns = 0;

  constructor({ kind, owned }: RunTrace["summary"]) {
    this.#hasTurns = kind === "conversation";
    this.#isAlive = owned;
  }

  tell(event: RunEvent): void {
    switch (event.type) {
      case "run-start":
        return this.#beginTurn(event);
      case "run-end":
        return this.#endTurn(event);
      case "step-start":
        return this.#beginStep(event);
      case "step-end":
        return this.#endStep(event);
      case "call-open":
      case "call-run":
      case "call-result":
      case "call-error":
      case "call-skip":
        return this.#call(event);
      case "usage":
        return this.#use(event);
      case "message":
        return this.#note(event.step, noteValue("says", event.text));
      case "slot-set":
        return this.#note(event.step, noteValue(`${event.destination}.${event.name}`, event.value));
      case "block-merge":
        return this.#merge(event);
      case "step-skip":
        return this.#mark(event, {
          kind: "skip",
          key: event.step,
          name: event.name ?? event.step,
          text: event.condition,
        });
      case "jump":
        return this.#mark(event, { kind: "jump", key: event.from, name: `${event.from} \u2192 ${event.to}` });
      case "hold":
        return this.#mark(event, { kind: "hold", key: event.step, name: event.step });
      case "warning":
        return this.#mark(event, { kind: "warning", key: "", name: event.text, text: placeOf(event) });
      case "permission-ask":
        return this.#wait(event);
      case "permission-answer":
        return this.#permission(event);
      case "call-log": {
        const item = this.#byCall.get(callKey(event));
        if (item === undefined) return;
        const lines = this.#logs.get(item) ?? [];
        lines.push(event.text.replace(/\r?\n$/, ""));
        this.#logs.set(item, lines);
        return;
      }
      case "call-progress":
      case "text-delta":
        return;
      default:
        return event satisfies never;
    }
  }

  get #unended(): TraceState {
    return stepWord(undefined, { isAlive: this.#isAlive });
  }

  /** What calls told the console, as one note each. */
  tellLogs(): void {
    for (const [item, lines] of this.#logs) item.notes.push(noteValue("log", lines.join("\n")));
  }

  /** Takes what is kept of a step. */
  keep(step: StepRecord): void {
    if (this.#hasTurns && step.kind === "ask" && this.#keepTurn(step)) return;
    const item = this.#byKey.get(step.key) ?? this.#keptAlone(step);
    item.kind = step.kind;
    item.name = step.name;
    item.attempt = Math.max(item.attempt, step.attempt);
    const why = step.outcome === undefined ? item.values : []; // as its attempts have ended
    item.values = [...stepValues(step), ...why];
    if (step.outcome !== undefined) {
      item.state = stepWord("error" in step.outcome ? step.outcome : {}, { isAlive: this.#isAlive });
    } else if (!step.idempotent && !this.#isAlive) item.notes.push(noteValue("stopped", END_UNKNOWN));
  }

  /** What a person said is shown with the turn that it began. */
  #keepTurn(step: StepRecord): boolean {
    const turn = this.#byKey.get(step.key);
    if (turn?.kind !== "turn") return false;
    const { outcome } = step;
    const ok = outcome !== undefined && "ok" in outcome ? outcome.ok : null;
    const text = typeof ok === "object" && ok !== null && "text" in ok ? ok.text : undefined;
    if (typeof text === "string") turn.values.unshift({ title: "user", side: "in", text, isJson: false });
    return true;
  }

  /** No event tells of it, such as of a read; the key says to which turn it belongs. */
  #keptAlone({ key, kind, name, startedAt, endedAt }: StepRecord): TraceItem {
    const parts = keyParts(key);
    let turn: TraceItem | undefined;
    for (let length = parts.length - 1; length > 0 && turn === undefined; length--) {
      turn = this.#byKey.get(parts.slice(0, length).join("/"))?.turn;
    }
    const item = this.#add({ key, kind, name, at: startedAt, turn: turn ?? this.#turnAt(startedAt) });
    if (endedAt !== undefined) this.#took(item, endedAt - startedAt);
    return item;
  }

  #turnAt(at: number): TraceItem | undefined {
    return this.all.findLast((item) => item.kind === "turn" && item.at <= at);
  }

  #beginTurn({ at }: EventOf<"run-start">): void {
    if (!this.#hasTurns) return;
    this.#turns++;
    this.#turn = undefined;
    this.#turn = this.#add({ key: `turn[${this.#turns}]`, kind: "turn", name: `turn ${this.#turns}`, at });
  }

  #endTurn({ at, status, error }: EventOf<"run-end">): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    turn.ms = at - turn.at;
    turn.state = status === "failed" ? "failed" : status === "stopped" ? "stopped" : "done";
    if (error !== undefined) turn.values.push(errorValue(error));
  }

  #beginStep({ key, kind, name, at, attempt }: EventOf<"step-start">): void {
    const known = this.#byKey.get(key);
    const item = known ?? this.#add({ key, kind, name, at });
    item.attempt = attempt;
    item.state = this.#unended;
    if (kind === "step") this.#byName.set(name, item);
  }

  #endStep(end: EventOf<"step-end">): void {
    const { key, ms, outcome, error, partial } = end;
    const item = this.#byKey.get(key);
    if (item === undefined) return;
    this.#took(item, ms);
    item.state = stepWord(end, { isAlive: this.#isAlive });
    if (error !== undefined) item.values.push(errorValue(error.message));
    else if (outcome !== undefined && outcome !== null) item.values.push(resultValue(outcome));
    if (partial !== undefined) item.notes.push(noteValue(BROKEN_OFF, partial));
  }

  #call(event: Exclude<CallEvent, EventOf<"call-log" | "call-progress">>): void {
    const call = callKey(event);
    if (event.type === "call-open") {
      this.#byCall.set(call, this.#openCall(event));
      return;
    }
    const item = this.#byCall.get(call);
    if (item === undefined) return;
    if (event.type === "call-run") {
      item.at = event.at;
      return;
    }
    if (event.type !== "call-skip") this.#took(item, event.at - item.at);
    item.state = event.type === "call-result" ? "done" : event.type === "call-error" ? "failed" : "skipped";
    item.values = [
      event.type === "call-result"
        ? resultValue(event.result)
        : errorValue(event.type === "call-error" ? event.error : event.reason),
    ];
  }

  /** Of two calls of one id only the first is the step of that key. */
  #openCall({ step, invocationId, gadgetName, dependencies, line, at }: EventOf<"call-open">): TraceItem {
    const own = callStep({ step, invocationId });
    const key = this.#byKey.has(own) ? `${own}@${line}` : own;
    const item = this.#add({ key, kind: "gadget", name: gadgetName, at });
    if (dependencies.length > 0) item.notes.push(noteValue("waits for", dependencies.join(", ")));
    return item;
  }

  #use({ step, input, output, cached, reasoning, cost, model }: EventOf<"usage">): void {
    const item = this.#byKey.get(step);
    if (item === undefined) return;
    const usage: Usage = {
      input,
      output,
      ...(cached === undefined ? {} : { cached }),
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(cost === undefined ? {} : { cost }),
    };
    item.usage = item.usage === undefined ? usage : addUsage(item.usage, usage);
    if (model !== item.name) item.notes.push(noteValue("answered by", model));
  }

  #merge({ step, mode, target, removed, inserted }: EventOf<"block-merge">): void {
    const where = mode === "replace" ? "in place of" : mode === "append" ? "appended to" : "before";
    const title = `${where} ${target ?? "itself"}`;
    if (removed !== "") this.#note(step, noteValue("removed", removed));
    this.#note(step, noteValue(title, inserted));
  }

  #wait({ step, at }: EventOf<"permission-ask">): void {
    const item = this.#byKey.get(step ?? "");
    if (item === undefined) return;
    if (this.#isAlive) item.state = "waits for you";
    this.#askedAt.set(item, at);
  }

  /** What a person thinks about is no time of the step. */
  #answered({ step, at }: EventOf<"permission-answer">): void {
    const item = this.#byKey.get(step ?? "");
    const askedAt = item && this.#askedAt.get(item);
    if (item === undefined || askedAt === undefined) return;
    this.#askedAt.delete(item);
    item.state = this.#unended;
    this.#waitedMs.set(item, (this.#waitedMs.get(item) ?? 0) + at - askedAt);
  }

  #took(item: TraceItem, ms: number): void {
    item.ms = Math.max(0, ms - (this.#waitedMs.get(item) ?? 0));
  }

  #permission(answer: EventOf<"permission-answer">): void {
    this.#answered(answer);
    const { subject, permissions, allowed, reason, at } = answer;
    const text = `${allowed ? "allowed" : "refused"} by ${reason}: ${permissions.join("; ")}`;
    const owner = this.#ownerOf(subject) ?? this.#ownerOf(`call:${subject}`);
    if (owner === undefined) this.#mark({ at }, { kind: "permission", key: subject, name: subject, text });
    else owner.notes.push(noteValue("permission", text));
  }

  /** A text of a model is the answer of its step already. */
  #note(step: string, value: TraceValue): void {
    const owner = this.#ownerOf(step);
    if (owner !== undefined && !(owner.kind === "model" && value.title === "says")) owner.notes.push(value);
  }

  #ownerOf(step: string): TraceItem | undefined {
    const owner = this.#byKey.get(step) ?? this.#byName.get(step);
    if (owner !== undefined) return owner;
    const parts = keyParts(step);
    for (let length = parts.length - 1; length > 0; length--) {
      const above = this.#byKey.get(parts.slice(0, length).join("/"));
      if (above !== undefined) return above;
    }
    return undefined;
  }

  #mark(
    { at }: { readonly at: number },
    { kind, key, name, text }: {
      readonly kind: TraceKind;
      readonly key: string;
      readonly name: string;
      readonly text?: string;
    },
  ): void {
    const owner = this.#byKey.get(key) ?? this.#byName.get(key);
    const item = this.#item({ key, kind, name, at, place: owner?.key ?? (this.#hasTurns ? "" : key) });
    item.state = kind === "skip" ? "skipped" : "note";
    if (text !== undefined && text !== "") item.notes.push(noteValue(NOTE_TITLES[kind] ?? kind, text));
  }

  #add(begun: Begun): TraceItem {
    const item = this.#item(begun);
    this.#byKey.set(item.key, item);
    return item;
  }

  #item({ key, kind, name, at, place = key, turn = this.#turn }: Begun): TraceItem {
    const item: TraceItem = {
      key,
      place,
      kind,
      name,
      state: this.#unended,
      at,
      attempt: 1,
      values: [],
      notes: [],
      turn,
    };
    this.all.push(item);
    return item;
  }
}

/** What an item begins with. */
interface Begun {
  readonly key: string;
  readonly kind: TraceKind;
  readonly name: string;
  readonly at: number;
  readonly place?: string;
  readonly turn?: TraceItem;
}

const NOTE_TITLES: { readonly [kind in TraceKind]?: string } = { skip: "condition", warning: "at" };

/** How steps have ended, by key; not one that has begun anew. */
export function stepEnds(events: readonly RunEvent[]): ReadonlyMap<string, EventOf<"step-end">> {
  const ends = new Map<string, EventOf<"step-end">>();
  for (const event of events) {
    if (event.type === "step-end") ends.set(event.key, event);
    else if (event.type === "step-start") ends.delete(event.key);
  }
  return ends;
}

function callKey({ step = "", invocationId, line }: CallEvent): string {
  return `${step} ${invocationId}@${line}`;
}

function placeOf({ file, line, column }: EventOf<"warning">): string {
  return [file, line, column].filter((part) => part !== undefined).join(":");
}
