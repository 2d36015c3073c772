/**
 * Commands that run one after another (`Shell.run`): the next one is loaded as soon as one has ended, and waits here until it is its
 * turn. At most one waits. Disposing ends it, and comes back when it is gone.
 */
export class CommandSeries implements AsyncDisposable {
  #waiting: AsyncDisposable | undefined;
  #isOver = false;

  /** Loads what is likely to be next, unless something waits already or the series is over. */
  load(start: () => AsyncDisposable | undefined): void {
    if (!this.#isOver) this.#waiting ??= start();
  }

  /** Gives what waits to whoever runs it or ends it. */
  take(): AsyncDisposable | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }

  /** Ends what waits: something else comes next. */
  async clear(): Promise<void> {
    await this.take()?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.clear();
  }
}
