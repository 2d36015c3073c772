// A long text as bytes of UTF-8, as far as they are wanted, put together from parts.

import { lengthOf, utf8, utf8Length } from "./primordials.ts";

/** UTF-16 units that are made bytes together. */
const MOST_PENDING = 65_536;

interface Chunk {
  readonly bytes: Uint8Array;
  next: Chunk | undefined;
}

/** The beginning of a text, and how long the whole of it is. */
export class BoundedBytes {
  readonly #most: number;
  #pending = "";
  #first: Chunk | undefined;
  #last: Chunk | undefined;
  #keptBytes = 0;
  #wholeBytes = 0;
  #isCut = false;

  /** @param most bytes that are kept; of a text that is longer a little less */
  constructor(most: number) {
    this.#most = most;
  }

  /** @param part ends between two characters */
  add(part: string): void {
    this.#pending += part;
    if (this.#pending.length > MOST_PENDING) this.#flush();
  }

  /** Adds what another one has kept. */
  append(other: BoundedBytes): void {
    this.#flush();
    other.each((bytes) => {
      this.#wholeBytes += lengthOf(bytes);
      this.#keep(bytes);
    });
  }

  /** The whole text, as long as it is short; undefined when it was made bytes. */
  get text(): string | undefined {
    const isShort = this.#wholeBytes === 0 && this.#pending.length * 3 <= this.#most; // no unit takes more bytes
    return isShort ? this.#pending : undefined;
  }

  /** Not all of it is kept. */
  get isCut(): boolean {
    this.#flush();
    return this.#isCut;
  }

  get keptBytes(): number {
    this.#flush();
    return this.#keptBytes;
  }

  get wholeBytes(): number {
    this.#flush();
    return this.#wholeBytes;
  }

  /** What is kept, in parts that end between two characters. */
  each(take: (bytes: Uint8Array) => void): void {
    this.#flush();
    for (let chunk = this.#first; chunk !== undefined; chunk = chunk.next) take(chunk.bytes);
  }

  #flush(): void {
    const pending = this.#pending;
    if (pending === "") return;
    this.#pending = "";
    const length = utf8Length(pending);
    this.#wholeBytes += length;
    this.#isCut ||= this.#keptBytes + length > this.#most; // nothing is kept behind what there was no room for
    if (!this.#isCut) this.#keep(utf8(pending));
  }

  #keep(bytes: Uint8Array): void {
    this.#keptBytes += lengthOf(bytes);
    const chunk: Chunk = { bytes, next: undefined };
    if (this.#last === undefined) this.#first = chunk;
    else this.#last.next = chunk;
    this.#last = chunk;
  }
}
