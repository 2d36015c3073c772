/** First in, first out, O(1). */
export class Line<Item> {
  #items: Item[] = [];
  #head = 0;

  get first(): Item | undefined {
    return this.#items[this.#head];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): void {
    this.#head++;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
  }
}
