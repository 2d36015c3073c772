import { TextValue, trimBlanks } from "../schema/text_value.ts";
import { decodeSegment, encodeSegment } from "../core/json.ts";

type Container = unknown[] | Record<string, unknown>;

/**
 * The parameters of a call, grown argument by argument (calls.md 3, Nesting). An argument with an error writes nothing.
 * Only own properties are read or written, so no pointer reaches a prototype.
 */
export class ParameterTree {
  #root: Record<string, unknown> = {};
  #errors: string[] = [];
  /** Reused from call to call; only the first `#count` are of this one. */
  readonly #placed: ArgumentPointer[] = [];
  #count = 0;
  /** The number of this call, from 1; 0 when a pointer that is not known, or a JSON object, may have written any name. */
  #call = 0;
  #calls = 0;
  /** The array that got the last item, and its pointer: most often the next item follows. */
  #list: unknown[] = [];
  #listPointer = "";

  get root(): Record<string, unknown> {
    return this.#root;
  }

  /** All errors, in the order in which they were found. */
  get errors(): string[] {
    return this.#errors;
  }

  /** Begins the next call. */
  start(): void {
    this.#begin({});
    this.#call = ++this.#calls;
  }

  /** Begins it again, from the JSON object of its block, which is then owned by the tree. */
  startWith(root: Record<string, unknown>): void {
    this.#begin(root);
    this.#call = 0;
  }

  #begin(root: Record<string, unknown>): void {
    this.#root = root;
    if (this.#errors.length > 0) this.#errors = [];
    this.#count = 0;
    this.#listPointer = "";
  }

  /** Puts a value at its place, or notes why it cannot be there. */
  place(pointer: KnownPointer, value: unknown): void {
    const error = pointer.error ?? this.#tryPlace(pointer, value);
    if (error === undefined) this.#placed[this.#count++] = pointer;
    else this.#errors.push(error);
  }

  #tryPlace(pointer: KnownPointer, value: unknown): string | undefined {
    const { only, parent } = pointer;
    if (this.#isFirst(pointer)) { // most arguments: to look into the object would cost far more
      if (only === undefined) return this.#grow(this.#root, { pointer, at: 0, value });
      this.#root[only] = value;
      return undefined;
    }
    if (only === undefined && parent === this.#listPointer && pointer.lastIndex === this.#list.length) {
      this.#list.push(value);
      return undefined;
    }
    return this.#descend(pointer, value);
  }

  /** Whether it is known that no pointer of this call began with the same name. */
  #isFirst({ top }: KnownPointer): boolean {
    if (top === undefined) this.#call = 0;
    if (top === undefined || this.#call === 0 || top.call === this.#call) return false;
    top.call = this.#call;
    return true;
  }

  #descend(pointer: ArgumentPointer, value: unknown): string | undefined {
    const { segments } = pointer;
    const last = segments.length - 1;
    let node: Container = this.#root;
    for (let i = 0; i <= last; i++) {
      const segment = segments[i] ?? "";
      const indexError = Array.isArray(node) ? itemError(pointer, i, node.length) : undefined;
      if (indexError !== undefined) return indexError;
      const child = ownChild(node, segment);
      if (child === undefined) return this.#grow(node, { pointer, at: i, value });
      if (i === last) return this.#taken(pointer, child);
      if (!isContainer(child)) return conflict(this.#nameOf(segments.slice(0, i + 1)), pointer.text);
      node = child;
    }
    return undefined;
  }

  /** Makes the missing containers from the inside out, then hangs them in; or says why a new array cannot begin so. */
  #grow(
    node: Container,
    place: { pointer: ArgumentPointer; at: number; value: unknown },
  ): string | undefined {
    const { pointer, at, value } = place;
    const { segments, indexes } = pointer;
    const last = segments.length - 1;
    for (let i = at + 1; i <= last; i++) if ((indexes[i] ?? 0) > 0) return gap(pointer, 0);
    let inner = value;
    for (let i = last; i > at; i--) {
      if (indexes[i] === 0) {
        const list = [inner];
        if (i === last) this.#remember(list, pointer);
        inner = list;
      } else {
        const object: Record<string, unknown> = {};
        object[segments[i] ?? ""] = inner;
        inner = object;
      }
    }
    if (!Array.isArray(node)) node[segments[at] ?? ""] = inner;
    else {
      node.push(inner);
      if (at === last) this.#remember(node, pointer);
    }
    return undefined;
  }

  #remember(list: unknown[], pointer: ArgumentPointer): void {
    this.#list = list;
    this.#listPointer = pointer.parent;
  }

  /** The place has something: a value twice, or a container that other pointers needed. */
  #taken(pointer: ArgumentPointer, there: unknown): string {
    if (isContainer(there)) {
      const inside = this.#mine().find(({ segments }) => isAbove(pointer.segments, segments))?.text ??
        jsonChild(pointer.text, there);
      if (inside !== undefined) return conflict(pointer.text, inside);
    }
    return `Duplicate pointer "${pointer.text}"`;
  }

  #mine(): readonly ArgumentPointer[] {
    return this.#placed.slice(0, this.#count);
  }

  /** How the value at a place was written: by an earlier pointer, or in the JSON object. */
  #nameOf(segments: readonly string[]): string {
    const written = this.#mine().find((p) =>
      p.segments.length === segments.length && isAbove(segments, p.segments)
    );
    return written?.text ?? segments.map(encodeSegment).join("/");
  }
}

/** The own child of a container; undefined when there is none (no value in the tree is undefined). */
function ownChild(node: Container, segment: string): unknown {
  if (Array.isArray(node)) return node[Number(segment)];
  const child = node[segment];
  return child === undefined || Object.hasOwn(node, segment) ? child : undefined; // "constructor" is there, but not ours
}

function itemError(pointer: ArgumentPointer, at: number, length: number): string | undefined {
  const index = pointer.indexes[at] ?? -1;
  if (index < 0) return `Invalid array index "${pointer.segments[at]}" in "${pointer.text}"`;
  return index > length ? gap(pointer, length) : undefined;
}

const gap = (pointer: ArgumentPointer, expected: number): string =>
  `Array index gap in "${pointer.text}": expected ${expected}`;

const conflict = (value: string, container: string): string =>
  `Conflicting pointers "${value}" and "${container}"`;

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null && !(value instanceof TextValue);
}

function isAbove(prefix: readonly string[], segments: readonly string[]): boolean {
  return prefix.length <= segments.length && prefix.every((segment, i) => segment === segments[i]);
}

function jsonChild(text: string, there: Container): string | undefined {
  const key = Object.keys(there)[0];
  return key === undefined ? undefined : `${text}/${encodeSegment(key)}`;
}

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

/** A segment beyond the length of any array is past its end anyway. */
function indexOf(segment: string): number {
  return CANONICAL_INDEX.test(segment) ? Number(segment) : -1;
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
