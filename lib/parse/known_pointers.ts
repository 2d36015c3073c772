import { trimBlanks } from "../core/blanks.ts";
import { readArgumentPointer } from "./argument_pointer.ts";
import type { ArgumentPointer } from "./argument_pointer.ts";

/** A pointer that was met before. */
export interface KnownPointer extends ArgumentPointer {
  /** Its whole line, ready to be compared. */
  readonly line: string;
  /** What came after it last time. */
  next: KnownPointer | undefined;
  /** Its first segment, shared by all pointers that begin with it; absent when there are too many to know. */
  readonly top: TopName | undefined;
}

/** A name at the top of the parameters. */
export interface TopName {
  /** The number of the call in which it was written last. */
  call: number;
}

const MAX_KEPT = 500;

/** The pointers of a text. A model writes the same few arguments in the same order again and again, so the next is guessed. */
export class KnownPointers {
  readonly #marker: string;
  readonly #byText = new Map<string, KnownPointer>();
  readonly #tops = new Map<string, TopName>();
  #last: KnownPointer | undefined;

  constructor(marker: string) {
    this.#marker = marker;
  }

  get guess(): KnownPointer | undefined {
    return this.#last?.next;
  }

  follow(pointer: KnownPointer): void {
    if (this.#last !== undefined) this.#last.next = pointer;
    this.#last = pointer;
  }

  read(text: string): KnownPointer {
    const trimmed = trimBlanks(text);
    const known = this.#byText.get(trimmed);
    if (known !== undefined) return known;
    const isKept = this.#byText.size < MAX_KEPT;
    const pointer = readArgumentPointer(trimmed);
    const pointerKnown = {
      ...pointer,
      line: `${this.#marker}${trimmed}\n`,
      next: undefined,
      top: isKept ? this.#top(pointer.segments[0] ?? "") : undefined,
    };
    if (isKept) this.#byText.set(trimmed, pointerKnown);
    return pointerKnown;
  }

  #top(segment: string): TopName {
    let top = this.#tops.get(segment);
    if (top === undefined) this.#tops.set(segment, top = { call: 0 });
    return top;
  }
}
