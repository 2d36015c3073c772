import type { Clock } from "../core/clock.ts";

/** A signal that is aborted when the time is over, when another one is, and when it is disposed of: what hangs on it ends with it. */
export class Deadline implements Disposable {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #parent: AbortSignal;
  readonly #work = new AbortController();
  readonly #onAbort = () => this.#work.abort(this.#parent.reason);
  #since: number;
  #isOver = false;

  constructor({ clock, ms, signal }: {
    readonly clock: Clock;
    readonly ms: number;
    readonly signal: AbortSignal;
  }) {
    this.#clock = clock;
    this.#ms = ms;
    this.#parent = signal;
    this.#since = clock.now();
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#watch().catch(() => undefined); // it was aborted, or is done
  }

  get signal(): AbortSignal {
    return this.#work.signal;
  }

  /** The time was over before anything else. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Something has come: the time begins anew. */
  restart(): void {
    this.#since = this.#clock.now();
  }

  [Symbol.dispose](): void {
    this.#parent.removeEventListener("abort", this.#onAbort);
    this.#work.abort(new DOMException("done", "AbortError"));
  }

  /** One timer for thousands of restarts. */
  async #watch(): Promise<void> {
    for (let left = this.#ms; left > 0; left = this.#since + this.#ms - this.#clock.now()) {
      await this.#clock.sleep(left, this.#work.signal);
    }
    if (this.#work.signal.aborted) return;
    this.#isOver = true;
    this.#work.abort(new Error("the time is over"));
  }
}
