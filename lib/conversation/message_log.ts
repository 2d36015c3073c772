// A log may be long, and most of what looks at it looks at its end: a conversation of thousands of turns answers as fast as a short one.
import { type LogEntry, mediaFrom, type Message, wordsWith } from "../core/core.ts";
import type { MemorySelection } from "../parse/agent/agent.ts";

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

/** What is selected from, and for whom. */
interface MemoryOptions {
  readonly selections: readonly MemorySelection[];
  /** The newest entries that are taken of what is selected. Default: all. */
  readonly limit: number | undefined;
  /** The step that asks. */
  readonly step: string;
  /** A step with everything inside of it; undefined when there is no such step. */
  readonly within: (id: string) => ReadonlySet<string> | undefined;
}

/** The entries of the log that a model sees (conversations.md 2.7): what any selection names, in the order of the log. */
export function selectMemory(log: Messages, options: MemoryOptions): readonly LogEntry[] {
  const { selections, limit = Infinity } = options;
  const takes = selections.map((selection) => takerOf(selection, options));
  const selected: LogEntry[] = [];
  for (let i = log.length - 1; i >= 0 && selected.length < limit; i--) {
    const entry = log.at(i);
    if (entry !== undefined && takes.some((take) => take(entry))) selected.push(entry);
  }
  return selected.reverse();
}

/** As a model is told. */
export function memoryMessage({ who, text, media }: LogEntry): Message {
  return who === "user"
    ? { role: who, content: wordsWith(text, mediaFrom(media)) }
    : { role: who, content: text };
}

function takerOf(
  selection: MemorySelection,
  { step, within }: MemoryOptions,
): (entry: LogEntry) => boolean {
  if ("selector" in selection) {
    return selection.selector === "all" ? () => true : ({ steps }) => steps.includes(step);
  }
  const ids = within(selection.from);
  return ids === undefined ? () => false : ({ steps }) => steps.some((id) => ids.has(id));
}
