/** Lets so many do something at once; the others wait, in order. */
export class Turnstile {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param most at once */
  constructor(most: number) {
    this.#free = most;
  }

  /** Does the work when it is its turn. @throws what the work throws */
  async pass<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
