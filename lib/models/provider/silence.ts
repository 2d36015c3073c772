import type { Clock } from "../../core/core.ts";

/** How long a provider may be silent, in milliseconds. */
export interface Silence {
  /** Until the first byte of an answer. */
  readonly firstByteMs: number;
  /** Between two pieces of it. */
  readonly betweenMs: number;
}

/** turn.md 1 */
export const DEFAULT_SILENCE: Silence = { firstByteMs: 60_000, betweenMs: 60_000 };

/** Says when a wait has become too long. */
export class SilenceWatch {
  readonly #clock: Clock;
  readonly #onLate: () => void;
  #wait: AbortController | undefined;
  #isOver = false;

  /** `onLate` is called at most once. */
  constructor(clock: Clock, onLate: () => void) {
    this.#clock = clock;
    this.#onLate = onLate;
  }

  /** A wait begins, which may take `ms`. */
  begin(ms: number): void {
    this.pause();
    if (this.#isOver) return;
    const wait = this.#wait = new AbortController();
    this.#clock.sleep(ms, wait.signal).then(() => {
      if (wait.signal.aborted) return;
      this.end();
      this.#onLate();
    }, () => undefined);
  }

  /** What was waited for has come. */
  pause(): void {
    this.#wait?.abort();
  }

  /** Nothing will be waited for any more. */
  end(): void {
    this.#isOver = true;
    this.pause();
  }
}
