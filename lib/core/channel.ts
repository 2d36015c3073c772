/**
 * Values from somewhere that does not wait, to somebody who does: what is pushed is kept until it is taken, in order.
 * For one reader. Leaving the loop early calls `onReturn`, once.
 */
export class Channel<Value> implements AsyncIterableIterator<Value> {
  readonly #onReturn: () => void;
  #values: Value[] = [];
  #next = 0;
  #ended = false;
  #error: { readonly thrown: unknown } | undefined;
  #wake: (() => void) | undefined;
  #onRoom: (() => void) | undefined;

  constructor(options: { onReturn?: () => void } = {}) {
    this.#onReturn = options.onReturn ?? (() => undefined);
  }

  push(value: Value): void {
    if (this.#ended) return;
    this.#values.push(value);
    this.#wakeUp();
  }

  /** No more values; those that wait are still given. */
  end(): void {
    this.#ended = true;
    this.#wakeUp();
  }

  /** Like `end`, but the reader gets this error after the last value. */
  fail(thrown: unknown): void {
    if (!this.#ended) this.#error = { thrown };
    this.end();
  }

  /** Undefined while fewer than `most` values wait; else a promise that settles when the reader has taken all, or left. */
  room(most: number): undefined | Promise<void> {
    if (this.#ended || this.#values.length - this.#next < most) return undefined;
    return new Promise((resolve) => this.#onRoom = resolve);
  }

  async next(): Promise<IteratorResult<Value, undefined>> {
    while (this.#next >= this.#values.length) {
      this.#values = [];
      this.#next = 0;
      this.#giveRoom();
      if (this.#ended) return this.#finish();
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    const value = this.#values[this.#next++];
    return value === undefined ? this.next() : { done: false, value };
  }

  return(): Promise<IteratorResult<Value, undefined>> {
    const wasOpen = !this.#ended || this.#next < this.#values.length;
    this.#ended = true;
    this.#error = undefined;
    this.#values = [];
    this.#next = 0;
    if (wasOpen) this.#onReturn();
    this.#giveRoom();
    this.#wakeUp();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #finish(): IteratorResult<Value, undefined> {
    const error = this.#error;
    this.#error = undefined;
    if (error !== undefined) throw error.thrown;
    return { done: true, value: undefined };
  }

  #giveRoom(): void {
    const onRoom = this.#onRoom;
    this.#onRoom = undefined;
    onRoom?.();
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
