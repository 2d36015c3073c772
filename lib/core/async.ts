// What is waited for: signals of abort, promises, and values on their way. One file: on the way to the first call every file costs time.

/** Settles when the signal is aborted, or is already. */
export function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

/**
 * Hands each value to `take`, until the source or the signal ends it; the source is closed either way. A source that never
 * answers does not hold up an abort. When `take` gives a promise, the next value waits for it.
 */
export async function eachUntilAborted<Value>(
  source: Iterable<Value> | AsyncIterable<Value>,
  take: (value: Value) => void | Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (Symbol.asyncIterator in source) return await eachAsync(source, take, signal);
  let untilTurn = VALUES_A_TURN;
  for (const value of source) {
    if (signal.aborted) return;
    const taken = take(value);
    if (taken !== undefined) await taken;
    if (--untilTurn > 0) continue;
    untilTurn = VALUES_A_TURN;
    await timerTurn();
  }
}

/** A source that is always ready would leave no turn of the event loop to timers, signals and other work. */
const VALUES_A_TURN = 10_000;

async function eachAsync<Value>(
  source: AsyncIterable<Value>,
  take: (value: Value) => void | Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const iterator = source[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<undefined>();
  const onAbort = (): void => aborted.resolve(undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    while (!signal.aborted) {
      const pulled = iterator.next();
      pulled.catch(() => undefined); // it may fail after the abort, when nobody looks
      const next = await Promise.race([pulled, aborted.promise]);
      if (next === undefined || next.done === true) return;
      const taken = take(next.value);
      if (taken !== undefined) await taken;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    // Not waited for: a generator that hangs in its own await would never come back.
    iterator.return?.()?.catch(() => undefined);
  }
}

/** A signal that others abort, as long as it is not disposed of. */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * A signal that is aborted with the first of these. Not `AbortSignal.any`: on Deno 2.6 its listeners are lost when garbage is collected
 * and nobody else holds it. Disposing takes the listeners off signals that live longer.
 *
 * @param linked may be aborted by itself, too
 */
export function linkedSignal(
  signals: readonly (AbortSignal | undefined)[],
  linked: AbortController = new AbortController(),
): LinkedSignal {
  const given = signals.filter((signal) => signal !== undefined);
  const onAbort = (event: Event): void => {
    const { target } = event;
    linked.abort(target instanceof AbortSignal ? target.reason : undefined);
  };
  for (const signal of given) {
    if (signal.aborted) linked.abort(signal.reason);
    else signal.addEventListener("abort", onAbort, { once: true });
  }
  return {
    signal: linked.signal,
    [Symbol.dispose]: () => given.forEach((signal) => signal.removeEventListener("abort", onAbort)),
  };
}

/** Whether a value comes piece by piece. */
export function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** Whether a value has to be waited for. */
export function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

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

/**
 * What comes of a work, as long as the signal is not aborted first: then its reason is thrown, and the work is no longer listened to.
 *
 * @throws the signal's reason, and what the work throws
 */
export async function orAborted<Value>(work: Value | Promise<Value>, signal: AbortSignal): Promise<Value> {
  const working = Promise.resolve(work);
  working.catch(() => undefined); // it may fail when nobody listens any more
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([working, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** A turn of the event loop for timers, and whatever else waits: all microtasks, however many they start, are done by then. */
export function timerTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Waits for a work, but not longer than this. @throws what the work throws until then */
export async function atMost(work: Promise<unknown>, limitMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Settles when all promises that are ready have been gone on with. Not a timer: in Deno one of 0 ms takes over a millisecond. */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      port2.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
