import { eventBytes } from "./history.ts";
import type { HeldRun } from "./held_run.ts";
import type { RunEvent } from "../../core/core.ts";
import type { Frame, RunReader } from "../service.ts";

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
