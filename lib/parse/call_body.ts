import type { KnownPointer } from "./parameter_tree.ts";
import { ParameterTree } from "./parameter_tree.ts";
import { isRecord, parseJson } from "../core/json.ts";

/** Where the text of an argument stands in the body; without a pointer, it is the text before the first argument. */
interface Span {
  readonly pointer: KnownPointer | undefined;
  readonly start: number;
  readonly end: number;
}

/**
 * The body of the block being read: its raw text and its parameters. The text of an argument is kept once only: it is cut from
 * the raw body when that is whole, unless it is known sooner. Reused from block to block.
 */
export class CallBody {
  readonly #leaf: (text: string) => unknown;
  readonly #raw = new Pieces();
  readonly #tree = new ParameterTree();
  /** What is not placed yet. Once there is one, all that follow wait too: errors come in written order. */
  readonly #spans: Span[] = [];
  /** Where a `\` stands that is no part of a value. */
  readonly #escapes: number[] = [];
  #pointer: KnownPointer | undefined;
  #start = 0;

  constructor(leaf: (text: string) => unknown) {
    this.#leaf = leaf;
  }

  /** Of the argument being read; absent before the first one. */
  get pointer(): KnownPointer | undefined {
    return this.#pointer;
  }

  /** Of the raw text so far. */
  get length(): number {
    return this.#raw.length;
  }

  get parameters(): Record<string, unknown> {
    return this.#tree.root;
  }

  /** All errors, in written order. */
  get errors(): readonly string[] {
    return this.#tree.errors;
  }

  open(): void {
    this.#tree.start();
    this.#pointer = undefined;
    this.#start = 0;
  }

  add(raw: string): void {
    this.#raw.add(raw);
  }

  addEscape(at: number): void {
    this.#escapes.push(at);
  }

  openArgument(pointer: KnownPointer, start: number): void {
    this.#pointer = pointer;
    this.#start = start;
  }

  /** Ends the argument being read. `text` is its text, if that is known already. */
  closeArgument(end: number, text: string | undefined): void {
    const pointer = this.#pointer;
    if (pointer !== undefined && text !== undefined && this.#spans.length === 0) {
      this.#tree.place(pointer, this.#leaf(text));
    } else if (end > this.#start || pointer !== undefined) {
      this.#spans.push({ pointer, start: this.#start, end });
    }
  }

  /** Ends the body; `last` is what was not added yet. The raw text. */
  close(last: string): string {
    let raw = last;
    if (this.#raw.length > 0) {
      this.#raw.add(last);
      raw = this.#raw.take();
    }
    if (this.#spans.length > 0) this.#placeSpans(raw);
    this.#pointer = undefined;
    return raw;
  }

  #placeSpans(raw: string): void {
    let next = 0;
    for (const { pointer, start, end } of this.#spans) {
      let text = "";
      let from = start;
      for (; next < this.#escapes.length; next++) {
        const escape = this.#escapes[next] ?? 0;
        if (escape >= end) break;
        text += raw.slice(from, escape);
        from = escape + 1;
      }
      text += raw.slice(from, end);
      if (pointer === undefined) this.#placeText(text);
      else this.#tree.place(pointer, this.#leaf(text));
    }
    this.#spans.length = 0;
    this.#escapes.length = 0;
  }

  #placeText(text: string): void {
    const { parameters, error } = readJsonBody(text);
    if (parameters !== undefined) this.#tree.startWith(parameters);
    if (error !== undefined) this.#tree.errors.push(error);
  }
}

const ROPE_CHARS = 1024;
const PART_CHARS = 16;
const MAX_PARTS = 512;

/**
 * A text that comes in pieces. A short one is a rope, which costs least. A long one is joined part by part, so that neither
 * the garbage collector nor the last step has ever much to do at once.
 */
class Pieces {
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

/** What the text before the first ARG line gives: parameters, or an error (calls.md 3 and 7). */
export interface JsonBody {
  readonly parameters?: Record<string, unknown>;
  readonly error?: string;
}

/** Reads one JSON object, bare or in one code fence; blank text is nothing. Never throws. */
function readJsonBody(text: string): JsonBody {
  const body = text.trim();
  if (body === "") return {};
  const value = parsed(withoutFence(body));
  if (value instanceof RangeError) {
    return { error: `Cannot read the JSON object before the first argument: ${value.message}` };
  }
  if (!isRecord(value)) return { error: "Cannot read text before the first argument" };
  if (hasProto(value)) { // it may be written with an escape, so the text does not tell
    return { error: `Cannot read the JSON object before the first argument: "__proto__" cannot be a name` };
  }
  return { parameters: { ...value } };
}

/** A fence is three or more back-ticks, an optional word, and the same back-ticks alone on the last line. */
function withoutFence(body: string): string {
  const fence = /^`{3,}/.exec(body)?.[0];
  const first = body.indexOf("\n");
  const last = body.lastIndexOf("\n");
  if (fence === undefined || last <= first) return body;
  const word = body.slice(fence.length, first).trim();
  const closes = body.slice(last + 1).trim() === fence;
  return closes && !/[\s`]/.test(word) ? body.slice(first + 1, last) : body;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    return error instanceof RangeError ? error : undefined;
  }
}

/** Whether a value has a key `__proto__` at any depth. */
export function hasProto(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    if (Object.hasOwn(next, "__proto__")) return true;
    for (const child of Object.values(next)) open.push(child);
  }
  return false;
}
