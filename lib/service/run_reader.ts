import type { RunEvent } from "../core/event.ts";
import { eventBytes } from "./event_bytes.ts";
import type { RunHistory } from "./run_history.ts";
import type { Frame, OpenAsk, RunReader } from "./service.ts";

/** What a reader reads from. */
export interface ReadSource {
  readonly history: RunHistory;
  /** The newest `seq` that anybody can have seen. */
  readonly newest: number;
  /** There will be no more. */
  readonly isOver: boolean;
  readonly asks: readonly OpenAsk[];
  /** Asks that are open no more, as far as they are known. */
  readonly answered: readonly string[];
  /**
   * Some of the events of before behind a `seq`, which the history does not hold any more: the first ones of them, none where there are no
   * more; undefined where nobody has kept them.
   */
  earlier(after: number): readonly RunEvent[] | undefined;
  /** Calls back at the next change, once. */
  wake(reader: () => void): void;
  unwake(reader: () => void): void;
}

/** Reads a run from behind a `seq` on. One `next` at a time. */
export class HistoryReader implements RunReader {
  readonly #source: ReadSource;
  readonly #told: Set<string>;
  #cursor: number;
  #hasLeft = false;
  #wake: (() => void) | undefined;
  /** What came from elsewhere and is to be given next: a part of what is missing. */
  #earlier: readonly RunEvent[] = [];
  /** Up to this `seq` it is known what is missing. */
  #knownTo = 0;

  constructor(source: ReadSource, { after }: { readonly after: number }) {
    this.#source = source;
    this.#cursor = Math.min(after, source.newest);
    this.#told = new Set(mayHaveSeenAsks(source, after) ? source.answered : []);
  }

  async next({ maxBytes }: { readonly maxBytes: number }): Promise<readonly Frame[] | undefined> {
    for (;;) {
      if (this.#hasLeft) return undefined;
      const frames = this.#take(maxBytes);
      if (frames.length > 0) return frames;
      if (this.#source.isOver) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      this.#source.wake(resolve);
      await promise;
    }
  }

  leave(): void {
    this.#hasLeft = true;
    if (this.#wake === undefined) return;
    this.#source.unwake(this.#wake);
    this.#wake();
  }

  #take(maxBytes: number): readonly Frame[] {
    const { history } = this.#source;
    const frames: Frame[] = [];
    if (!this.#lookBack()) frames.push({ gap: history.gone });
    const { events, last } = history.behind(this.#cursor, {
      maxBytes,
      earlier: this.#earlier,
      ...(this.#knownTo < history.gone && this.#cursor < history.gone ? { upTo: this.#knownTo } : {}),
    });
    this.#cursor = last;
    for (const event of events) frames.push({ event });
    if (last >= history.last) this.#tellAsks(frames);
    return frames;
  }

  /** Gets the next part of what is missing when the one before is given; false when nobody has it, once. */
  #lookBack(): boolean {
    const { gone } = this.#source.history;
    const left = this.#earlier.at(-1)?.seq ?? 0;
    if (left > this.#cursor) return true;
    this.#earlier = [];
    if (this.#cursor >= gone || this.#knownTo >= gone) return true;
    const part = this.#source.earlier(Math.max(this.#cursor, this.#knownTo));
    const last = part?.at(-1)?.seq ?? gone;
    this.#knownTo = Math.min(last, gone);
    this.#earlier = part?.filter(({ seq }) => seq <= gone) ?? [];
    return part !== undefined;
  }

  /** An ask stands behind the event that tells of it. */
  #tellAsks(frames: Frame[]): void {
    const { asks } = this.#source;
    if (asks.length === 0 && this.#told.size === 0) return;
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

/** Whoever has seen something may have seen those asked; whoever has seen the end knows that none is open. */
function mayHaveSeenAsks({ isOver, newest }: ReadSource, after: number): boolean {
  return after > 0 && !(isOver && after >= newest);
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
