import { setImmediate } from "node:timers";

/** Does the work when this turn of the event loop is over, behind what has come from outside meanwhile. */
export function soon(work: () => void): void {
  setImmediate(work);
}

/** The same a turn later: what was made ready in this turn has gone out by then. */
export function later(work: () => void): void {
  setImmediate(() => setImmediate(work));
}

/** Makes a place for work that is done together: all that comes until then. @param when default {@linkcode soon} */
export function together(when: (work: () => void) => void = soon): (work: () => void) => void {
  let waiting: (() => void)[] = [];
  return (work) => {
    waiting.push(work);
    if (waiting.length > 1) return;
    when(() => {
      const all = waiting;
      waiting = [];
      for (const one of all) one();
    });
  };
}
