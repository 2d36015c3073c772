// Answers every effect of a run from its record (turn.md 3). The record's lines are gone through in order: what came in from outside is
// handed to the engine, what the engine did is waited for. Events leave in the record's order and with its times, whatever the
// order in which the engine comes to them.

import {
  ABORT_KEY,
  canonicalJson,
  Channel,
  firstDifference,
  type Json,
  type RecordLine,
  ReplayError,
  type RunEvent,
  type RunEventBody,
  type RunStart,
  SOURCE_END_KEY,
  SOURCE_ERROR_KEY,
  type StepOutcome,
  type StepStart,
  TOLD_KEY,
} from "../../core/core.ts";

/** A step as a record answers it. */
export interface ReplayedStep {
  readonly attempt: number;
  /** What came of it before its end. */
  readonly parts: AsyncIterable<Json>;
  readonly outcome: Promise<StepOutcome>;
}

/** What a replay tells its run. */
export interface ReplayListener {
  /** An event of the record has its turn. */
  onEvent(event: RunEvent): void;
  /** An event came from outside the run. */
  onTold(body: RunEventBody): void;
  /** The run was interrupted here. */
  onAbort(reason: Error): void;
  /** The run is not the recorded one. */
  onDiverged(error: ReplayError): void;
}

interface WaitingStep {
  readonly parts: Channel<Json>;
  readonly outcome: PromiseWithResolvers<StepOutcome>;
}

/** An engine that does not go on for so long waits for something that the record does not have. */
const IDLE_MS = 5_000;
/** More than the promises that stand behind each other anywhere in the engines. */
const SETTLING_TURNS = 50;

/** A record, gone through once. */
export class Replay {
  readonly id: string;
  readonly run: RunStart;
  /** The run's own source text, as it came. */
  readonly source = new Channel<string>();
  readonly #lines: readonly RecordLine[];
  readonly #steps = new Map<string, WaitingStep>();
  readonly #lookUps = new Map<string, PromiseWithResolvers<Json>>();
  /** Lines of the record that the engine has yet to come to, by what it will say. */
  readonly #expected = new Map<string, number[]>();
  readonly #met = new Set<number>();
  readonly #inside: InsideLines;
  /** Warnings that were let out before the engine came to them, or that it need not come to, by what it would say. */
  readonly #borrowed = new Map<string, number>();
  readonly #attempts = new Map<string, number>();
  #listener: ReplayListener | undefined;
  #at = 0;
  #isStepping = false;
  #isEnding = false;
  #diverged: ReplayError | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  readonly #idleMs: number;
  /** When the replay of a program began. */
  #pacedFrom: number | undefined;

  /** @param lines All lines behind the first, which is `run`. */
  constructor(
    run: RunStart & { readonly id: string },
    lines: readonly RecordLine[],
    { idleMs = IDLE_MS }: { readonly idleMs?: number } = {},
  ) {
    this.id = run.id;
    this.#idleMs = idleMs;
    this.run = run;
    this.#lines = lines;
    this.#inside = insideLines(lines);
    lines.forEach((line, index) => {
      if (line.type === "event" && line.event.type === "step-start") {
        this.#attempts.set(line.event.key, line.event.attempt);
      }
      const key = expectationOf(line);
      if (key === undefined || (line.type === "step" && this.#inside.has(index))) return;
      const places = this.#expected.get(key);
      if (places === undefined) this.#expected.set(key, [index]);
      else places.push(index);
    });
    for (const places of this.#expected.values()) places.reverse();
  }

  /** A program runs that may wait for timers of its own: it is given as long as it took then. */
  keepsPace(): void {
    this.#pacedFrom = performance.now();
  }

  listen(listener: ReplayListener): void {
    this.#listener = listener;
    this.#step();
  }

  /** The engine tells an event: it must be one of the record. */
  tell(body: RunEventBody): void {
    if (this.#diverged !== undefined) return;
    const key = eventKey(body);
    if (!this.#meet(key) && !this.#giveBack(key)) this.#diverge(this.#unexpectedEvent(body));
    this.#step();
  }

  /** The engine begins a step: it must be in the record, with the same input. */
  begin(step: StepStart): ReplayedStep {
    const waiting: WaitingStep = { parts: new Channel(), outcome: Promise.withResolvers() };
    waiting.outcome.promise.catch(() => undefined);
    if (this.#diverged !== undefined) {
      waiting.parts.fail(this.#diverged);
      waiting.outcome.reject(this.#diverged);
    }
    this.#steps.set(step.key, waiting);
    if (this.#diverged === undefined && !this.#meet(stepKey(step))) {
      this.#diverge(this.#unexpectedStep(step));
    }
    queueMicrotask(() => this.#step());
    return {
      attempt: this.#attempts.get(step.key) ?? 1,
      parts: waiting.parts,
      outcome: waiting.outcome.promise,
    };
  }

  /** What was found when the run was recorded; not a promise where it was not one then. */
  lookUp(key: string): Json | Promise<Json> {
    const line = this.#lines[this.#at];
    if (line?.type === "part" && line.key === key) {
      this.#at++;
      queueMicrotask(() => this.#step());
      return line.part;
    }
    if (this.#diverged !== undefined) return Promise.reject(this.#diverged);
    const waiting = Promise.withResolvers<Json>();
    waiting.promise.catch(() => undefined);
    this.#lookUps.set(key, waiting);
    queueMicrotask(() => this.#step());
    return waiting.promise;
  }

  /** The run has told its last event: nothing of the record may be left. */
  end(): void {
    this.#isEnding = true;
    this.#isStepping = false;
    this.#step();
    clearTimeout(this.#idle);
    if (this.#at < this.#lines.length) this.#diverge(this.#missing());
  }

  #meet(key: string): boolean {
    const place = this.#expected.get(key)?.pop();
    if (place === undefined) return false;
    this.#met.add(place);
    return true;
  }

  /** An event of what is done inside of a call or a step that is not performed: nobody else tells it. */
  #tellFromInside(index: number, event: RunEvent): void {
    if (this.#inside.has(index)) return this.#listener?.onTold(bodyOf(event));
    if (event.type !== "warning" || !this.#inside.mayHold(index)) return;
    const key = eventKey(bodyOf(event)); // it does not say where it comes from
    if (this.#meet(key)) this.#borrowed.set(key, (this.#borrowed.get(key) ?? 0) + 1);
  }

  #giveBack(key: string): boolean {
    const left = this.#borrowed.get(key) ?? 0;
    if (left > 0) this.#borrowed.set(key, left - 1);
    return left > 0;
  }

  /** Goes on as far as the engine has come. */
  #step(): void {
    if (this.#isStepping || this.#diverged !== undefined || this.#listener === undefined) return;
    this.#isStepping = true;
    clearTimeout(this.#idle);
    while (this.#at < this.#lines.length && this.#advance(this.#at)) {
      const isInput = this.#isInput(this.#at++);
      if (isInput && !this.#isEnding && this.#isInput(this.#at)) return void this.#settle(SETTLING_TURNS);
    }
    this.#isStepping = false;
    if (this.#at < this.#lines.length) {
      this.#waitIdle();
    } else this.#atEnd();
  }

  /** A record that was cut off has no end of the run, and what the engine still waits for does not come. */
  #atEnd(): void {
    this.source.end();
    const last = this.#lines.at(-1);
    if (this.#isEnding || (last?.type === "event" && last.event.type === "run-end")) return;
    if (this.#lookUps.size > 0) this.#diverge(this.#missing());
    else this.#waitIdle();
  }

  #waitIdle(): void {
    this.#idle = setTimeout(() => this.#diverge(this.#missing()), this.#leadMs() + this.#idleMs);
  }

  /** How much later than now the run came to what is next. */
  #leadMs(): number {
    if (this.#pacedFrom === undefined) return 0;
    const [first, next] = [this.#eventAt(0), this.#eventAt(this.#at)];
    if (first === undefined || next === undefined) return 0;
    return Math.max(0, next - first - (performance.now() - this.#pacedFrom));
  }

  /** ms of the run's own time of the first event from there on. */
  #eventAt(index: number): number | undefined {
    for (let at = index; at < this.#lines.length; at++) {
      const line = this.#lines[at];
      if (line?.type === "event") return line.event.at;
    }
    return undefined;
  }

  /** Two inputs in a row: the second may come when the engine has done with the first. */
  #settle(turns: number): void {
    if (turns > 0 && !this.#isEnding) return queueMicrotask(() => this.#settle(turns - 1));
    this.#isStepping = false;
    this.#step();
  }

  #isInput(index: number): boolean {
    const type = this.#lines[index]?.type;
    return type === "source" || type === "part" || type === "outcome";
  }

  /** Whether the line at `index` is done with. */
  #advance(index: number): boolean {
    const line = this.#lines[index];
    if (line !== undefined && line.type !== "event" && this.#inside.has(index)) return true;
    switch (line?.type) {
      case "event":
        if (!this.#met.has(index)) this.#tellFromInside(index, line.event);
        if (!this.#met.has(index)) return false;
        this.#listener?.onEvent(line.event);
        return true;
      case "step":
        return this.#met.has(index);
      case "source":
        this.source.push(line.text);
        return true;
      case "part":
        return this.#givePart(line.key, line.part);
      case "outcome": {
        const step = this.#steps.get(line.key);
        step?.parts.end();
        step?.outcome.resolve(line.outcome);
        return step !== undefined;
      }
      default:
        return true;
    }
  }

  #givePart(key: string, part: Json): boolean {
    if (key === SOURCE_END_KEY) {
      this.source.end();
      return true;
    }
    if (key === SOURCE_ERROR_KEY) {
      this.source.fail(new Error(String(part)));
      return true;
    }
    if (key === TOLD_KEY) {
      const told = this.#lines[this.#at + 1]; // the event it became
      if (told?.type === "event") this.#listener?.onTold(bodyOf(told.event));
      return true;
    }
    if (key === ABORT_KEY) {
      this.#listener?.onAbort(new Error(String(part)));
      return true;
    }
    const lookUp = this.#lookUps.get(key);
    if (lookUp !== undefined) {
      this.#lookUps.delete(key);
      lookUp.resolve(part);
      return true;
    }
    const step = this.#steps.get(key);
    step?.parts.push(part);
    return step !== undefined;
  }

  #diverge(error: ReplayError): void {
    if (this.#diverged !== undefined) return;
    this.#diverged = error;
    clearTimeout(this.#idle);
    this.source.end();
    for (const { parts, outcome } of this.#steps.values()) {
      parts.fail(error);
      outcome.reject(error);
    }
    for (const { reject } of this.#lookUps.values()) reject(error);
    this.#listener?.onDiverged(error);
  }

  #unexpectedStep(step: StepStart): ReplayError {
    const recorded = this.#lines.find((line) => line.type === "step" && line.key === step.key);
    if (recorded === undefined || recorded.type !== "step") {
      return new ReplayError(
        `The record has no step "${step.key}" (${step.kind} ${step.name}), which the run wants now: ` +
          `the files or the version are not those it was recorded with`,
      );
    }
    const { type: _, ...was } = recorded;
    return new ReplayError(
      `Step "${step.key}" is not the recorded one: ${firstDifference(was, { ...step })}`,
    );
  }

  #unexpectedEvent(body: RunEventBody): ReplayError {
    const next = this.#lines.find((line, index) =>
      line.type === "event" && index >= this.#at && !this.#met.has(index) && line.event.type === body.type
    );
    if (next?.type !== "event") {
      return new ReplayError(
        `The record has no more "${body.type}", which the run tells now: ${short(body)}`,
      );
    }
    return new ReplayError(`An event is not the recorded one: ${firstDifference(bodyOf(next.event), body)}`);
  }

  #missing(): ReplayError {
    const line = this.#lines[this.#at];
    if (line === undefined) return new ReplayError("The record ends before the run does: it was cut off");
    const what = line.type === "step" ? `the step "${line.key}"` : short(line);
    return new ReplayError(`The record goes on with ${what}, and the run did not come to it`);
  }
}

/** Which lines of a record tell of what was done inside of gadgets' calls and steps: those are answered, so nothing asks for it. */
interface InsideLines {
  has(index: number): boolean;
  /** While something was done inside: a line that does not say where it is from may be of that. */
  mayHold(index: number): boolean;
}

/** What stands below the key of a call or a step when something is done inside of it. */
const INSIDE = /\/(?:dialog\[|fork\[|agent\[|tactic\[|step:|tool:|tools$)/g;

function insideLines(lines: readonly RecordLine[]): InsideLines {
  const answered = new Set<string>();
  const inside = new Set<number>();
  const spans = new Map<string, { readonly from: number; to: number }>();
  for (const [index, line] of lines.entries()) {
    const key = keyOf(line);
    if (key === undefined) continue;
    if (line.type === "step" && line.kind !== "model") answered.add(key);
    for (const { index: at } of key.matchAll(INSIDE)) {
      const outer = key.slice(0, at);
      if (!answered.has(outer)) continue;
      inside.add(index);
      const span = spans.get(outer);
      if (span === undefined) spans.set(outer, { from: index, to: lines.length });
      else if (span.to < index) span.to = index; // it goes on behind the end of the call
      break;
    }
    const ended = line.type === "outcome" ? spans.get(key) : undefined;
    if (ended !== undefined) ended.to = index;
  }
  return {
    has: (index) => inside.has(index),
    mayHold: (index) => [...spans.values()].some(({ from, to }) => from < index && index < to),
  };
}

/** The key of what a line tells of. */
function keyOf(line: RecordLine): string | undefined {
  switch (line.type) {
    case "step":
    case "part":
    case "outcome":
      return line.key;
    case "event":
      return "key" in line.event ? line.event.key : "step" in line.event ? line.event.step : undefined;
    case "run":
    case "source":
      return undefined;
    default:
      return line satisfies never;
  }
}

/** What the engine will say when it comes to a line; undefined for what it is given. */
function expectationOf(line: RecordLine): string | undefined {
  if (line.type === "step") {
    return stepKey(line);
  }
  if (line.type !== "event") return undefined;
  return eventKey(bodyOf(line.event));
}

function bodyOf({ seq: _seq, at: _at, run: _run, ...body }: RunEvent): RunEventBody {
  return body;
}

/** Whether it may be done twice is nothing that a replay could know, or needs to. */
function stepKey({ key, kind, name, input }: StepStart): string {
  return `step ${canonicalJson({ key, kind, name, input })}`;
}

/** How long a step took is the record's to say. */
function eventKey(body: RunEventBody): string {
  return `event ${canonicalJson(body.type === "step-end" ? { ...body, ms: 0 } : body)}`;
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 200 ? text : `${text.slice(0, 199)}…`;
}
