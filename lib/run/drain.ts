// A run whose process is about to end: its steps may come to their end, no other one begins, and nothing is kept of what follows from
// that. So whoever goes on with it does what it would have done.

import type { RunEventBody } from "../core/core.ts";

/** Makes what drains a run; `stop` aborts it. */
export type DrainRun = (stop: (reason: unknown) => void) => RunDrain;

/** What is under way in a run, and whether more of it may begin. */
export class RunDrain implements Disposable {
  readonly #signal: AbortSignal;
  readonly #stop: (reason: unknown) => void;
  readonly #open = new Set<string>();
  readonly #onAbort = (): void => this.#stopIfIdle();
  #hasRefused = false;
  #isKept = false;
  #isOver = false;

  /** @param stop aborts the run */
  constructor(signal: AbortSignal, stop: (reason: unknown) => void) {
    this.#signal = signal;
    this.#stop = stop;
    if (signal.aborted) stop(signal.reason);
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  get reason(): unknown {
    return this.#signal.reason;
  }

  /** A step wanted to begin, and did not: the run is not what it would have been. */
  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  /** Whether a step must not begin. */
  refuses(): boolean {
    if (!this.#signal.aborted) return false;
    this.#hasRefused = true;
    if (this.#open.size === 0) this.#stop(this.#signal.reason);
    return true;
  }

  began(key: string): void {
    this.#open.add(key);
  }

  ended(key: string): void {
    this.#open.delete(key);
    // What follows from it may end the run in this very turn of the event loop.
    if (this.#signal.aborted) setTimeout(this.#onAbort, 0);
  }

  /** What is told meanwhile follows from a step that has ended. */
  whileKept(tell: () => void): void {
    this.#isKept = true;
    tell();
    this.#isKept = false;
  }

  /** Whether an event may be kept. */
  keeps({ type }: RunEventBody): boolean {
    return !this.#hasRefused || this.#isKept || type === "usage";
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#open.clear();
    this.#isOver = true;
  }

  #stopIfIdle(): void {
    if (!this.#isOver && this.#open.size === 0) this.#stop(this.#signal.reason);
  }
}
