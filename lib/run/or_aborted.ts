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
