// The middle of a run: its engine tells here what happens and never waits; whoever wants to know reads from here, as fast as they can.

import { toldMs } from "../core/clock.ts";
import type { RunEvent, RunKind, RunStatus } from "../core/event.ts";
import type { Usage } from "../core/model.ts";
import { addUsage } from "../core/usage.ts";
import type { Answered, Asks } from "./asks.ts";
import { RunHistory } from "./run_history.ts";
import type { HistoryBounds } from "./run_history.ts";
import { HistoryReader } from "./run_reader.ts";
import type { ReadSource } from "./run_reader.ts";
import { SeenCalls } from "./seen_calls.ts";
import type { OpenAsk, RunReader, RunState } from "./service.ts";

/** What is known of a run before its first event. */
export interface RunHubOptions extends HistoryBounds {
  readonly id: string;
  readonly kind: RunKind;
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
  readonly asks?: Asks;
  /** It has asked, or was answered. */
  readonly onAsks?: () => void;
}

type RunEndEvent = Extract<RunEvent, { readonly type: "run-end" }>;

const NONE: readonly never[] = [];
const NOTHING: ReadonlyMap<string, string> = new Map();
const NO_CALLS = { calls: NONE };
const NO_USAGE: Usage = { input: 0, output: 0 };

/** A run for its readers. */
export class RunHub implements ReadSource {
  readonly #options: RunHubOptions;
  readonly history: RunHistory;
  readonly #asks: Asks | undefined;
  /** Made for the first one: most runs have no reader. */
  #waiting: Set<() => void> | undefined;
  #isOver = false;
  #steps = 0;
  #ms = 0;
  /** When its own time began, as far as this process has it. */
  #beganAt: number | undefined;
  #usage: Usage = NO_USAGE;
  #end: RunEndEvent | undefined;
  #error: string | undefined;
  #keptAs: RunStatus | undefined;
  /** While it is under way. */
  #seenCalls: SeenCalls | undefined;

  constructor(options: RunHubOptions) {
    this.#options = options;
    this.history = new RunHistory(options);
    this.#asks = options.asks;
    if (options.asks === undefined) return;
    options.asks.onChange = () => {
      this.#changed();
      options.onAsks?.();
    };
  }

  push(event: RunEvent): void {
    if (event.seq > this.before) {
      this.#beganAt ??= performance.now() - event.at;
      this.history.push(event);
    }
    this.#ms = event.at;
    if (event.type === "step-start" || event.type === "call-run") this.#steps++;
    else if (event.type === "usage") this.#usage = addUsage(this.#usage, event);
    else if (event.type === "run-end") this.#end = event;
    if (this.#waiting !== undefined) this.#changed();
  }

  /**
   * There is no more. Where no `run-end` came, the run has failed of `error`.
   *
   * @param options.keptAs how the journal has it, when it can go on
   */
  end(
    { error, keptAs }: {
      readonly error?: string;
      readonly keptAs?: "held" | "stopped";
    } = {},
  ): void {
    this.#error = error;
    this.#keptAs = keptAs;
    this.#isOver = true;
    this.#seenCalls = undefined;
    this.#changed();
  }

  /** Those that are open. */
  get asks(): readonly OpenAsk[] {
    return this.#asks?.open ?? NONE;
  }

  get answered(): readonly string[] {
    return [...this.decided.keys()];
  }

  /** What became of those that are open no more. */
  get decided(): ReadonlyMap<string, string> {
    return this.#asks?.decided ?? NOTHING;
  }

  /** False when it is not open, or what was said is no answer to it. */
  answer(ask: string, answered: Answered): boolean {
    return this.#asks?.answer(ask, answered) ?? false;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** `seq` of the last event that an earlier process, or an earlier turn, has told. */
  get before(): number {
    return this.#options.before ?? 0;
  }

  get newest(): number {
    return Math.max(this.history.last, this.before);
  }

  get bytes(): number {
    return this.history.bytes;
  }

  earlier(after: number): readonly RunEvent[] | undefined {
    return this.#options.earlier?.(after);
  }

  read(options: { readonly after: number }): RunReader {
    return new HistoryReader(this, options);
  }

  get status(): RunState["status"] {
    return this.#isOver ? this.#keptAs ?? this.#end?.status ?? "failed" : this.#end?.status ?? "running";
  }

  /** How it stands for whoever asks: until everything about it is settled it is running. */
  get told(): RunState["status"] {
    return this.#isOver ? this.status : "running";
  }

  /** As it stands now. */
  get state(): RunState {
    return { ...this.listed, steps: this.#keptSteps() ?? this.#steps, ...this.#calls() };
  }

  /** The same without its calls, and with the steps that were told; for lists. */
  get listed(): RunState {
    const { id, kind, file, startedAt } = this.#options;
    const end = this.#end;
    const error = end?.error ?? this.#error;
    return {
      id,
      kind,
      status: this.told,
      owned: !this.#isOver,
      file,
      startedAt,
      ms: this.#isOver ? this.#ms : toldMs(performance.now() - (this.#beganAt ?? performance.now())),
      usage: end?.usage ?? this.#usage,
      steps: this.#steps,
      value: end?.value,
      error,
      reason: end?.reason,
      ...(end?.status === "failed" && this.told === "stopped" && { hasFailed: true as const }),
      asks: this.asks,
    };
  }

  wake(reader: () => void): void {
    (this.#waiting ??= new Set()).add(reader);
  }

  unwake(reader: () => void): void {
    this.#waiting?.delete(reader);
  }

  #keptSteps(): number | undefined {
    return this.newest === 0 ? undefined : this.#options.keptSteps?.(); // as it is when it is answered that it has begun
  }

  /** Where not all of its events are held, a journal has to have kept them. */
  #calls(): Pick<RunState, "calls"> {
    if (this.history.last === 0) return NO_CALLS; // as it is when it is answered that it has begun
    const seen = this.#seenCalls ?? new SeenCalls(this);
    const calls = looked(seen);
    this.#seenCalls = calls !== undefined && !this.#isOver && seen.isSmall ? seen : undefined;
    return calls === undefined ? {} : { calls };
  }

  #changed(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    for (const reader of waiting) reader();
  }
}

/** Undefined also when the run was removed, or the journal is closed: the process is about to end. */
function looked(seen: SeenCalls): RunState["calls"] {
  try {
    return seen.look();
  } catch {
    return undefined;
  }
}
