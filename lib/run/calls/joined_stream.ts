import { CutText, eventLoopTurn, ResultError, startOfBytes } from "../../core/core.ts";

/** The first so many pieces are told as they come. */
const MOST_TOLD = 10_000;
/** Of the others so many characters at a time: a gadget may give its text letter by letter. */
const TOLD_TOGETHER = 1024;
/** A source that is always ready would leave no turn of the event loop to timers, signals and other work. */
const PIECES_A_TURN = 10_000;

/** A stream, and what becomes of it. */
export interface JoinedStreamOptions {
  readonly gadgetName: string;
  /** Of UTF-8: as soon as there is more, the stream is ended. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Told each piece as it comes, up to the limit. */
  log(text: string): void;
}

/**
 * A streamed result, text or bytes of UTF-8, as one text; a longer one than a result may be is ended, and is its beginning.
 *
 * @throws {ResultError} when something else comes, the signal's reason, and what the stream throws
 */
export async function joinedStream(
  stream: AsyncIterable<unknown>,
  { gadgetName, maxBytes, signal, log }: JoinedStreamOptions,
): Promise<string | CutText> {
  const decoder = new TextDecoder();
  const told = new ToldPieces(log);
  let [text, bytes, count] = ["", 0, 0];
  for await (const piece of stream) {
    signal.throwIfAborted();
    if (typeof piece !== "string" && !(piece instanceof Uint8Array)) throw notText(piece, gadgetName);
    const next = typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
    const part = startOfBytes(next, maxBytes - bytes);
    bytes += part.bytes;
    text += next; // all of it: a secret may lie across the limit
    told.add(part.text);
    if (part.text.length < next.length) {
      told.end();
      return new CutText(text, undefined);
    }
    if (++count % PIECES_A_TURN === 0) await eventLoopTurn();
  }
  told.end();
  return text + decoder.decode();
}

/** What is told of the pieces. */
class ToldPieces {
  readonly #log: (text: string) => void;
  #count = 0;
  #waiting = "";

  constructor(log: (text: string) => void) {
    this.#log = log;
  }

  add(text: string): void {
    if (++this.#count <= MOST_TOLD) return this.#log(text);
    this.#waiting += text;
    if (this.#waiting.length >= TOLD_TOGETHER) this.end();
  }

  end(): void {
    if (this.#waiting !== "") this.#log(this.#waiting);
    this.#waiting = "";
  }
}

function notText(piece: unknown, gadgetName: string): ResultError {
  const found = piece === null ? "null" : Array.isArray(piece) ? "an array" : `a ${typeof piece}`;
  return new ResultError(
    `The stream of ${gadgetName} gave ${found}; a streamed result is text, or bytes of UTF-8`,
  );
}
