import { AsyncLocalStorage } from "node:async_hooks";
import { Channel, CutText, type Json } from "../../core/core.ts";
import { LogBudget } from "../log_budget.ts";

/** Progress is told so often: nobody looks at more of one call. */
const MOST_PROGRESS = 10_000;

/** What a call gives: a value, the beginning of one that is too long to be sent, or text as it comes. */
export type CallResult = Json | CutText | AsyncIterable<string>;

/** Who waits for a call. */
export interface CallListener {
  readonly signal: AbortSignal;
  log(text: string): void;
  progress(done: number, total?: number): void;
  /** The process was given the call. */
  readonly onSent?: () => void;
}

/** What a call tells its session. */
export interface OpenCallOptions extends CallListener {
  readonly id: number;
  /** As errors of other calls name it. */
  readonly name: string;
  resolve(result: CallResult): void;
  reject(thrown: unknown): void;
  /** Nobody waits for it any more. */
  onAbort(call: OpenCall, reason: unknown): void;
  onRoom(id: number, count: number): void;
  onSettled(): void;
}

/** A call that a process was given, until the process has ended it. What it gives is settled once, here. */
export class OpenCall {
  readonly id: number;
  readonly name: string;
  readonly signal: AbortSignal;
  /** Its outcome is there; it may be open in the process still. */
  isSettled = false;
  /** Does a work where the call is: what its process asks for comes through a pipe that belongs to no call. */
  readonly within = AsyncLocalStorage.snapshot();
  readonly #options: OpenCallOptions;
  readonly #logs = new LogBudget();
  #stream: PieceStream | undefined;
  #progressCount = 0;
  #hasActed = false;

  constructor(options: OpenCallOptions) {
    this.id = options.id;
    this.name = options.name;
    this.signal = options.signal;
    this.#options = options;
    options.signal.addEventListener("abort", this, { once: true });
  }

  /** Of its signal: nobody waits for it any more. No closure: with one, all that a call holds outlived it until the next full collection. */
  handleEvent(): void {
    this.#options.onAbort(this, this.#options.signal.reason);
  }

  /** Something outside has come of it: it cannot be made again unasked. */
  get hasActed(): boolean {
    return this.#hasActed || this.#stream !== undefined;
  }

  act(): void {
    this.#hasActed = true;
  }

  log(text: string): void {
    const shown = this.isSettled ? undefined : this.#logs.take(text);
    if (shown !== undefined) this.#options.log(shown);
  }

  progress(done: number, total: number | undefined): void {
    if (this.isSettled || ++this.#progressCount > MOST_PROGRESS) return;
    this.#options.progress(done, total);
  }

  /** False when there was no room for it. */
  piece(text: string): boolean {
    if (this.isSettled) return true;
    if (this.#stream === undefined) {
      const { id, onRoom, onAbort } = this.#options;
      this.#stream = new PieceStream({
        onRoom: (count) => {
          if (!this.isSettled) onRoom(id, count);
        },
        onReturn: () => onAbort(this, new DOMException("Nobody reads its result any more", "AbortError")),
      });
      this.#options.resolve(this.#stream);
    }
    return this.#stream.push(text);
  }

  /** @param value absent: the pieces are it; @param wholeBytes of the text that `value` is the beginning of */
  result(value: Json | undefined, wholeBytes?: number): void {
    if (this.isSettled) return;
    this.#settle();
    if (this.#stream !== undefined) return this.#stream.end();
    if (wholeBytes === undefined) return this.#options.resolve(value === undefined ? "" : value);
    this.#options.resolve(new CutText(String(value), wholeBytes));
  }

  fail(thrown: unknown): void {
    if (this.isSettled) return;
    this.#settle();
    if (this.#stream === undefined) this.#options.reject(thrown);
    else this.#stream.fail(thrown);
  }

  #settle(): void {
    const { lastWord } = this.#logs;
    this.isSettled = true;
    this.#options.signal.removeEventListener("abort", this);
    this.#options.onSettled();
    if (lastWord !== undefined) this.#options.log(lastWord);
  }
}

/** As many pieces may be on the way before the first `more`. */
const WINDOW = 16;
/** So often room is told of, in pieces taken. */
const MORE_AFTER = 8;

/** The pieces of a streamed result; whoever takes them makes room for further ones. For one reader. */
class PieceStream implements AsyncIterableIterator<string> {
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
