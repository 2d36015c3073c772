import type { Clock } from "../core/clock.ts";

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

interface GroupState<Item> {
  running: number;
  /** Overtaken: they wait for a place in their group only. Each became ready before everything in the main line. */
  readonly parked: Line<Parked<Item>>;
}

interface Parked<Item> {
  readonly item: Item;
  /** Smaller became ready earlier. */
  readonly order: number;
}

/**
 * Who starts next (calls.md 7): nodes start in the order in which they became ready. One held up only by its group is
 * overtaken; one held up by being exclusive or by the limit of the run is not, and what came after it waits behind it.
 */
export class ReadyQueue<Item extends Place> {
  readonly #limit: number;
  readonly #groups = new Map<string, GroupState<Item>>();
  /** Groups that have a free place again and somebody waiting for it. */
  #freed: GroupState<Item>[] = [];
  #line = new Line<Item>();
  #parkedCount = 0;
  #running = 0;
  #exclusiveRuns = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(item: Item): void {
    this.#line.push(item);
  }

  /** The next one that may start, which counts as running from now on; undefined when nobody may. */
  take(): Item | undefined {
    if (this.#exclusiveRuns || this.#running >= this.#limit) return undefined;
    const overtaken = this.#takeFreed();
    if (overtaken !== undefined) return this.#started(overtaken);
    for (let item = this.#line.first; item !== undefined; item = this.#line.first) {
      if (item.exclusive && this.#running > 0) return undefined;
      this.#line.shift();
      const group = item.group === undefined ? undefined : this.#stateOf(item.group.key);
      if (group === undefined || group.running < (item.group?.limit ?? Infinity)) return this.#started(item);
      group.parked.push({ item, order: this.#parkedCount++ });
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

  #started(item: Item): Item {
    this.#running++;
    if (item.exclusive) this.#exclusiveRuns = true;
    if (item.group !== undefined) this.#stateOf(item.group.key).running++;
    return item;
  }

  #takeFreed(): Item | undefined {
    while (this.#freed.length > 0) {
      const order = (group: GroupState<Item>): number => group.parked.first?.order ?? Infinity;
      const group = this.#freed.reduce((a, b) => order(a) <= order(b) ? a : b);
      const parked = group.parked.first;
      this.#freed.splice(this.#freed.indexOf(group), 1);
      if (parked === undefined || group.running >= (parked.item.group?.limit ?? Infinity)) continue;
      group.parked.shift();
      return parked.item;
    }
    return undefined;
  }

  #stateOf(key: string): GroupState<Item> {
    let state = this.#groups.get(key);
    if (state === undefined) this.#groups.set(key, state = { running: 0, parked: new Line() });
    return state;
  }
}

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

/** Something that has to end by a time. */
export interface Deadline {
  /** True when it no longer matters. */
  readonly settled: boolean;
  expire(): void;
}

interface Entry {
  readonly at: number;
  readonly deadline: Deadline;
}

/**
 * Deadlines of many tasks on one timer of the clock. Tasks that share a duration fall due in the order in which they were added,
 * so each duration is a queue: adding and expiring cost O(1), however many are open.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #queues = new Map<number, Line<Entry>>();
  #armedFor = Infinity;
  #stopTimer: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Expires the deadline in `durationMs`, unless it is settled by then. */
  add(deadline: Deadline, durationMs: number): void {
    const at = this.#clock.now() + durationMs;
    let queue = this.#queues.get(durationMs);
    if (queue === undefined) this.#queues.set(durationMs, queue = new Line());
    dropSettled(queue);
    queue.push({ at, deadline });
    if (at < this.#armedFor) this.#arm(at);
  }

  /** Forgets everything; no timer is left behind. */
  stop(): void {
    this.#queues.clear();
    this.#stopTimer?.abort();
    this.#stopTimer = undefined;
    this.#armedFor = Infinity;
  }

  #arm(at: number): void {
    this.#stopTimer?.abort();
    const stop = this.#stopTimer = new AbortController();
    this.#armedFor = at;
    this.#clock.sleep(at - this.#clock.now(), stop.signal).then(
      () => stop.signal.aborted ? undefined : this.#fire(),
      () => undefined, // stopped: a later deadline took its place, or the run has ended
    );
  }

  #fire(): void {
    this.#armedFor = Infinity;
    this.#stopTimer = undefined;
    const now = this.#clock.now();
    let next = Infinity;
    for (const [durationMs, queue] of this.#queues) {
      for (
        let entry = dropSettled(queue);
        entry !== undefined && entry.at <= now;
        entry = dropSettled(queue)
      ) {
        queue.shift();
        entry.deadline.expire();
      }
      if (queue.first === undefined) this.#queues.delete(durationMs);
      next = Math.min(next, queue.first?.at ?? Infinity);
    }
    if (next < this.#armedFor) this.#arm(next);
  }
}

/** Those that no longer matter are not kept until their time; gives the first one that does. */
function dropSettled(queue: Line<Entry>): Entry | undefined {
  while (queue.first?.deadline.settled) queue.shift();
  return queue.first;
}
