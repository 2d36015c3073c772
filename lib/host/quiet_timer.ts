/** Does something later, unless it is disposed of before. Waiting for it does not keep the process alive. */
export function quietTimer(delayMs: number, work: () => void): Disposable {
  const timer = setTimeout(work, delayMs);
  Deno.unrefTimer(timer);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
