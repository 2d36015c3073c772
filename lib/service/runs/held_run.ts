// The middle of a run: its engine tells here what happens and never waits; whoever wants to know reads from here, as fast as they can.
import { addUsage, type RunEvent, type RunStatus, toldMs, type Usage } from "../../core/core.ts";
import type { Answered, Asks } from "./asks.ts";
import { type HistoryBounds, HistoryReader, RunHistory } from "./history.ts";
import { RunSummary } from "./summary.ts";
import type { Answer, OpenAsk, RunHandle, RunReader, RunShows, RunState } from "../service.ts";

/** What is known of a run before its first event. */
export interface HeldRunOptions extends HistoryBounds {
  readonly id: string;
  readonly kind: string;
  readonly file?: string;
  /** ms since 1970. */
  readonly startedAt: number;
  /** `seq` of the last event that was told before; those come from `earlier`, also where the engine tells them again. Default 0. */
  readonly before?: number;
  /** What a journal has of events that are not held any more: some of those behind a `seq`, the first ones; none when there are no more. */
  readonly earlier?: (after: number) => readonly RunEvent[];
  /** How many steps a journal has of it, which has more than are told; undefined where it has none. Default: those that were told. */
  readonly keptSteps?: () => number | undefined;
  /** What it asks about. Absent: nobody can be asked. */
  readonly asks?: Pick<Asks, "onChange" | "open" | "decided"> & {
    answer(ask: string, answered: Answered): boolean | Promise<boolean>;
  };
  /** It has asked, or was answered. */
  readonly onAsks?: () => void;
  /** Another process has it, and here it is only followed. Default: no. */
  readonly isElsewhere?: boolean;
  /** Why it does not go on. */
  readonly waitsFor?: () => string | undefined;
  /** What `cancel` aborts. */
  readonly stop?: AbortController;
  readonly shows?: RunShows;
}

type RunEndEvent = Extract<RunEvent, { readonly type: "run-end" }>;

/** A run of this process for whoever started it, and for its readers. */
export class HeldRun implements RunHandle {
  readonly id: string;
  readonly kind: string;
  readonly history: RunHistory;
  readonly #options: HeldRunOptions;
  readonly #over = Promise.withResolvers<void>();
  #waiting = new Set<() => void>();
  #isOver = false;
  #isLost = false;
  #steps = 0;
  #ms = 0;
  /** When its own time began, as far as this process has it. */
  #beganAt: number | undefined;
  #usage: Usage = { input: 0, output: 0 };
  #end: RunEndEvent | undefined;
  #error: string | undefined;
  #keptAs: RunStatus | undefined;

  constructor(options: HeldRunOptions) {
    this.#options = options;
    this.id = options.id;
    this.kind = options.kind;
    this.history = new RunHistory(options);
    if (options.asks === undefined) return;
    options.asks.onChange = () => {
      this.#changed();
      options.onAsks?.();
    };
  }

  push(event: RunEvent): void {
    if (this.#isLost) return;
    if (event.seq > this.before) {
      this.#beganAt ??= performance.now() - event.at;
      this.history.push(event);
    }
    this.#ms = event.at;
    if (event.type === "step-start" || event.type === "call-run") this.#steps++;
    else if (event.type === "usage") this.#usage = addUsage(this.#usage, event);
    else if (event.type === "run-end") this.#end = event;
    this.#changed();
  }

  /**
   * There is no more. Where no `run-end` came, the run has failed of `error`.
   *
   * @param options.keptAs how the journal has it, when it can go on
   */
  end({ error, keptAs }: { readonly error?: string; readonly keptAs?: "held" | "stopped" } = {}): void {
    this.#error = error;
    this.#keptAs = keptAs;
    this.#isOver = true;
    this.#changed();
    this.#over.resolve();
  }

  /** Another process has it now: what this one comes to in it, nobody hears. */
  lose(): void {
    this.#isLost = true;
    this.cancel("another node has it now");
  }

  get ended(): Promise<RunState> {
    return this.#over.promise.then(() => this.state);
  }

  cancel(reason = "the run was cancelled"): void {
    if (!this.#isOver) this.#options.stop?.abort(new Error(reason));
  }

  /** Those that are open. */
  get asks(): readonly OpenAsk[] {
    return this.#options.asks?.open ?? [];
  }

  /** What became of those that are open no more. */
  get asked(): ReadonlyMap<string, string> {
    return this.#options.asks?.decided ?? new Map();
  }

  decided(ask: string): string | undefined {
    return this.asked.get(ask);
  }

  answer(ask: string, answer: Answer, { by }: { readonly by: string }): boolean | Promise<boolean> {
    return this.#options.asks?.answer(ask, { answer, by }) ?? false;
  }

  /** Its end was told. */
  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** It takes no place here, and goes on when this process ends. */
  get isElsewhere(): boolean {
    return this.#options.isElsewhere ?? false;
  }

  get shows(): RunShows | undefined {
    return this.#options.shows;
  }

  /** `seq` of the last event that an earlier process, or an earlier turn, has told. */
  get before(): number {
    return this.#options.before ?? 0;
  }

  get newest(): number {
    return Math.max(this.history.last, this.before);
  }

  /** As in `HeldRunOptions`; undefined where nobody has kept them. */
  earlier(after: number): readonly RunEvent[] | undefined {
    return this.#options.earlier?.(after);
  }

  read(options: { readonly after: number }): RunReader {
    return new HistoryReader(this, options);
  }

  /** How it has ended; `running` before its end was told. */
  get outcome(): RunState["status"] {
    if (this.#isLost) return "running"; // elsewhere
    return this.#isOver ? this.#keptAs ?? this.#end?.status ?? "failed" : this.#end?.status ?? "running";
  }

  /** How it stands for whoever asks: until everything about it is settled it is running. */
  get status(): RunState["status"] {
    return this.#isOver ? this.outcome : "running";
  }

  /** As it stands now. */
  get state(): RunState {
    const calls = this.#calls();
    const { keptSteps, shows } = this.#options;
    return { ...this.listed, steps: keptSteps?.() ?? this.#steps, shows, ...(calls && { calls }) };
  }

  /** The same without its calls, and with the steps that were told; for lists. */
  get listed(): RunState {
    const { id, kind, file, startedAt } = this.#options;
    const end = this.#end;
    return {
      id,
      kind,
      status: this.status,
      owned: !this.#isOver,
      file,
      startedAt,
      ms: this.#isOver ? this.#ms : toldMs(performance.now() - (this.#beganAt ?? performance.now())),
      usage: end?.usage ?? this.#usage,
      steps: this.#steps,
      value: end?.value,
      error: end?.error ?? this.#error,
      reason: end?.reason ?? (this.#isOver ? undefined : this.#options.waitsFor?.()),
      ...(end?.status === "failed" && this.status === "stopped" && { hasFailed: true as const }),
      asks: this.asks,
    };
  }

  /** Calls back at the next change, once. */
  wake(reader: () => void): void {
    this.#waiting.add(reader);
  }

  unwake(reader: () => void): void {
    this.#waiting.delete(reader);
  }

  /**
   * Of all its events, as far as a journal has kept those that are not held any more. Undefined where it has not, or when the run was removed,
   * or the journal is closed: the process is about to end.
   */
  #calls(): RunState["calls"] {
    const summary = new RunSummary({ withCalls: true });
    try {
      for (let seen = 0; seen < this.history.gone;) {
        const part = this.earlier(seen);
        if (part === undefined) return undefined;
        for (const event of part) if (event.seq <= this.history.gone) summary.add(event);
        seen = part.at(-1)?.seq ?? this.history.gone;
      }
    } catch {
      return undefined;
    }
    for (const event of this.history.behind(0, { maxBytes: Infinity }).events) summary.add(event);
    return summary.calls;
  }

  #changed(): void {
    const waiting = this.#waiting;
    if (waiting.size === 0) return;
    this.#waiting = new Set();
    for (const reader of waiting) reader();
  }
}
