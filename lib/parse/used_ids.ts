const FIRST_SLOTS = 64;
const MAX_PROBES = 64;

/**
 * The ids of a text and the lines they were first used on. A hash table of its own: nearly all ids are new, and adding to a
 * `Map` costs several times as much. When ids collide, by chance or by design, a `Map` takes over.
 */
export class UsedIds {
  readonly #ids: string[] = [];
  readonly #lines: number[] = [];
  /** In pairs: the hash of an id or 0, its place in `#ids`. At most half full. */
  #slots = new Int32Array(FIRST_SLOTS);
  #crowded: Map<string, number> | undefined;

  /** The line an id was first used on; undefined when it is new, and from then on used. */
  use(id: string, line: number): number | undefined {
    if (this.#crowded !== undefined) return useIn(this.#crowded, { id, line });
    const slots = this.#slots;
    const mask = slots.length - 1;
    const hash = hashOf(id);
    let at = (hash << 1) & mask;
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const there = slots[at];
      if (there === 0) {
        slots[at] = hash;
        slots[at + 1] = this.#ids.length;
        this.#ids.push(id);
        this.#lines.push(line);
        if (this.#ids.length * 4 > mask) this.#grow();
        return undefined;
      }
      const place = slots[at + 1] ?? 0;
      if (there === hash && this.#ids[place] === id) return this.#lines[place];
      at = (at + 2) & mask;
    }
    this.#crowded = new Map(this.#ids.map((used, place) => [used, this.#lines[place] ?? 0]));
    return useIn(this.#crowded, { id, line });
  }

  /** Keeps the order in which ids came, so none comes to lie further from its home than before. */
  #grow(): void {
    const old = this.#slots;
    const slots = this.#slots = new Int32Array(old.length * 4);
    const mask = slots.length - 1;
    for (let from = 0; from < old.length; from += 2) {
      const hash = old[from] ?? 0;
      if (hash === 0) continue;
      let at = (hash << 1) & mask;
      while (slots[at] !== 0) at = (at + 2) & mask;
      slots[at] = hash;
      slots[at + 1] = old[from + 1] ?? 0;
    }
  }
}

function useIn(map: Map<string, number>, use: { id: string; line: number }): number | undefined {
  const first = map.get(use.id);
  if (first === undefined) map.set(use.id, use.line);
  return first;
}

function hashOf(id: string): number {
  let hash = id.length;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x9e3779b1);
  return (hash ^ (hash >>> 15)) | 1 << 30;
}
