import { setImmediate } from "node:timers";

/** Does the work when this turn of the event loop is over, behind what has come from outside meanwhile. */
export function soon(work: () => void): void {
  setImmediate(work);
}

/** The same a turn later: what was made ready in this turn has gone out by then. */
export function later(work: () => void): void {
  setImmediate(() => setImmediate(work));
}

/** Gathers what comes until then, for `take` to have it all at once. @param when default {@linkcode soon} */
export function together<Item>(
  take: (items: readonly Item[]) => void,
  when: (work: () => void) => void = soon,
): (item: Item) => void {
  let waiting: Item[] = [];
  return (item) => {
    waiting.push(item);
    if (waiting.length > 1) return;
    when(() => {
      const items = waiting;
      waiting = [];
      take(items);
    });
  };
}
