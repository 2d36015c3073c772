/** Does something later, unless it is disposed of before. Waiting for it does not keep the process alive. */
export function quietTimer(delayMs: number, work: () => void): Disposable {
  const timer = setTimeout(work, delayMs);
  unref(timer);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** A package may have put the `setTimeout` of Node in the place of Deno's, which gives no number (Deno 2.6). */
function unref(timer: number | { readonly unref: () => void }): void {
  if (typeof timer === "number") Deno.unrefTimer(timer);
  else timer.unref();
}
