import type { Clock } from "./clock.ts";

/** A clock that stands while something holds it: what waits for a person is not late. */
export class PausableClock implements Clock {
  readonly #clock: Clock;
  #holds = 0;
  /** On the clock behind it: when it was held. */
  #heldAt = 0;
  #lost = 0;
  #whenReleased = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return (this.#holds > 0 ? this.#heldAt : this.#clock.now()) - this.#lost;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const end = this.now() + ms;
    do {
      if (this.#holds > 0) await this.#whenReleased.promise;
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
        this.#whenReleased.resolve();
        this.#whenReleased = Promise.withResolvers();
      },
    };
  }
}
