// The runs of this process: whether there may be one more, those under way, and those that ended a while ago.
import type { Clock } from "../../core/core.ts";
import type { HeldRun } from "./held_run.ts";
import { type ProjectNow, type ProjectReader, ServiceError } from "../service.ts";

/** How many runs there may be, and how long those are held that have ended. */
export interface RunRegistryOptions {
  readonly clock: Clock;
  /** The journal has them too. */
  readonly isKept: boolean;
  /** How many may be under way, as the settings say now. Default: any number. */
  readonly limit?: () => number;
}

/** Somebody may still be on the way to read what a kept run has told; then the journal has it. */
const KEPT_MS = 5_000;
const MAX_ENDED = 1_000;
const MAX_BYTES = 32 * 1024 * 1024;

/** How long a run that was aborted, or what is closed, may take to end. */
export const ABORT_MS = 2_000;

/** The runs of this process. */
export class RunRegistry {
  readonly #options: RunRegistryOptions;
  readonly #active = new Map<string, HeldRun>();
  /** Those that have ended, and when; the oldest first. */
  readonly #ended = new Map<string, { readonly run: HeldRun; readonly at: number }>();
  /** How many are accepted, and not under way yet. */
  #opening = 0;
  #bytes = 0;
  #isStopping = false;
  #onIdle: (() => void)[] = [];
  #version = 0;
  /** Whoever waits for the next change. */
  #watching: (() => void)[] = [];

  constructor(options: RunRegistryOptions) {
    this.#options = options;
  }

  /** How many are under way here, or are being opened. */
  get active(): number {
    return this.#own.length + this.#opening;
  }

  get #own(): readonly HeldRun[] {
    return [...this.#active.values()].filter((run) => !run.isElsewhere);
  }

  get limit(): number {
    return this.#options.limit?.() ?? Infinity;
  }

  get now(): ProjectNow {
    const waiting = [...this.#active.values()].flatMap((run) => run.asks.length > 0 ? [run.listed] : []);
    return { version: this.#version, active: this.#active.size, waiting };
  }

  /** @throws {ServiceError} `stopping` */
  assertGoing(): void {
    if (!this.#isStopping) return;
    throw new ServiceError("Orrery is about to end: nothing new begins", { code: "stopping" });
  }

  /** @throws {ServiceError} `stopping`, `limit` */
  assertRoom(): void {
    this.assertGoing();
    const { limit } = this;
    if (this.active < limit) return;
    throw new ServiceError(
      `${limit} runs are under way, as many as there may be (limits.runs): try again when one has ended`,
      { code: "limit", details: { limit } },
    );
  }

  /** Takes a place for a run, until that is under way or does not begin; what it gives leaves it, once. @throws as `assertRoom` */
  enter(): () => void {
    this.assertRoom();
    this.#opening++;
    let isIn = true;
    return () => {
      if (isIn) this.#opening--;
      isIn = false;
      this.#tellIdle();
    };
  }

  watch(): ProjectReader {
    let seen: number | undefined;
    let hasLeft = false;
    let wake = (): void => {};
    return {
      next: async () => {
        if (seen === this.#version && !hasLeft) {
          await new Promise<void>((resolve) => this.#watching.push(wake = resolve));
        }
        seen = this.#version;
        return hasLeft ? undefined : this.now;
      },
      leave() {
        hasLeft = true;
        wake();
      },
    };
  }

  /** Something has become otherwise that lists of runs show. */
  changed(): void {
    this.#version++;
    const watching = this.#watching;
    this.#watching = [];
    for (const wake of watching) wake();
  }

  /** Those that have ended, in this order, and those under way. */
  get all(): readonly HeldRun[] {
    return [...[...this.#ended.values()].map(({ run }) => run), ...this.#active.values()];
  }

  find(id: string): HeldRun | undefined {
    this.#forget();
    return this.#active.get(id) ?? this.#ended.get(id)?.run;
  }

  /** A run begins; one of the same id that has ended makes room for it. */
  add(run: HeldRun): void {
    this.remove(run.id);
    this.#active.set(run.id, run);
    this.changed();
  }

  /** Another one takes its place, and its readers go on reading it. */
  leave(run: HeldRun): void {
    if (this.#active.get(run.id) === run) this.#active.delete(run.id);
    this.#tellIdle();
  }

  /** It is under way no more. */
  ended(run: HeldRun): void {
    this.#active.delete(run.id);
    this.#ended.set(run.id, { run, at: this.#options.clock.now() });
    this.#bytes += run.history.bytes;
    this.#forget();
    this.changed();
    this.#tellIdle();
  }

  /** Lets go of one that has ended. */
  remove(id: string): void {
    const ended = this.#ended.get(id);
    if (ended === undefined) return;
    this.#ended.delete(id);
    this.#bytes -= ended.run.history.bytes;
  }

  /** Nothing new begins. Waits until no run is under way; what takes too long is aborted, and can go on. @param options.graceMs for the steps under way */
  async stop({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.#isStopping = true;
    const { clock } = this.#options;
    const idle = new Promise<void>((resolve) => this.#onIdle.push(resolve));
    this.#tellIdle();
    await within(graceMs, idle, clock);
    for (const run of this.#own) run.cancel("the process is about to end");
    await within(ABORT_MS, idle, clock);
  }

  #tellIdle(): void {
    if (this.active > 0) return;
    for (const wake of this.#onIdle) wake();
    this.#onIdle = [];
  }

  /** What is too old, or too much. Without a journal runs are held by their number, not by their age. */
  #forget(): void {
    const { clock, isKept } = this.#options;
    const since = isKept ? clock.now() - KEPT_MS : -Infinity;
    for (const [id, { at }] of this.#ended) {
      if (at >= since && this.#ended.size <= MAX_ENDED && this.#bytes <= MAX_BYTES) return;
      this.remove(id);
    }
  }
}

/** Waits no longer than so long. */
export async function within(ms: number, work: Promise<void>, clock: Clock): Promise<void> {
  const late = new AbortController();
  await Promise.race([work, clock.sleep(ms, late.signal).catch(() => undefined)]);
  late.abort();
}
