// Answers every effect of a run from its record (turn.md 3): a journal that is full already, and knows in which order all of it came about.
// The record's lines are gone through in order: an outcome is given when its turn has come, a step that begins is waited for. Events leave
// in the record's order and with its times, whatever the order in which the engine comes to them.

import {
  ABORT_KEY,
  canonicalJson,
  Channel,
  eventLoopTurn,
  firstDifference,
  isJsonObject,
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
  withoutMedia,
} from "../../core/core.ts";

/** What a replay tells its run. */
export interface ReplayListener {
  /** An event of the record has its turn. `isInside`: of what was done inside of a step that is answered, so that nothing else shows it. */
  onEvent(event: RunEvent, place: { readonly isInside: boolean }): void;
  /** The run was interrupted here. */
  onAbort(reason: Error): void;
  /** The run is not the recorded one. */
  onDiverged(error: ReplayError): void;
}

type StepLine = Extract<RecordLine, { readonly type: "step" }>;

/** An engine that does not go on for so long waits for something that the record does not have. */
const IDLE_MS = 5_000;

/** These an engine tells also when all its steps are answered: the record does not go on before they are told. */
const AWAITED: ReadonlySet<RunEvent["type"]> = new Set(
  ["call-result", "call-error", "call-skip", "block-merge", "jump", "hold", "slot-set", "run-end"],
);
/** These come with what is performed, in pieces that chance has cut. */
const PASSING: ReadonlySet<RunEvent["type"]> = new Set([
  "text-delta",
  "reasoning-delta",
  "call-progress",
  "call-log",
]);

/** A record, gone through once. */
export class Replay {
  readonly id: string;
  readonly run: RunStart;
  /** The run's own source text, as it came. */
  readonly source = new Channel<string>();
  readonly #lines: readonly RecordLine[];
  readonly #recorded = new Map<string, StepLine>();
  /** Steps that were begun, and moments that are waited for, by their keys. */
  readonly #begun = new Map<string, PromiseWithResolvers<StepOutcome>>();
  readonly #outcomes = new Map<string, StepOutcome>();
  readonly #notes = new Map<string, Json[]>();
  /** Events that the engine has yet to come to, by what they say. */
  readonly #expected = new Map<string, number[]>();
  readonly #met = new Set<number>();
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
    for (const line of lines) {
      if (line.type === "step") this.#recorded.set(line.key, line);
      else if (line.type === "outcome") this.#outcomes.set(line.key, line.outcome);
      else if (line.type === "part" && !this.#recorded.has(line.key)) {
        const notes = this.#notes.get(line.key);
        if (notes === undefined) this.#notes.set(line.key, [line.part]);
        else notes.push(line.part);
      }
    }
    this.#lines = lines.map((line) => this.#withOutcome(line));
    for (let index = lines.length - 1; index >= 0; index--) {
      const line = lines[index];
      if (line?.type !== "event") continue;
      const key = eventKey(bodyOf(line.event));
      const places = this.#expected.get(key);
      if (places === undefined) this.#expected.set(key, [index]);
      else places.push(index);
    }
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
    if (this.#diverged !== undefined || PASSING.has(body.type)) return;
    const place = this.#expected.get(eventKey(body))?.pop();
    if (place === undefined) return this.#diverge(this.#unexpectedEvent(body));
    this.#met.add(place);
    this.#step();
  }

  /** The engine begins a step: it must be in the record, with the same input. Gives what came of it, when its turn has come. */
  begin(step: StepStart): Promise<StepOutcome> {
    const recorded = this.#recorded.get(step.key);
    if (recorded === undefined || stepKey(recorded) !== stepKey(step)) {
      this.#diverge(unexpectedStep(step, recorded));
    }
    return this.#waitFor(step.key);
  }

  /** Whether the record has this step. */
  has(key: string): boolean {
    return this.#recorded.has(key);
  }

  /** What was found when the run was recorded; a promise where the run was interrupted before. */
  lookUp(key: string): Json | Promise<Json> {
    const notes = this.#notes.get(key) ?? [];
    const note = notes.length > 1 ? notes.shift() : notes[0];
    return note === undefined ? this.#waitFor(key).then(() => null) : note;
  }

  /** Settles when what happened before this moment has happened. */
  async moment(key: string): Promise<void> {
    await this.#waitFor(key);
  }

  /** The run has told its last event: nothing of the record may be left. */
  end(): void {
    this.#isEnding = true;
    this.#isStepping = false;
    this.#step();
    clearTimeout(this.#idle);
    if (this.#at < this.#lines.length) this.#diverge(this.#missing());
  }

  #waitFor(key: string): Promise<StepOutcome> {
    const waiting = Promise.withResolvers<StepOutcome>();
    waiting.promise.catch(() => undefined);
    this.#begun.set(key, waiting);
    if (this.#diverged !== undefined) waiting.reject(this.#diverged);
    queueMicrotask(() => this.#step());
    return waiting.promise;
  }

  /** A model's failure, and the end of what a person said, came as the last part of a step. */
  #withOutcome(line: RecordLine): RecordLine {
    if (line.type !== "part" || this.#outcomes.has(line.key)) return line;
    const { key, part } = line;
    const kind = this.#recorded.get(key)?.kind;
    const outcome = kind === "model"
      ? failureIn(part)
      : kind === "ask" && part === null
      ? { ok: null }
      : undefined;
    if (outcome === undefined) return line;
    this.#outcomes.set(key, outcome);
    return { type: "outcome", key, outcome };
  }

  /** Goes on as far as the engine has come. */
  #step(): void {
    if (this.#isStepping || this.#diverged !== undefined || this.#listener === undefined) return;
    this.#isStepping = true;
    clearTimeout(this.#idle);
    while (this.#at < this.#lines.length && this.#advance(this.#at)) {
      const isInput = this.#lines[this.#at++]?.type === "outcome";
      if (isInput && !this.#isEnding && this.#lines[this.#at]?.type === "outcome") {
        // The second may come when the engine has done with the first.
        return void eventLoopTurn().then(() => {
          this.#isStepping = false;
          this.#step();
        });
      }
    }
    this.#isStepping = false;
    const last = this.#lines.at(-1);
    const isOver = this.#isEnding || (last?.type === "event" && last.event.type === "run-end");
    if (this.#at >= this.#lines.length) this.source.end();
    if (this.#at >= this.#lines.length && isOver) return;
    this.#idle = setTimeout(() => this.#diverge(this.#missing()), this.#leadMs() + this.#idleMs);
  }

  /** How much later than now the run came to what is next. */
  #leadMs(): number {
    if (this.#pacedFrom === undefined) return 0;
    const timeFrom = (index: number): number => {
      for (let at = index; at < this.#lines.length; at++) {
        const line = this.#lines[at];
        if (line?.type === "event") return line.event.at;
      }
      return 0;
    };
    return Math.max(0, timeFrom(this.#at) - timeFrom(0) - (performance.now() - this.#pacedFrom));
  }

  /** Whether the line at `index` is done with. */
  #advance(index: number): boolean {
    const line = this.#lines[index];
    const key = line && keyOf(line);
    const isInside = key !== undefined && this.#isInside(key);
    switch (line?.type) {
      case "event": {
        const { event } = line;
        const isAwaited = isToldAgain(event) && !isInside && !this.#isOfNoAnswer(key);
        if (isAwaited && !this.#met.has(index)) return this.#blockedAt(key);
        this.#listener?.onEvent(event, { isInside });
        return true;
      }
      case "step":
        if (isInside || this.#begun.has(line.key)) return true;
        return (line.kind !== "model" && this.#isOfNoAnswer(key)) || this.#blockedAt(key);
      case "source":
        this.source.push(line.text);
        return true;
      case "part":
        return isInside || this.#passPart(line.key, line.part);
      case "outcome":
        if (!isInside) this.#begun.get(line.key)?.resolve(line.outcome);
        return true;
      default:
        return true;
    }
  }

  /** Calls of an answer may have begun before its end: then it is given before. */
  #blockedAt(key: string | undefined): false {
    const model = this.#answerWith(key);
    const outcome = this.#outcomes.get(model);
    if (outcome !== undefined) this.#begun.get(model)?.resolve(outcome);
    return false;
  }

  /** Of what was done inside of a call or a step that is answered. */
  #isInside(key: string): boolean {
    for (let at = key.indexOf("/"); at >= 0; at = key.indexOf("/", at + 1)) {
      const outer = this.#recorded.get(key.slice(0, at))?.kind;
      if (outer === "gadget" || outer === "step") return true;
    }
    return false;
  }

  /** Of what an answer has called that was never whole: an engine does not come to it. */
  #isOfNoAnswer(key: string | undefined): boolean {
    const model = this.#answerWith(key);
    return model !== "" && !this.#outcomes.has(model);
  }

  /** The key of the answer that a key is of, or of what the answer has called; nothing for others. */
  #answerWith(key = ""): string {
    const model = key.replace(/(?:^|(?<=\/))(?:call:[^/]*|closed)$/, "model");
    return this.#recorded.get(model)?.kind === "model" ? model : "";
  }

  #passPart(key: string, part: Json): boolean {
    if (key === SOURCE_END_KEY) this.source.end();
    else if (key === SOURCE_ERROR_KEY) this.source.fail(new Error(String(part)));
    else if (key === ABORT_KEY) this.#listener?.onAbort(new Error(String(part)));
    else if (/(?:^|\/)closed$/.test(key) && !this.#recorded.has(key) && !this.#isOfNoAnswer(key)) {
      this.#begun.get(key)?.resolve({ ok: null });
      return this.#begun.delete(key);
    }
    return true;
  }

  #diverge(error: ReplayError): void {
    if (this.#diverged !== undefined) return;
    this.#diverged = error;
    clearTimeout(this.#idle);
    this.source.end();
    for (const { reject } of this.#begun.values()) reject(error);
    this.#listener?.onDiverged(error);
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

/** Whether an engine tells of it although all its steps are answered. A call that could not be read whole is no part of an answer. */
function isToldAgain(event: RunEvent): boolean {
  if (event.type === "call-open") return event.step === undefined;
  return AWAITED.has(event.type) && !(event.type === "call-error" && event.code === "parse");
}

/** The failure of a model, where a part is one. */
function failureIn(part: Json): StepOutcome | undefined {
  if (!isJsonObject(part) || part.type !== "problem") return undefined;
  const { message, code, flag } = part;
  return {
    error: { message: String(message), code: String(code), ...(typeof flag === "string" && { flag }) },
  };
}

function unexpectedStep(step: StepStart, recorded: StepLine | undefined): ReplayError {
  if (recorded === undefined) {
    return new ReplayError(
      `The record has no step "${step.key}" (${step.kind} ${step.name}), which the run wants now: ` +
        `the files or the version are not those it was recorded with`,
    );
  }
  const { type: _, ...was } = recorded;
  return new ReplayError(`Step "${step.key}" is not the recorded one: ${firstDifference(was, { ...step })}`);
}

/** The key of what a line tells of. */
function keyOf(line: RecordLine): string | undefined {
  if ("key" in line) return line.key;
  if (line.type !== "event") return undefined;
  return "key" in line.event ? line.event.key : "step" in line.event ? line.event.step : undefined;
}

function bodyOf({ seq: _seq, at: _at, run: _run, ...body }: RunEvent): RunEventBody {
  return body;
}

/** Whether it may be done twice is nothing that a replay could know, or needs to. An older record has media in the step. */
function stepKey({ key, kind, name, input }: StepStart): string {
  return canonicalJson({ key, kind, name, input: withoutMedia(input) });
}

/** How long a step took is the record's to say. */
function eventKey(body: RunEventBody): string {
  return canonicalJson(body.type === "step-end" ? { ...body, ms: 0 } : body);
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 200 ? text : `${text.slice(0, 199)}…`;
}
