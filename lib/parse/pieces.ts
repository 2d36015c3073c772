const ROPE_CHARS = 1024;
const PART_CHARS = 16;
const MAX_PARTS = 512;

/**
 * A text that comes in pieces. A short one is a rope, which costs least. A long one is joined part by part, so that neither
 * the garbage collector nor the last step has ever much to do at once.
 */
export class Pieces {
  #head = "";
  #parts: string[] | undefined;
  #partsLength = 0;
  #tail = "";

  get length(): number {
    return this.#head.length + this.#partsLength + this.#tail.length;
  }

  add(piece: string): void {
    const tail = this.#tail;
    if (tail.length < (this.#parts === undefined ? ROPE_CHARS : PART_CHARS)) this.#tail = tail + piece;
    else this.#addPart(tail, piece);
  }

  #addPart(part: string, tail: string): void {
    this.#tail = tail;
    this.#partsLength += part.length;
    if (this.#parts === undefined) this.#parts = [part];
    else if (this.#parts.push(part) === MAX_PARTS) {
      this.#head += this.#parts.join("");
      this.#parts = [];
      this.#partsLength = 0;
    }
  }

  /** The whole text; from then on there is none. */
  take(): string {
    const text = this.#parts === undefined ? this.#tail : this.#head + this.#parts.join("") + this.#tail;
    this.#head = this.#tail = "";
    this.#parts = undefined;
    this.#partsLength = 0;
    return text;
  }
}
