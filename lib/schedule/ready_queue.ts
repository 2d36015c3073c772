import { Line } from "./line.ts";

/** Nodes of one group share a limit of their own: at most `limit` of them run at once. */
export interface Group {
  readonly key: string;
  readonly limit: number;
}

/** What decides where a node waits. */
export interface Place {
  readonly group: Group | undefined;
  readonly exclusive: boolean;
}

interface Entry<Item> extends Place {
  readonly item: Item;
  readonly order: number;
}

interface GroupState<Item> {
  running: number;
  /** Overtaken: they wait for a place in their group only. Each became ready before everything in the main line. */
  readonly parked: Line<Entry<Item>>;
}

/**
 * Who starts next (calls.md 7): nodes start in the order in which they became ready. One held up only by its group is
 * overtaken; one held up by being exclusive or by the limit of the run is not, and what came after it waits behind it.
 */
export class ReadyQueue<Item> {
  readonly #limit: number;
  readonly #groups = new Map<string, GroupState<Item>>();
  /** Groups that have a free place again and somebody waiting for it. */
  #freed: GroupState<Item>[] = [];
  #line = new Line<Entry<Item>>();
  #order = 0;
  #running = 0;
  #exclusiveRuns = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(item: Item, place: Place): void {
    this.#line.push({ item, order: this.#order++, group: place.group, exclusive: place.exclusive });
  }

  /** The next one that may start, which counts as running from now on; undefined when nobody may. */
  take(): Item | undefined {
    if (this.#exclusiveRuns || this.#running >= this.#limit) return undefined;
    const overtaken = this.#takeFreed();
    if (overtaken !== undefined) return this.#started(overtaken);
    for (let entry = this.#line.first; entry !== undefined; entry = this.#line.first) {
      if (entry.exclusive && this.#running > 0) return undefined;
      this.#line.shift();
      const group = entry.group === undefined ? undefined : this.#stateOf(entry.group.key);
      if (group === undefined || group.running < (entry.group?.limit ?? Infinity)) {
        return this.#started(entry);
      }
      group.parked.push(entry);
    }
    return undefined;
  }

  /** One that was taken has ended. */
  release(place: Place): void {
    this.#running--;
    if (place.exclusive) this.#exclusiveRuns = false;
    if (place.group === undefined) return;
    const group = this.#stateOf(place.group.key);
    group.running--;
    if (group.parked.first !== undefined) this.#freed.push(group);
  }

  /** Nobody waits any more. */
  clear(): void {
    this.#line = new Line();
    this.#groups.clear();
    this.#freed = [];
  }

  #started(entry: Entry<Item>): Item {
    this.#running++;
    if (entry.exclusive) this.#exclusiveRuns = true;
    if (entry.group !== undefined) this.#stateOf(entry.group.key).running++;
    return entry.item;
  }

  #takeFreed(): Entry<Item> | undefined {
    while (this.#freed.length > 0) {
      const group = this.#freed.reduce((a, b) =>
        (a.parked.first?.order ?? Infinity) <= (b.parked.first?.order ?? Infinity) ? a : b
      );
      const entry = group.parked.first;
      this.#freed.splice(this.#freed.indexOf(group), 1);
      if (entry === undefined || group.running >= (entry.group?.limit ?? Infinity)) continue;
      group.parked.shift();
      return entry;
    }
    return undefined;
  }

  #stateOf(key: string): GroupState<Item> {
    let state = this.#groups.get(key);
    if (state === undefined) this.#groups.set(key, state = { running: 0, parked: new Line() });
    return state;
  }
}
