import { trimBlanks } from "../core/blanks.ts";

/** The pointer of an ARG line: RFC 6901 without the leading `/` (calls.md 3). */
export interface ArgumentPointer {
  /** As written, trimmed and without its leading `/`; messages quote it. */
  readonly text: string;
  /** Decoded; empty when there is an error. */
  readonly segments: readonly string[];
  /** Of each segment, the index it is when it stands in an array, or -1. */
  readonly indexes: readonly number[];
  /** The pointer of the container, as text; empty when that is the parameters themselves. */
  readonly parent: string;
  /** The last of `indexes`. */
  readonly lastIndex: number;
  /** The segment, when there is just one. */
  readonly only: string | undefined;
  readonly error: string | undefined;
}

const CANONICAL_INDEX = /^(?:0|[1-9][0-9]*)$/;

/** Reads a trimmed pointer. Never throws. */
export function readArgumentPointer(trimmed: string): ArgumentPointer {
  const text = trimmed.startsWith("/") ? trimmed.slice(1) : trimmed;
  const segments = text.split("/").map(decodeSegment);
  const error = pointerError(text) ?? segmentError(text, segments);
  if (error !== undefined) {
    return { text, segments: [], indexes: [], parent: "", lastIndex: -1, only: undefined, error };
  }
  const only = segments.length === 1 ? segments[0] : undefined;
  const parent = only === undefined ? text.slice(0, text.lastIndexOf("/")) : "";
  const indexes = segments.map(indexOf);
  return { text, segments, indexes, parent, lastIndex: indexes.at(-1) ?? -1, only, error };
}

/** Writes a segment so that it is read back as itself. */
export function encodeSegment(segment: string): string {
  return segment.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** A segment beyond the length of any array is past its end anyway. */
function indexOf(segment: string): number {
  return CANONICAL_INDEX.test(segment) ? Number(segment) : -1;
}

function decodeSegment(segment: string): string {
  return segment.includes("~") ? segment.replaceAll("~1", "/").replaceAll("~0", "~") : segment;
}

function pointerError(text: string): string | undefined {
  if (text.includes(":")) return `Cannot read argument "${text}": put the value on the next line`;
  const readable = /^(?:[^/~ \t\r\n]|~[01])+(?:\/(?:[^/~ \t\r\n]|~[01])+)*$/;
  return readable.test(text)
    ? undefined
    : `Cannot read argument "${text}": expected a pointer such as name or items/0/name`;
}

function segmentError(text: string, segments: readonly string[]): string | undefined {
  const negative = segments.find((segment) => /^-[0-9]+$/.test(segment));
  if (negative !== undefined) return `Invalid array index "${negative}" in "${text}"`;
  return segments.includes("__proto__")
    ? `Cannot read argument "${text}": "__proto__" cannot be a name`
    : undefined;
}

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
