import { soon } from "../host/soon.ts";

/** Runs that are accepted in one turn of the event loop begin together: one between two requests costs twice as much. */
export class RunBatch {
  #waiting: (() => void)[] = [];

  /** Begins it when this turn of the event loop is over. */
  add(begin: () => void): void {
    this.#waiting.push(begin);
    if (this.#waiting.length > 1) return;
    soon(() => {
      const batch = this.#waiting;
      this.#waiting = [];
      for (const one of batch) one();
    });
  }
}
