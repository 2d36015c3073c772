/** A signal that others abort, as long as it is not disposed of. */
export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * A signal that is aborted with the first of these. Not `AbortSignal.any`: on Deno 2.6 its listeners are lost when garbage is collected
 * and nobody else holds it. Disposing takes the listeners off signals that live longer.
 */
export function linkedSignal(signals: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const linked = new AbortController();
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
