import type { Clock } from "../core/clock.ts";
import { Line } from "./line.ts";

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
