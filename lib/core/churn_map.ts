/**
 * A small map whose entries come and go all the time, such as what is open just now. The engine makes a new table for a `Map` that has
 * become empty, and each old table leads to the next: once one of them has grown old, all that ever stood in them is kept until the next
 * full collection. This one has one table for good.
 */
export class ChurnMap<Key extends number | string, Value> {
  readonly #table: { [Name in Key]?: Value } = Object.create(null);

  get(key: Key): Value | undefined {
    return this.#table[key];
  }

  set(key: Key, value: Value): void {
    this.#table[key] = value;
  }

  delete(key: Key): void {
    delete this.#table[key];
  }

  clear(): void {
    for (const key in this.#table) this.delete(key);
  }

  /** In no order that anybody may rely on. */
  *values(): Iterable<Value> {
    for (const key in this.#table) {
      const value = this.#table[key];
      if (value !== undefined) yield value;
    }
  }
}
