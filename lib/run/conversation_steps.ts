/** So many steps may be made without waiting for the person (conversations.md 2.3). */
export const DEFAULT_STEPS = 250;
/** So many of the last ones are named when there were too many. */
const SHOWN = 12;

/** Counts the steps between two holds: an endless loop is told, not made. */
export class StepCount {
  readonly #max: number;
  readonly #last: string[] = [];
  #count = 0;

  constructor(max: number = DEFAULT_STEPS) {
    this.#max = max;
  }

  /** Counts one more; why it may not be made, when there were too many. */
  add(step: string): { readonly problem: string; readonly last: readonly string[] } | undefined {
    this.#last.push(step);
    if (this.#last.length > SHOWN) this.#last.shift();
    if (++this.#count <= this.#max) return undefined;
    const problem =
      `stopped after ${this.#max} steps without waiting for the user; there is probably a loop without a hold`;
    return { problem, last: this.#last };
  }

  /** The person is heard. */
  reset(): void {
    this.#count = 0;
  }
}
