import type { Frame, RunReader } from "./service.ts";

/** The turns of a conversation, one after the other. */
export interface TurnSource {
  /** What there is from behind a `seq` on: of the turn under way, or of those that have ended. */
  read(options: { readonly after: number }): Promise<RunReader>;
  /** It takes no further turn. */
  isCompleted(): boolean;
  /** Calls back once, when the next turn begins or it was removed; gives what takes that back. */
  wake(reader: WakeReader): () => void;
}

/** Is told why it waits no longer. */
export type WakeReader = (why: "turn" | "removed") => void;

/** Reads a conversation over all its turns, until it is completed. One `next` at a time. */
export class TalkReader implements RunReader {
  readonly #source: TurnSource;
  #cursor: number;
  #turn: RunReader | undefined;
  #hasLeft = false;
  #wake = () => {};

  constructor(source: TurnSource, { after }: { readonly after: number }) {
    this.#source = source;
    this.#cursor = after;
  }

  async next(options: { readonly maxBytes: number }): Promise<readonly Frame[] | undefined> {
    while (!this.#hasLeft) {
      const began = this.#nextTurn(); // before it is read: what begins meanwhile is not missed
      try {
        this.#turn ??= await this.#source.read({ after: this.#cursor });
        const frames = this.#hasLeft ? undefined : await this.#turn.next(options);
        if (frames !== undefined) {
          for (const frame of frames) if ("event" in frame) this.#cursor = frame.event.seq;
          return frames;
        }
        this.#turn = undefined;
        if (this.#hasLeft) return undefined;
        if (!this.#source.isCompleted()) await began.promise;
        else if (!began.isBegun()) return undefined;
      } finally {
        began.forget();
      }
    }
    return undefined;
  }

  leave(): void {
    this.#hasLeft = true;
    this.#turn?.leave();
    this.#wake();
  }

  #nextTurn(): { readonly promise: Promise<void>; isBegun(): boolean; forget(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isBegun = false;
    const forget = this.#source.wake((why) => {
      isBegun = true;
      this.#hasLeft ||= why === "removed";
      resolve();
    });
    this.#wake = resolve;
    return { promise, isBegun: () => isBegun, forget };
  }
}
