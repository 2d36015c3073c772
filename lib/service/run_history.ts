// What is held of the events of a run for its readers: in order, bounded, deltas of a step joined. A reader names the last `seq` that it has
// seen, so nothing here knows of readers.

import type { RunEvent } from "../core/event.ts";
import { eventBytes } from "./event_bytes.ts";

type Delta = Extract<RunEvent, { readonly type: "text-delta" }>;

/** How much is held. */
export interface HistoryBounds {
  /** Default 5,000; deltas that came one behind the other are one. */
  readonly maxEvents?: number;
  /** Of JSON, roughly. Default 4 MiB. */
  readonly maxBytes?: number;
  /** Events up to this `seq` were never here. Default 0. */
  readonly before?: number;
}

/** Some events, and how far they go. */
export interface HistoryPart {
  readonly events: readonly RunEvent[];
  /** The `seq` of the last event; where there is none, what was asked for. */
  readonly last: number;
}

const MAX_EVENTS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** The events of a run, as far as they are held. */
export class RunHistory {
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  #entries: (RunEvent | DeltaSeries)[] = [];
  #bytes = 0;
  #last = 0;
  #gone = 0;
  /** Of steps that have not said all of their text: what they have said. */
  #unsaid: Map<string, DeltaSeries[]> | undefined;

  constructor({ maxEvents = MAX_EVENTS, maxBytes = MAX_BYTES, before = 0 }: HistoryBounds = {}) {
    this.#maxEvents = maxEvents;
    this.#maxBytes = maxBytes;
    this.#gone = this.#last = before;
  }

  /** `seq` of the newest event; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** Up to this `seq` events are not held any more, but for the text of steps that are still writing; 0: all are held. */
  get gone(): number {
    return this.#gone;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(event: RunEvent): void {
    this.#last = event.seq;
    this.#bytes += eventBytes(event);
    if (event.type === "text-delta") this.#add(event);
    else {
      if (event.type === "message") this.#drop(event.step); // it has the whole text
      else if (event.type === "step-start" && event.attempt > 1) this.#drop(event.key);
      this.#entries.push(event);
    }
    if (this.#entries.length > this.#maxEvents || this.#bytes > this.#maxBytes) this.#forget();
  }

  /** All that is held. */
  *all(): Iterable<RunEvent> {
    for (const entry of this.#entries) {
      if (!(entry instanceof DeltaSeries)) yield entry;
      else if (entry.last > 0) yield entry.behind(0, Infinity).event;
    }
  }

  /**
   * What came behind a `seq`, at least one event when there is any; the deltas of one step that came one behind the other are one event with
   * the `seq` of the last.
   *
   * @param options.earlier what is not held any more, in order; it is put where it belongs
   * @param options.upTo nothing behind this `seq` is wanted. Default: all
   */
  behind(
    after: number,
    { maxBytes, earlier = [], upTo = Infinity }: {
      readonly maxBytes: number;
      readonly earlier?: readonly RunEvent[];
      readonly upTo?: number;
    },
  ): HistoryPart {
    const events: RunEvent[] = [];
    let last = after;
    let room = maxBytes;
    let at = firstBehind(this.#entries, after);
    let early = firstBehind(earlier, after);
    while (events.length === 0 || room > 0) {
      const entry = this.#entries[at];
      const other = earlier[early];
      if (other !== undefined && (entry === undefined || other.seq < entryLast(entry))) {
        early++;
        events.push(other);
        last = other.seq;
        room -= eventBytes(other);
      } else if (entry === undefined || entryLast(entry) > upTo) break;
      else if (!(entry instanceof DeltaSeries)) {
        at++;
        events.push(entry);
        last = entry.seq;
        room -= eventBytes(entry);
      } else if (entry.isEmpty) at++;
      else {
        const { event, isAll } = entry.behind(last, room);
        events.push(event);
        last = event.seq;
        room -= eventBytes(event);
        if (!isAll) break;
        at++;
      }
    }
    return { events, last };
  }

  #add(event: Delta): void {
    const newest = this.#entries.at(-1);
    if (newest instanceof DeltaSeries && newest.takes(event)) return newest.add(event);
    const series = new DeltaSeries(event);
    this.#entries.push(series);
    this.#unsaid ??= new Map();
    const unsaid = this.#unsaid.get(event.step);
    if (unsaid === undefined) this.#unsaid.set(event.step, [series]);
    else unsaid.push(series);
  }

  #drop(step: string): void {
    const unsaid = this.#unsaid?.get(step);
    if (unsaid === undefined) return;
    this.#unsaid?.delete(step);
    for (const series of unsaid) this.#bytes -= series.empty();
  }

  /** Half of what may be held stays; a step that still writes keeps its text while that is no more than a quarter. */
  #forget(): void {
    const kept: DeltaSeries[] = [];
    let keptBytes = 0;
    let at = 0;
    let count = this.#entries.length;
    const isTooMuch = () => this.#bytes > this.#maxBytes / 2 || count > this.#maxEvents / 2;
    while (at < this.#entries.length - 1 && isTooMuch()) {
      const entry = this.#entries[at++];
      if (entry === undefined) break;
      const bytes = entry instanceof DeltaSeries ? entry.bytes : eventBytes(entry);
      const isKept = entry instanceof DeltaSeries && !entry.isEmpty &&
        keptBytes + bytes <= this.#maxBytes / 4 && kept.length < this.#maxEvents / 4;
      if (isKept) {
        kept.push(entry);
        keptBytes += bytes;
      } else {
        count--;
        this.#bytes -= entry instanceof DeltaSeries ? entry.empty() : bytes;
        this.#gone = Math.max(this.#gone, entryLast(entry));
      }
    }
    this.#entries = [...kept, ...this.#entries.slice(at)];
    for (const [step, unsaid] of this.#unsaid ?? []) {
      this.#unsaid?.set(step, unsaid.filter((series) => !series.isEmpty));
    }
  }
}

/** Deltas of one step with no other event between them. */
class DeltaSeries {
  readonly #step: string;
  #texts: string[];
  readonly #seqs: number[];
  #newest: Delta;
  #bytes: number;

  constructor(first: Delta) {
    this.#step = first.step;
    this.#texts = [first.text];
    this.#seqs = [first.seq];
    this.#newest = first;
    this.#bytes = eventBytes(first);
  }

  get last(): number {
    return this.#newest.seq;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  takes(event: Delta): boolean {
    return event.step === this.#step && !this.isEmpty;
  }

  add(event: Delta): void {
    this.#texts.push(event.text);
    this.#seqs.push(event.seq);
    this.#newest = event;
    this.#bytes += eventBytes(event);
  }

  /** Gives how much that was. */
  empty(): number {
    const bytes = this.#bytes;
    this.#texts = [];
    this.#seqs.length = 0;
    this.#bytes = 0;
    this.#newest = { ...this.#newest, text: "" };
    return bytes;
  }

  /** What came behind a `seq`, at least one delta; `isAll` when nothing is left. */
  behind(after: number, maxBytes: number): { readonly event: Delta; readonly isAll: boolean } {
    const from = firstAbove(this.#seqs, after);
    if (from >= this.#seqs.length - 1) return { event: this.#newest, isAll: true };
    let to = from;
    for (let room = maxBytes; to < this.#texts.length && (to === from || room > 0); to++) {
      room -= this.#texts[to]?.length ?? 0;
    }
    const text = this.#texts.slice(from, to).join("");
    const seq = this.#seqs[to - 1] ?? this.#newest.seq;
    return { event: { ...this.#newest, text, seq }, isAll: to === this.#texts.length };
  }
}

const entryLast = (entry: RunEvent | DeltaSeries): number =>
  entry instanceof DeltaSeries ? entry.last : entry.seq;

/** The first of them whose last `seq` is above this one. */
function firstBehind(entries: readonly (RunEvent | DeltaSeries)[], after: number): number {
  return firstWhere(entries.length, (index) => {
    const entry = entries[index];
    return entry !== undefined && entryLast(entry) > after;
  });
}

function firstAbove(seqs: readonly number[], after: number): number {
  return firstWhere(seqs.length, (index) => (seqs[index] ?? 0) > after);
}

/** The least index for which it holds, when it holds for all behind it; `length` when for none. */
function firstWhere(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
