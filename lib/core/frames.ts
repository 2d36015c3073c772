// Frames on a stream of bytes: a JSON value, and bytes beside it. Eight bytes of head: the lengths of both, big end first.

/** One frame. `bytes` is empty where there are none. */
export interface Frame {
  readonly value: unknown;
  readonly bytes: Uint8Array;
}

/** What came cannot be a frame; nothing behind it can be read. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

const NOTHING = new Uint8Array();
// Made once: making them takes longer than what they do for a small frame.
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The bytes of a frame. @param value JSON */
export function encodeFrame(value: unknown, bytes: Uint8Array = NOTHING): Uint8Array {
  // Not by encodeInto: in Deno 2.6, once this is compiled, it says that it has read all of a text with umlauts and has not.
  const text = encoder.encode(JSON.stringify(value));
  const frame = new Uint8Array(FRAME_HEAD + text.length + bytes.length);
  writeLength(frame, 0, text.length);
  writeLength(frame, 4, bytes.length);
  frame.set(text, FRAME_HEAD);
  frame.set(bytes, FRAME_HEAD + text.length);
  return frame;
}

/** Puts frames together from whatever pieces they come in; each byte is copied once. */
export class FrameReader {
  readonly #maxBytes: number;
  readonly #head = new Uint8Array(FRAME_HEAD);
  /** Of the frame that is coming. Undefined while its head is. */
  #body: Uint8Array | undefined;
  #textLength = 0;
  #filled = 0;

  /** @param options.maxBytes of a frame without its head: more is an error before anything of it is kept */
  constructor(options: { readonly maxBytes: number }) {
    this.#maxBytes = options.maxBytes;
  }

  /** The frames that this piece completes. @throws {FrameError} */
  push(piece: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    const whole = this.#maybeWhole(piece);
    if (whole !== undefined) return [whole];
    for (let at = 0; at < piece.length || this.#isFull();) {
      const target = this.#body ?? this.#head;
      const part = piece.subarray(at, at + target.length - this.#filled);
      target.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (!this.#isFull()) break;
      if (this.#body === undefined) this.#open();
      else frames.push(this.#close(this.#body));
    }
    return frames;
  }

  /** Whether a frame has begun and not ended: the end of the stream here is a break. */
  get isBetween(): boolean {
    return this.#body === undefined && this.#filled === 0;
  }

  /** The piece, where it is one frame: the usual case, for which nothing has to be kept. */
  #maybeWhole(piece: Uint8Array): Frame | undefined {
    if (!this.isBetween || piece.length < FRAME_HEAD) return undefined;
    const textLength = readLength(piece, 0);
    const length = textLength + readLength(piece, 4);
    if (piece.length !== FRAME_HEAD + length || length > this.#maxBytes) return undefined;
    const bytes = length === textLength ? NOTHING : piece.slice(FRAME_HEAD + textLength); // the piece is valid until the next
    return { value: parsed(piece.subarray(FRAME_HEAD, FRAME_HEAD + textLength)), bytes };
  }

  #isFull(): boolean {
    return this.#filled === (this.#body ?? this.#head).length;
  }

  #open(): void {
    this.#textLength = readLength(this.#head, 0);
    const length = this.#textLength + readLength(this.#head, 4);
    if (length > this.#maxBytes) {
      throw new FrameError(`found a frame of ${length} bytes, expected at most ${this.#maxBytes}`);
    }
    this.#body = new Uint8Array(length);
    this.#filled = 0;
  }

  #close(body: Uint8Array): Frame {
    this.#body = undefined;
    this.#filled = 0;
    const text = body.subarray(0, this.#textLength);
    return { value: parsed(text), bytes: body.subarray(this.#textLength) };
  }
}

function parsed(text: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(text));
  } catch (cause) {
    throw new FrameError("found a frame that is not JSON", { cause });
  }
}

// The head of a frame: the lengths of its text and of the bytes beside it. Nothing of a prototype is used, which a gadget could have changed.

/** Bytes before the text of a frame. */
export const FRAME_HEAD = 8;

/** Writes a number of four bytes, big end first. */
function writeLength(frame: Uint8Array, at: number, length: number): void {
  frame[at] = length >>> 24;
  frame[at + 1] = length >>> 16;
  frame[at + 2] = length >>> 8;
  frame[at + 3] = length;
}

/** A number of four bytes, big end first. */
function readLength(head: Uint8Array, at: number): number {
  const byte = (offset: number): number => head[at + offset] ?? 0;
  return byte(0) * 0x1000000 + (byte(1) << 16 | byte(2) << 8 | byte(3));
}

/** Reads a body into one piece and stops after `maxBytes`. */
export async function collectedBytes(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly body: Uint8Array; readonly truncated: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, maxBytes - size));
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return { body: oneArray(chunks, Math.min(size, maxBytes)), truncated: size > maxBytes };
}

/** The pieces one behind the other. @param size their bytes in all */
export function oneArray(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** A line of a program, or that there was one that is too long. */
export type StdioLine = { readonly text: string } | { readonly tooLong: true };

/**
 * Divides bytes into lines; a blank one is left out. Of a line that is longer than `maxBytes` nothing is kept, and what follows it is
 * read on. Memory and time are linear in what comes.
 */
export async function* stdioLines(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes }: { readonly maxBytes: number },
): AsyncGenerator<StdioLine> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let rest = chunk;
    for (let end = rest.indexOf(LF); end >= 0; end = rest.indexOf(LF)) {
      const line = lineOf([...parts, rest.subarray(0, end)], { size: size + end, maxBytes });
      if (line !== undefined) yield line;
      [parts, size, rest] = [[], 0, rest.subarray(end + 1)];
    }
    size += rest.length;
    if (size > maxBytes) parts = [];
    else if (rest.length > 0) parts.push(rest);
  }
  const last = lineOf(parts, { size, maxBytes }); // without its end: the program may have been cut off
  if (last !== undefined) yield last;
}

const LF = 0x0a;

function lineOf(
  parts: readonly Uint8Array[],
  { size, maxBytes }: { readonly size: number; readonly maxBytes: number },
): StdioLine | undefined {
  if (size > maxBytes) return { tooLong: true };
  const decoder = new TextDecoder();
  const text = parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
  return text.trim() === "" ? undefined : { text };
}
