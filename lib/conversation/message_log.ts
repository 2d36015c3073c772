// A log may be long, and most of what looks at it looks at its end: a conversation of thousands of turns answers as fast as a short one.

import type { LogEntry } from "../core/conversation.ts";

/** Messages by their place, from 0. A list is one. */
export interface Messages {
  readonly length: number;
  at(index: number): LogEntry | undefined;
}

/** So many are read at first; then four times as many as are there. */
const FIRST_PAGE = 64;

/** The log of a conversation that is kept: read from its end, as far as somebody looks back. */
export class MessageLog implements Messages {
  readonly #read: (from: number) => readonly LogEntry[];
  /** The newest ones. */
  #known: LogEntry[] = [];
  #length: number;

  /** @param read gives all from this `n` on, or more */
  constructor(length: number, read: (from: number) => readonly LogEntry[]) {
    this.#length = length;
    this.#read = read;
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): LogEntry | undefined {
    if (index < 0 || index >= this.#length) return undefined;
    if (index < this.#first) this.#readBack(Math.min(index, this.#first - this.#page));
    return this.#known[index - this.#first];
  }

  push(...entries: readonly LogEntry[]): void {
    this.#known.push(...entries);
    this.#length += entries.length;
  }

  /** All of them; the list grows with the log. */
  all(): readonly LogEntry[] {
    if (this.#first > 0) this.#readBack(0);
    return this.#known;
  }

  /** The place of the first one that is known. */
  get #first(): number {
    return this.#length - this.#known.length;
  }

  get #page(): number {
    return Math.max(FIRST_PAGE, 3 * this.#known.length);
  }

  #readBack(index: number): void {
    const from = Math.max(0, index) + 1;
    this.#known = this.#read(from).filter(({ n }) => n >= from && n <= this.#length);
  }
}

/** What was said before, as far as it was known at that time, and what was added since. */
export class GrowingLog implements Messages {
  /** What was added. */
  readonly added: LogEntry[] = [];
  readonly #before: Messages;
  readonly #known: number;

  constructor(before: Messages) {
    this.#before = before;
    this.#known = before.length;
  }

  get length(): number {
    return this.#known + this.added.length;
  }

  at(index: number): LogEntry | undefined {
    return index < this.#known ? this.#before.at(index) : this.added[index - this.#known];
  }

  /** Adds one and gives its `n`. */
  add(entry: Omit<LogEntry, "n">): number {
    const n = this.length + 1;
    this.added.push({ n, ...entry });
    return n;
  }
}
