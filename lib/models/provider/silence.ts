import type { Clock } from "../../core/clock.ts";

/** How long a provider may be silent, in milliseconds. */
export interface Silence {
  /** Until the first byte of an answer. */
  readonly firstByteMs: number;
  /** Between two pieces of it. */
  readonly betweenMs: number;
}

/** turn.md 1 */
export const DEFAULT_SILENCE: Silence = { firstByteMs: 60_000, betweenMs: 60_000 };

/** Says when a wait has become too long. Waits come by the thousand, so that there is one timer for many of them. */
export class SilenceWatch {
  readonly #clock: Clock;
  readonly #stepMs: number;
  readonly #onLate: () => void;
  readonly #ended = new AbortController();
  #deadline: number | undefined;
  #isRunning = false;

  /** `onLate` is called at most once. */
  constructor(clock: Clock, options: { readonly silence: Silence; readonly onLate: () => void }) {
    this.#clock = clock;
    this.#stepMs = Math.min(options.silence.firstByteMs, options.silence.betweenMs);
    this.#onLate = options.onLate;
  }

  /** A wait begins, which may take `ms`. */
  begin(ms: number): void {
    this.#deadline = this.#clock.now() + ms;
    if (!this.#isRunning && !this.#ended.signal.aborted) void this.#run();
  }

  /** What was waited for has come. */
  pause(): void {
    this.#deadline = undefined;
  }

  /** Nothing will be waited for any more. */
  end(): void {
    this.#ended.abort();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#deadline !== undefined) {
        const left = this.#deadline - this.#clock.now();
        if (left <= 0) return this.#late();
        // Never longer than the shortest limit: a later wait may have a nearer deadline.
        await this.#clock.sleep(Math.min(left, this.#stepMs), this.#ended.signal);
      }
    } catch {
      /* ended */
    } finally {
      this.#isRunning = false;
    }
  }

  #late(): void {
    this.end();
    this.#onLate();
  }
}
