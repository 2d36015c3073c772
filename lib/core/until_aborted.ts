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
    await new Promise((resolve) => setTimeout(resolve, 0));
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
