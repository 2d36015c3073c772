import type { Clock } from "../core/clock.ts";
import type { HeldRun } from "./held_run.ts";

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
  readonly #runs = new Map<string, HeldRun>();
  readonly #active = new Set<HeldRun>();
  /** Oldest first, from `#from` on; what was before is let go of. */
  #ended: ({ readonly run: HeldRun; readonly at: number } | undefined)[] = [];
  #from = 0;
  #bytes = 0;
  #onIdle: (() => void)[] = [];

  constructor(options: RunRegistryOptions) {
    this.#options = options;
  }

  get active(): ReadonlySet<HeldRun> {
    return this.#active;
  }

  /** Also of runs that have ended, the newest last. */
  get all(): Iterable<HeldRun> {
    return this.#runs.values();
  }

  find(id: string): HeldRun | undefined {
    this.#forget();
    return this.#runs.get(id);
  }

  /** A run begins; one of the same id that has ended makes room for it. */
  add(run: HeldRun): void {
    this.#runs.delete(run.id);
    this.#runs.set(run.id, run);
    this.#active.add(run);
  }

  /** It is under way no more. */
  ended(run: HeldRun): void {
    this.#active.delete(run);
    const { clock, isKept } = this.#options;
    this.#ended.push({ run, at: isKept ? clock.now() : 0 }); // without a journal they are held by their number, not by their age
    this.#bytes += run.hub.bytes;
    this.#forget();
    if (this.#active.size > 0) return;
    for (const wake of this.#onIdle) wake();
    this.#onIdle = [];
  }

  remove(id: string): void {
    this.#runs.delete(id);
  }

  /** Settles when nothing is under way. */
  async idle(): Promise<void> {
    if (this.#active.size === 0) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #forget(): void {
    const { clock, isKept } = this.#options;
    const oldest = isKept ? clock.now() - KEPT_MS : -Infinity;
    for (let next = this.#ended[this.#from]; next !== undefined; next = this.#ended[this.#from]) {
      const { run, at } = next;
      const isTooMuch = this.#ended.length - this.#from > MAX_ENDED || this.#bytes > MAX_BYTES;
      if (!isTooMuch && at >= oldest) break;
      this.#ended[this.#from++] = undefined;
      this.#bytes -= run.hub.bytes;
      if (this.#runs.get(run.id) === run) this.#runs.delete(run.id);
    }
    if (this.#from < MAX_ENDED) return;
    this.#ended = this.#ended.slice(this.#from);
    this.#from = 0;
  }
}
