import { setImmediate } from "node:timers";

/** Does the work when this turn of the event loop is over, behind what has come from outside meanwhile. */
export function soon(work: () => void): void {
  setImmediate(work);
}
