/** The time of a run between two of its events, on the clock of whoever looks. */
export class RunClock {
  readonly #now: () => number;
  #at = 0;
  #seenAt = 0;

  /** @param now ms of any clock that only goes forward */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** An event of this time, ms since the start of the run, has come. */
  set(at: number): void {
    if (at < this.#at) return;
    this.#at = at;
    this.#seenAt = this.#now();
  }

  /** Nothing is known of it any more: it goes on from here when something is. */
  stop(): void {
    this.set(this.at({ isRunning: true }));
  }

  /** ms since the start of the run; stands still when it does not run. */
  at({ isRunning }: { readonly isRunning: boolean }): number {
    return isRunning ? this.#at + this.#now() - this.#seenAt : this.#at;
  }
}
