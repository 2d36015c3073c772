// Time limits of many requests under one timer: most are over before it fires, and a timer for each costs more than they do.

import { quietTimer } from "../host/quiet_timer.ts";
import type { Clock } from "../core/clock.ts";

interface Deadline {
  readonly at: number;
  readonly work: () => void;
}

/** Things that are to happen when something takes too long; each up to a tick later than it says. */
export class Deadlines implements Disposable {
  readonly #clock: Clock;
  readonly #tickMs: number;
  readonly #open = new Set<Deadline>();
  #timer: Disposable | undefined;

  constructor(clock: Clock, { tickMs = 500 }: { readonly tickMs?: number } = {}) {
    this.#clock = clock;
    this.#tickMs = tickMs;
  }

  /** Does the work after this time, unless what it gives is called before. */
  after(ms: number, work: () => void): () => void {
    const deadline = { at: this.#clock.now() + ms, work };
    this.#open.add(deadline);
    this.#timer ??= this.#arm();
    return () => void this.#open.delete(deadline);
  }

  /** Nothing is late any more. */
  [Symbol.dispose](): void {
    this.#open.clear();
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #arm(): Disposable {
    return quietTimer(this.#tickMs, () => {
      const now = this.#clock.now();
      for (const deadline of this.#open) {
        if (deadline.at > now) continue;
        this.#open.delete(deadline);
        deadline.work();
      }
      this.#timer = this.#open.size > 0 ? this.#arm() : undefined;
    });
  }
}
