// What is held of the events of a run for its readers: in order, bounded, the text of a step only until its message is there. A reader names
// the last `seq` that it has seen, so nothing here knows of readers.

import type { RunEvent } from "../../core/core.ts";
import type { HeldRun } from "./held_run.ts";
import type { Frame, RunReader } from "../service.ts";

/** How much is held. */
export interface HistoryBounds {
  /** Deltas do not count. Default 5,000. */
  readonly maxEvents?: number;
  /** Of JSON. Default 4 MiB. */
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

/** Comes in pieces: those of one step are joined, and dropped when an event has the whole. */
type Delta = Extract<RunEvent, { readonly type: "text-delta" | "reasoning-delta" }>;

function isDelta(event: RunEvent): event is Delta {
  return event.type === "text-delta" || event.type === "reasoning-delta";
}

/** How long an event is as JSON. */
function eventBytes(event: RunEvent): number {
  return JSON.stringify(event).length;
}

/** The events of a run, as far as they are held. */
export class RunHistory {
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  #events: RunEvent[] = [];
  /** Steps of which thoughts are held. */
  readonly #thinking = new Set<string>();
  /** How many are no deltas. */
  #count = 0;
  #bytes = 0;
  #last: number;
  #gone: number;

  constructor({ maxEvents = 5_000, maxBytes = 4 * 1024 * 1024, before = 0 }: HistoryBounds = {}) {
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
    if (event.type === "reasoning-delta") this.#thinking.add(event.step);
    if (event.type === "message") this.#dropText(event.step); // the message has the whole text
    else if (event.type === "step-end" && this.#thinking.delete(event.key)) this.#dropText(event.key);
    else if (event.type === "step-start" && event.attempt > 1) this.#dropText(event.key);
    this.#events.push(event);
    this.#bytes += eventBytes(event);
    if (!isDelta(event)) this.#count++;
    if (this.#count > this.#maxEvents || this.#bytes > this.#maxBytes) this.#forget();
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
    const held = this.#events.slice(this.#events.findLastIndex(({ seq }) => seq <= after) + 1);
    const all = earlier.length === 0 ? held : [...earlier, ...held].sort((a, b) => a.seq - b.seq);
    const events: RunEvent[] = [];
    let last = after;
    let room = maxBytes;
    for (const event of all) {
      if (events.length > 0 && (room <= 0 || event.seq > upTo)) break;
      const newest = events.at(-1);
      if (isDelta(event) && newest?.type === event.type && newest.step === event.step) {
        events[events.length - 1] = { ...event, text: newest.text + event.text };
      } else events.push(event);
      room -= isDelta(event) ? event.text.length : eventBytes(event);
      last = event.seq;
    }
    return { events, last };
  }

  #dropText(step: string): void {
    this.#events = this.#events.filter((event) => {
      if (!isDelta(event) || event.step !== step) return true;
      this.#bytes -= eventBytes(event);
      return false;
    });
  }

  /** Half of what may be held stays; steps that still write keep their text while that is no more than a quarter. */
  #forget(): void {
    const texts: RunEvent[] = [];
    let textBytes = 0;
    let at = 0;
    for (const event of this.#events.slice(0, -1)) {
      if (this.#bytes <= this.#maxBytes / 2 && this.#count <= this.#maxEvents / 2) break;
      at++;
      const bytes = eventBytes(event);
      if (isDelta(event) && textBytes + bytes <= this.#maxBytes / 4) {
        texts.push(event);
        textBytes += bytes;
        continue;
      }
      if (!isDelta(event)) this.#count--;
      this.#bytes -= bytes;
      this.#gone = Math.max(this.#gone, event.seq);
    }
    this.#events = [...texts, ...this.#events.slice(at)];
  }
}

/** Reads a run from behind a `seq` on. One `next` at a time. */
export class HistoryReader implements RunReader {
  readonly #run: HeldRun;
  /** Asks of which it has heard. */
  readonly #told: Set<string>;
  #cursor: number;
  /** Up to this `seq` it was told that events are missing. */
  #gap = 0;
  #hasLeft = false;
  #wake = (): void => {};

  constructor(run: HeldRun, { after }: { readonly after: number }) {
    this.#run = run;
    this.#cursor = Math.min(after, run.newest);
    const hasSeenAll = run.isOver && after >= run.newest; // and knows that no ask is open
    this.#told = new Set(after > 0 && !hasSeenAll ? run.asked.keys() : []);
  }

  async next({ maxBytes }: { readonly maxBytes: number }): Promise<readonly Frame[] | undefined> {
    while (!this.#hasLeft) {
      const frames = this.#take(maxBytes);
      if (frames.length > 0) return frames;
      if (this.#run.isOver) return undefined;
      await new Promise<void>((resolve) => this.#run.wake(this.#wake = resolve));
    }
    return undefined;
  }

  leave(): void {
    this.#hasLeft = true;
    this.#run.unwake(this.#wake);
    this.#wake();
  }

  #take(maxBytes: number): readonly Frame[] {
    const { history } = this.#run;
    const frames: Frame[] = [];
    const isBehind = this.#cursor < history.gone;
    const earlier = isBehind ? this.#run.earlier(this.#cursor) : [];
    if (isBehind && earlier?.length === 0) this.#cursor = history.gone; // a process that was killed took the numbers in between
    if (earlier === undefined && this.#gap < history.gone) frames.push({ gap: this.#gap = history.gone });
    const missing = earlier?.filter(({ seq }) => seq <= history.gone) ?? [];
    const upTo = missing.length > 0 && missing.length === earlier?.length ? missing.at(-1)?.seq : undefined;
    const { events, last } = history.behind(this.#cursor, { maxBytes, earlier: missing, upTo });
    this.#cursor = last;
    for (const event of events) frames.push({ event });
    if (last >= history.last) this.#tellAsks(frames);
    return frames;
  }

  /** An ask stands behind the event that tells of it. */
  #tellAsks(frames: Frame[]): void {
    const { asks } = this.#run;
    for (const id of this.#told) {
      if (asks.some(({ ask }) => ask === id)) continue;
      this.#told.delete(id);
      frames.push({ answered: id });
    }
    for (const ask of asks) {
      if (this.#told.has(ask.ask)) continue;
      this.#told.add(ask.ask);
      frames.push({ ask });
    }
  }
}

/** How much is read at once, in bytes. */
const READ_BYTES = 65_536;

/** Everything that a reader gets, until there is no more; whoever ends it early leaves the reader. */
export async function* framesOf(reader: RunReader): AsyncGenerator<Frame, undefined> {
  try {
    for (;;) {
      const frames = await reader.next({ maxBytes: READ_BYTES });
      if (frames === undefined) return;
      yield* frames;
    }
  } finally {
    reader.leave();
  }
}

/**
 * Reads what was kept, such as of a run that has ended long ago.
 *
 * @param kept gives some of the events behind a `seq`, the first ones of them; none when there are no more
 */
export function keptReader(
  kept: (after: number) => readonly RunEvent[],
  { after }: { readonly after: number },
): RunReader {
  let cursor = after;
  let part: readonly RunEvent[] = [];
  let at = 0;
  let hasLeft = false;
  const next = (): RunEvent | undefined => {
    if (at === part.length) [part, at] = [kept(cursor), 0];
    const event = part[at++];
    cursor = event?.seq ?? cursor;
    return event;
  };
  return {
    async next({ maxBytes }) {
      const frames: Frame[] = [];
      for (let room = maxBytes; !hasLeft && (frames.length === 0 || room > 0);) {
        const event = next();
        if (event === undefined) hasLeft = true;
        else {
          frames.push({ event });
          room -= eventBytes(event);
        }
      }
      return await Promise.resolve(frames.length === 0 ? undefined : frames);
    },
    leave: () => void (hasLeft = true),
  };
}
