import { Channel } from "../core/async.ts";

/** As many pieces may be on the way before the first `more`. */
export const WINDOW = 16;
/** So often room is told of, in pieces taken. */
const MORE_AFTER = 8;

/** The pieces of a streamed result; whoever takes them makes room for further ones. For one reader. */
export class PieceStream implements AsyncIterableIterator<string> {
  readonly #pieces: Channel<string>;
  readonly #onRoom: (count: number) => void;
  #open = 0;
  #taken = 0;

  /** @param options.onReturn the reader has left before the end */
  constructor(options: { readonly onRoom: (count: number) => void; readonly onReturn: () => void }) {
    this.#pieces = new Channel({ onReturn: options.onReturn });
    this.#onRoom = options.onRoom;
  }

  /** False when there was no room for it. */
  push(text: string): boolean {
    if (++this.#open > WINDOW) return false;
    this.#pieces.push(text);
    return true;
  }

  end(): void {
    this.#pieces.end();
  }

  fail(thrown: unknown): void {
    this.#pieces.fail(thrown);
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    const next = await this.#pieces.next();
    if (next.done !== true && ++this.#taken === MORE_AFTER) {
      this.#open -= MORE_AFTER;
      this.#taken = 0;
      this.#onRoom(MORE_AFTER);
    }
    return next;
  }

  return(): Promise<IteratorResult<string, undefined>> {
    return this.#pieces.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
