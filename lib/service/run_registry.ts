import type { Clock } from "../core/clock.ts";
import type { HeldRun } from "./held_run.ts";
import type { ProjectNow, ProjectReader } from "./service.ts";

/** How long runs are held that have ended. */
export interface RunRegistryOptions {
  readonly clock: Clock;
  /** The journal has them too. */
  readonly isKept: boolean;
}

/** Somebody may still be on the way to read what a kept run has told; then the journal has it. */
const KEPT_MS = 5_000;
const MAX_ENDED = 1_000;
const MAX_BYTES = 32 * 1024 * 1024;

/** The runs of this process: those under way, and those that ended a while ago. */
export class RunRegistry {
  readonly #options: RunRegistryOptions;
  readonly #active = new Map<string, HeldRun>();
  /**
   * Those that have ended, each in the place of one that was let go of. In a list or a map that grows they would be held by what that has
   * outgrown, until all of the memory is collected: with thousands of runs a second that takes a fifth of a small run.
   */
  readonly #places: (HeldRun | undefined)[] = new Array<undefined>(MAX_ENDED).fill(undefined);
  readonly #endedAt = new Float64Array(MAX_ENDED);
  /** Which one of those that have ended it is, by its id; counted from the first. */
  readonly #numbers = new Map<string, number>();
  /** The number of the oldest that is held, and of the next one. */
  #oldest = 0;
  #next = 0;
  #bytes = 0;
  #onIdle: (() => void)[] = [];
  #version = 0;
  /** Whoever waits for the next change. */
  #watching: (() => void)[] = [];

  constructor(options: RunRegistryOptions) {
    this.#options = options;
  }

  /** How many are under way. */
  get underWay(): number {
    return this.#active.size;
  }

  get now(): ProjectNow {
    const waiting = [...this.#active.values()].flatMap(({ hub }) => hub.asks.length > 0 ? [hub.listed] : []);
    return { version: this.#version, active: this.underWay, waiting };
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
    if (this.#watching.length === 0) return;
    const watching = this.#watching;
    this.#watching = [];
    for (const wake of watching) wake();
  }

  get active(): Iterable<HeldRun> {
    return this.#active.values();
  }

  /** Those that have ended, in this order, and those under way. */
  get all(): Iterable<HeldRun> {
    const ended = [...this.#numbers.values()].flatMap((number) => this.#places[number % MAX_ENDED] ?? []);
    return [...ended, ...this.#active.values()];
  }

  find(id: string): HeldRun | undefined {
    this.#forget();
    const number = this.#numbers.get(id);
    return this.#active.get(id) ?? (number === undefined ? undefined : this.#places[number % MAX_ENDED]);
  }

  /** A run begins; one of the same id that has ended makes room for it. */
  add(run: HeldRun): void {
    this.remove(run.id);
    this.#active.set(run.id, run);
    this.changed();
  }

  /** It is under way no more. */
  ended(run: HeldRun): void {
    this.#active.delete(run.id);
    const { clock, isKept } = this.#options;
    if (this.#next - this.#oldest === MAX_ENDED) this.#forgetOldest();
    const place = this.#next % MAX_ENDED;
    this.#places[place] = run;
    this.#endedAt[place] = isKept ? clock.now() : 0; // without a journal they are held by their number, not by their age
    this.#numbers.set(run.id, this.#next++);
    this.#bytes += run.hub.bytes;
    this.#forget();
    this.changed();
    if (this.#active.size > 0) return;
    for (const wake of this.#onIdle) wake();
    this.#onIdle = [];
  }

  /** Lets go of one that has ended. */
  remove(id: string): void {
    const number = this.#numbers.get(id);
    if (number !== undefined) this.#empty(number);
  }

  /** Settles when nothing is under way. */
  async idle(): Promise<void> {
    if (this.#active.size === 0) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** What is too old, or too much. */
  #forget(): void {
    const { clock, isKept } = this.#options;
    const since = isKept ? clock.now() - KEPT_MS : -Infinity;
    while (this.#oldest < this.#next) {
      const isOld = (this.#endedAt[this.#oldest % MAX_ENDED] ?? 0) < since;
      if (!isOld && this.#bytes <= MAX_BYTES) return;
      this.#forgetOldest();
    }
  }

  #forgetOldest(): void {
    this.#empty(this.#oldest++);
  }

  #empty(number: number): void {
    const place = number % MAX_ENDED;
    const run = this.#places[place];
    if (run === undefined) return;
    this.#places[place] = undefined;
    this.#bytes -= run.hub.bytes;
    this.#numbers.delete(run.id);
  }
}
