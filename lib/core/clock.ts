/** The only way an engine learns the time or waits. */
export interface Clock {
  /** Milliseconds since a fixed moment; only differences mean something. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Milliseconds as events tell them: to the microsecond. */
export function toldMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** setTimeout holds its delay in 32 bits; longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The clock of the machine, monotonic.
 *
 * ```ts
 * import { systemClock } from "orrery";
 *
 * const start = systemClock.now();
 * await systemClock.sleep(20);
 * console.log(systemClock.now() - start >= 15); // => true
 * ```
 */
export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      }, Math.min(Math.max(0, ms), MAX_TIMER_MS));
      signal?.addEventListener("abort", onAbort, { once: true });
    }),
};

/** A clock that stands while something holds it: what waits for a person is not late. */
export class PausableClock implements Clock {
  readonly #clock: Clock;
  #holds = 0;
  /** On the clock behind it: when it was held. */
  #heldAt = 0;
  #lost = 0;
  /** Made for the first who waits: most clocks are never held. */
  #whenReleased: PromiseWithResolvers<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return (this.#holds > 0 ? this.#heldAt : this.#clock.now()) - this.#lost;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const end = this.now() + ms;
    do {
      if (this.#holds > 0) await (this.#whenReleased ??= Promise.withResolvers()).promise;
      await this.#clock.sleep(Math.max(0, end - this.now()), signal);
    } while (this.#holds > 0 || this.now() < end);
  }

  /** Stands until this hold, and every other one, is disposed of. */
  hold(): Disposable {
    if (this.#holds++ === 0) this.#heldAt = this.#clock.now();
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        if (--this.#holds > 0) return;
        this.#lost += this.#clock.now() - this.#heldAt;
        this.#whenReleased?.resolve();
        this.#whenReleased = undefined;
      },
    };
  }
}
