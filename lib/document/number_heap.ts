/** Numbers of which the smallest is taken first. */
export class NumberHeap {
  readonly #numbers: number[] = [];

  push(number: number): void {
    const numbers = this.#numbers;
    let at = numbers.push(number) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (this.#at(above) <= number) break;
      numbers[at] = this.#at(above);
      at = above;
    }
    numbers[at] = number;
  }

  /** The smallest, which is no longer in it; undefined when it is empty. */
  pop(): number | undefined {
    const smallest = this.#numbers[0];
    const last = this.#numbers.pop();
    if (last !== undefined && this.#numbers.length > 0) this.#sink(last);
    return smallest;
  }

  #sink(number: number): void {
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (this.#at(below + 1) < this.#at(below)) below++;
      if (this.#at(below) >= number) break;
      this.#numbers[at] = this.#at(below);
      at = below;
    }
    this.#numbers[at] = number;
  }

  #at(index: number): number {
    return this.#numbers[index] ?? Infinity;
  }
}
