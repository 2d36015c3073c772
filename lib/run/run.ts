// One run: the one door for its effects and its events. What goes out is masked, stored and recorded here; what comes in from a
// journal or a record comes in here. The engines know nothing of either.
import {
  ABORT_KEY,
  abortableWait,
  addUsage,
  type BeginOptions,
  Channel,
  type Clock,
  DivergedError,
  type Effort,
  type JournalStatus,
  type Json,
  type LinkedSignal,
  linkedSignal,
  messageOf,
  PausableClock,
  type Recorder,
  type RunEvent,
  type RunEventBody,
  type RunJournal,
  type RunKind,
  type RunStatus,
  type Secrets,
  type StepOutcome,
  type StepStart,
  type StepTurn,
  systemClock,
  toJson,
  TOLD_KEY,
  type Usage,
} from "../core/core.ts";
import { ABORTED } from "../schedule/scheduler.ts";
import type { Containers } from "./calls/container.ts";
import { createOutbox, eventIdentity, type Outbox } from "./outbox.ts";
import type { Replay } from "./replay/replay.ts";
import type { DrainRun, RunDrain } from "./drain.ts";

/** What every engine takes besides its own options. */
export interface RunOptions {
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Aborts the run; it stays resumable when it has a journal. */
  readonly signal?: AbortSignal;
  /** Aborts it too, and is aborted by the run itself when that cannot go on. Default: one of its own. */
  readonly stop?: AbortController;
  /** Stops the run when what is under way has come to its end: no other step begins. Where nobody keeps its steps it does nothing. */
  readonly drain?: DrainRun;
  /** How hard its models think, whatever files and profiles say. Default: as they say. */
  readonly effort?: Effort;
  /** What its events name it by. Default: that of the journal or the record, else a random one. */
  readonly id?: string;
  /** Where its steps survive; it is released at the end. Default: nowhere. */
  readonly journal?: RunJournal;
  /** Taken out of everything that is kept, told or sent on. */
  readonly secrets?: Secrets;
  /** Gets everything that comes in and every event. */
  readonly recorder?: Recorder;
  /** Gets every event, and every step with its input, as a recorder does; nothing else comes of it. */
  readonly observer?: RunObserver;
  /** Answers every effect; nothing is performed. */
  readonly replay?: Replay;
  /** Tells of questions to the user. */
  readonly approvals?: { follow(run: Run): void };
  /** Gives what does what its calls contain, such as a prompt, when the first one does. Default: nothing can run in a call. */
  readonly containers?: () => Promise<Containers>;
}

/** Follows a run. */
export interface RunObserver extends Recorder {
  /** What was told before this process took the run over. */
  before(event: RunEvent): void;
}

/** What an engine is to do with a step. */
export type Begun =
  | Exclude<StepTurn, { readonly do: "answer" }>
  /** It was done; a replay gives what came of it when its turn has come. */
  | {
    readonly do: "answer";
    readonly outcome: StepOutcome | Promise<StepOutcome>;
    readonly ms: number;
  };

/** How a run ended. */
export interface RunEnd {
  readonly status: RunStatus;
  readonly value?: Json;
  readonly error?: string;
  readonly reason?: string;
  /** Of a document: its text as it is now. */
  readonly document?: string;
  /** Default: as `status`. `stopped` keeps a run resumable that has failed for a reason outside of it. */
  readonly keepAs?: JournalStatus;
}

const NO_USAGE: Usage = { input: 0, output: 0 };

/** A run under way. */
export class Run {
  readonly id: string;
  readonly clock: Clock;
  /** For the time limits of calls: it stands while the user is asked something. */
  readonly limitClock: PausableClock;
  /** Aborted from outside, when the reader of the events leaves, and when the journal cannot be written. */
  readonly signal: AbortSignal;
  readonly events: Channel<RunEvent>;
  readonly #options: RunOptions;
  readonly #stop: AbortController;
  readonly #linked: LinkedSignal | undefined;
  /** Aborted when the run has ended: its record is whole then. */
  readonly #over = new AbortController();
  readonly #outbox: Outbox;
  readonly #drain: RunDrain | undefined;
  /** Steps under way that read something. */
  #reads: Set<string> | undefined;
  /** What was told before this process took the run over, and how often: a loop may tell the same again. */
  #told: Map<string, number> | undefined;
  readonly #startedAt: number;
  #containers: Promise<Containers> | undefined;
  #seq: number;
  #usage: Usage;
  #modelCalls = 0;
  /** Why nothing may go on: the journal cannot be written, or the run is not the recorded one. */
  #broken: { readonly error: string; readonly reason: string } | undefined;

  constructor(options: RunOptions) {
    const { journal, signal, replay } = options;
    const clock = replay === undefined ? options.clock ?? systemClock : STANDING_CLOCK;
    this.#options = options;
    this.#usage = journal?.usage ?? NO_USAGE;
    this.clock = clock;
    this.limitClock = new PausableClock(clock);
    this.id = replay?.id ?? journal?.id ?? options.id ?? crypto.randomUUID();
    this.events = new Channel({ onReturn: () => this.#stop.abort() });
    this.#stop = options.stop ?? new AbortController();
    this.signal = this.#stop.signal;
    if (signal !== undefined && signal !== this.signal) this.#linked = linkedSignal([signal], this.#stop);
    if (journal !== undefined) this.#drain = options.drain?.((reason) => this.#stop.abort(reason));
    if (options.recorder !== undefined) { // before anybody else hears of it
      const onAbort = (): void => this.part(ABORT_KEY, messageOf(this.signal.reason));
      this.signal.addEventListener("abort", onAbort, { once: true, signal: this.#over.signal });
    }
    this.#outbox = createOutbox(this.events, { journal, onError: (error) => this.#onJournalError(error) });
    this.#seq = journal?.lastSeq ?? 0;
    this.#startedAt = clock.now() - (journal?.lastAt ?? 0);
    for (const event of journal?.events ?? []) if (event.type !== "run-end") this.#takeBack(event);
  }

  /** How hard its models think, whatever else says so. */
  get effort(): Effort | undefined {
    return this.#options.effort;
  }

  /** Tokens of all model calls so far. */
  get usage(): Usage {
    return this.#usage;
  }

  /** How often a model was asked, before a resume included. */
  get modelCalls(): number {
    return this.#modelCalls;
  }

  /** ms since the run began, those before a resume included. */
  get elapsedMs(): number {
    return this.clock.now() - this.#startedAt;
  }

  /** The process is about to end, and a step did not begin because of it: nothing that follows from that is to count. */
  get hasRefused(): boolean {
    return this.#drain?.hasRefused === true;
  }

  /** Somebody keeps what its steps are, or follows them: a journal, a record, an observer; or a record answers them. */
  get isKept(): boolean {
    const { journal, recorder, observer, replay } = this.#options;
    return [journal, recorder, observer, replay].some((each) => each !== undefined);
  }

  /** A record is replayed that has no such step: it was made when there was none. */
  lacks(key: string): boolean {
    return this.#options.replay?.has(key) === false;
  }

  get isRecording(): boolean {
    return this.#options.recorder !== undefined;
  }

  start(kind: RunKind, file: string | undefined): void {
    this.#options.approvals?.follow(this);
    const { replay } = this.#options;
    replay?.listen({
      onEvent: (event, { isInside }) => {
        if (event.type === "usage") this.#usage = addUsage(this.#usage, event);
        if (isInside && event.type === "step-start" && event.kind === "model") this.#modelCalls++;
        this.events.push(event);
      },
      onAbort: (reason) => this.#stop.abort(reason),
      onDiverged: (error) => this.#break({ error: error.message, reason: "diverged" }),
    });
    this.emit({ type: "run-start", kind, ...(file === undefined ? {} : { file }) });
  }

  /** Tells an event, unless it was told before the run was resumed. */
  emit(body: RunEventBody): void {
    const { secrets, recorder, observer, replay } = this.#options;
    const masked = secrets === undefined ? body : secrets.maskJson(body);
    if (replay !== undefined) return replay.tell(masked);
    if (this.#wasTold(masked)) return;
    if (masked.type === "usage") this.#usage = addUsage(this.#usage, masked);
    const at = Math.round(this.elapsedMs * 1000) / 1000;
    const event: RunEvent = { ...masked, seq: ++this.#seq, at, run: this.id };
    recorder?.write({ type: "event", event });
    observer?.write({ type: "event", event });
    this.#outbox.push(event, { isKept: !isOfAbort(event) && this.#drain?.keeps(event) !== false });
  }

  /**
   * Says what is about to happen, and hears whether it has happened already. What `isDeferred`, since somebody has to be asked first, is
   * durable when {@linkcode begins} has returned.
   *
   * @throws {DivergedError}; {Error} when the journal cannot be written
   */
  beginStep(step: StepStart, options: BeginOptions = {}): Begun {
    const { journal, recorder, observer, replay } = this.#options;
    const masked = this.mask(step);
    if (step.kind === "model") this.#modelCalls++;
    if (replay !== undefined) return { do: "answer", outcome: replay.begin(masked), ms: 0 };
    recorder?.write({ type: "step", ...masked });
    observer?.write({ type: "step", ...masked });
    if (journal === undefined) return { do: "perform", attempt: 1 };
    if (this.#drain?.refuses() === true) throw this.#drain.reason;
    if (options.isDeferred) this.#outbox.beforeStep({ isRead: false }); // its commit would keep that start too
    const turn = this.#turnOf(journal, masked, options);
    if (turn.do === "perform") this.#drain?.began(step.key);
    const isRead = step.kind === "read";
    if (isRead) (this.#reads ??= new Set()).add(step.key);
    this.#outbox.beforeStep({ isRead });
    this.#assertWhole();
    return turn;
  }

  /** Whoever called, such as a tactic, may swallow what is thrown: the run is told that it is not the recorded one. */
  #turnOf(journal: RunJournal, step: StepStart, options: BeginOptions): StepTurn {
    try {
      return journal.begin(step, options);
    } catch (error) {
      if (error instanceof DivergedError) this.diverged(error);
      throw error;
    }
  }

  /** Something of a deferred step is about to happen. @throws {Error} when the journal cannot be written */
  begins(): void {
    this.#outbox.flush();
    this.#assertWhole();
  }

  /** Does what others can see, once all that it follows from is durable. */
  onceKept<Result>(work: () => Result | Promise<Result>): Result | Promise<Result> {
    return this.#options.journal?.whenKept?.()?.then(work) ?? work();
  }

  /**
   * What came of a step, and the events that tell of it. It is durable before another step begins, but for a read behind a read, and before
   * it is told to anybody.
   */
  endStep(key: string, outcome: StepOutcome, tell?: () => void): void {
    const { recorder } = this.#options;
    const masked = this.mask(outcome);
    recorder?.write({ type: "outcome", key, outcome: masked });
    this.#outbox.end(key, masked, { isRead: this.#reads?.delete(key) === true });
    if (this.#drain === undefined) return tell?.();
    this.#drain.whileKept(() => tell?.());
    this.#drain.ended(key);
  }

  /** Something that came of a step before its end, for the record. */
  part(key: string, part: Json): void {
    this.#options.recorder?.write({ type: "part", key, part: this.mask(part) });
  }

  /** An event that does not follow from anything in the run itself. */
  tellOutside(body: RunEventBody): void {
    this.part(TOLD_KEY, toJson(body));
    this.emit(body);
  }

  /** What a model has said since its last whole call, as far as this one: committed with the next commit. */
  prefix(key: string, piece: () => Json): void {
    const { journal } = this.#options;
    if (journal !== undefined) this.#keep(() => journal.prefix(key, this.mask(piece())));
  }

  /**
   * Something that has to be known and is no effect, such as what a gadget takes: a record keeps it as `note` writes it down, and a
   * replay has it as `from` reads it.
   */
  lookUp<Value>(
    key: string,
    look: () => Value | Promise<Value>,
    { note, from }: { readonly note: (value: Value) => Json; readonly from: (noted: Json) => Value },
  ): Value | Promise<Value> {
    const { replay } = this.#options;
    if (replay !== undefined) {
      const noted = replay.lookUp(key);
      return noted instanceof Promise ? noted.then(from) : from(noted);
    }
    const found = look();
    if (!this.isRecording) return found;
    const keep = (value: Value): Value => {
      this.part(key, note(value));
      return value;
    };
    return found instanceof Promise ? found.then(keep) : keep(found);
  }

  /** A moment on which it depends what happens: a replay waits for it. */
  moment(key: string): undefined | Promise<void> {
    this.part(key, null);
    return this.#options.replay?.moment(key);
  }

  /** Text of the run's own source, as it comes; a source that cannot be read twice is kept. */
  source(text: string, options: { readonly path: string; readonly isReadOnce: boolean }): void {
    const { journal, recorder } = this.#options;
    recorder?.write({ type: "source", text });
    if (options.isReadOnce && journal !== undefined) {
      this.#keep(() => journal.file({ path: options.path, text }));
    }
  }

  mask<Value>(value: Value): Value {
    return this.#options.secrets?.maskJson(value) ?? value;
  }

  get secrets(): Secrets | undefined {
    return this.#options.secrets;
  }

  /** Undefined where nothing can run in a call. */
  get containers(): Promise<Containers> | undefined {
    return this.#containers ??= this.#options.containers?.();
  }

  /** Something in it is not what the journal has: nothing may go on, and the run stays resumable. */
  diverged(error: DivergedError): void {
    this.#break({ error: error.message, reason: "diverged" });
  }

  /** The last event; the journal is released with it. */
  end(end: RunEnd): void {
    const { keepAs, ...told } = end; // how it is kept is told to nobody
    const broken = this.#broken;
    const isDrained = this.hasRefused;
    const body = broken !== undefined
      ? { status: "failed" as const, ...broken }
      : isDrained
      ? { ...told, status: "stopped" as const, reason: "interrupted" }
      : told;
    const { journal, replay } = this.#options;
    this.#drain?.[Symbol.dispose]();
    const usage = this.#usage;
    this.#outbox.last(
      () =>
        replay === undefined || broken === undefined
          ? this.emit({ type: "run-end", ...body, usage })
          : undefined,
      {
        keep: () =>
          journal === undefined ? undefined : this.#keep(() =>
            journal.release(
              this.#hasDiverged || isDrained ? "stopped" : keepAs ?? keptStatus(told.status),
              usage,
            )
          ),
        amend: (event) => this.#amended(event),
      },
    );
    replay?.end();
    if (replay !== undefined && this.#broken !== undefined) {
      this.events.push({
        type: "run-end",
        status: "failed",
        ...this.#broken,
        usage,
        seq: 0,
        at: 0,
        run: this.id,
      });
    }
    this.#linked?.[Symbol.dispose]();
    this.#over.abort();
    this.#outbox.close();
  }

  /** A run whose end could not be kept is not done. */
  #amended(event: RunEvent): RunEvent {
    if (event.type !== "run-end" || this.#broken === undefined) return event;
    return { ...event, status: "failed", ...this.#broken };
  }

  /** An event of before: it goes out as it was. */
  #takeBack(event: RunEvent): void {
    const identity = eventIdentity(event);
    const told = this.#told ??= new Map();
    told.set(identity, (told.get(identity) ?? 0) + 1);
    if (event.type === "usage") this.#usage = addUsage(this.#usage, event);
    this.#options.observer?.before(event);
    this.events.push(event);
  }

  #wasTold(event: RunEventBody): boolean {
    const told = this.#told;
    if (told === undefined || told.size === 0) return false;
    const identity = eventIdentity(event);
    const left = told.get(identity) ?? 0;
    if (left > 1) told.set(identity, left - 1);
    else told.delete(identity);
    return left > 0;
  }

  #keep(work: () => void): void {
    if (this.#broken !== undefined && !this.#hasDiverged) return;
    try {
      work();
    } catch (error) {
      this.#onJournalError(error);
    }
  }

  #assertWhole(): void {
    if (this.#broken !== undefined) throw new Error(this.#broken.error);
  }

  get #hasDiverged(): boolean {
    return this.#broken?.reason === "diverged";
  }

  #onJournalError(error: unknown): void {
    this.#break({ error: `The journal could not be written: ${messageOf(error)}`, reason: "journal" });
  }

  #break(broken: { readonly error: string; readonly reason: string }): void {
    this.#broken ??= broken;
    this.#stop.abort(new Error(broken.error));
  }
}

function keptStatus(status: RunStatus): JournalStatus {
  return status === "completed" ? "done" : status;
}

/** No outcome: the call runs again when the run goes on. */
function isOfAbort(event: RunEvent): boolean {
  return (event.type === "call-error" && event.code === "abort") ||
    (event.type === "call-skip" && event.reason === ABORTED);
}

/** A replay takes its times from its record, and nothing in it may be cut short by one. */
const STANDING_CLOCK: Clock = {
  now: () => 0,
  sleep: (_ms, signal) => abortableWait(signal, () => () => undefined),
};
