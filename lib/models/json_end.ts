/**
 * Sees, piece by piece, where a JSON object that is being written ends. It looks at brackets and strings only: whether the text
 * between them is JSON is for the reader to say. Linear in the text, whatever the pieces.
 */
export class JsonEnd {
  #depth = 0;
  #inText = false;
  #isEscaped = false;
  #isOther = false;
  #isComplete = false;

  /** Takes the next piece. True once the object that began the text is closed; what follows it changes nothing. */
  push(piece: string): boolean {
    for (let at = 0; at < piece.length && !this.#isComplete && !this.#isOther; at++) {
      this.#take(piece.charCodeAt(at));
    }
    return this.#isComplete;
  }

  #take(code: number): void {
    if (this.#inText) return this.#takeInText(code);
    switch (code) {
      case QUOTE:
        this.#inText = true;
        this.#isOther = this.#depth === 0;
        return;
      case OPEN_OBJECT:
        this.#depth++;
        return;
      case OPEN_LIST:
        this.#isOther = this.#depth === 0;
        this.#depth++;
        return;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        this.#depth--;
        this.#isOther = this.#depth < 0;
        this.#isComplete = this.#depth === 0;
        return;
      default:
        this.#isOther = this.#depth === 0 && code > 0x20;
    }
  }

  #takeInText(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === QUOTE) this.#inText = false;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
