import { TextValue } from "../schema/text_value.ts";
import { encodeSegment } from "./argument_pointer.ts";
import type { ArgumentPointer } from "./argument_pointer.ts";

type Container = unknown[] | Record<string, unknown>;

const CANONICAL_INDEX = /^(?:0|[1-9][0-9]*)$/;

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

  get root(): Record<string, unknown> {
    return this.#root;
  }

  /** All errors, in the order in which they were found. */
  get errors(): string[] {
    return this.#errors;
  }

  /** Begins the next call: from the JSON object of its block, which is then owned by the tree, or from `{}`. */
  start(root: Record<string, unknown>): void {
    this.#root = root;
    if (this.#errors.length > 0) this.#errors = [];
    this.#count = 0;
  }

  /** Puts a value at its place, or notes why it cannot be there. */
  place(pointer: ArgumentPointer, value: unknown): void {
    const { only } = pointer;
    if (only !== undefined && this.#root[only] === undefined) { // most arguments; an inherited name such as "constructor" is not undefined
      this.#root[only] = value;
      this.#placed[this.#count++] = pointer;
      return;
    }
    const error = pointer.error ?? this.#tryPlace(pointer, value);
    if (error === undefined) this.#placed[this.#count++] = pointer;
    else this.#errors.push(error);
  }

  #tryPlace(pointer: ArgumentPointer, value: unknown): string | undefined {
    const { segments } = pointer;
    const last = segments.length - 1;
    let node: Container = this.#root;
    for (let i = 0; i <= last; i++) {
      const segment = segments[i] ?? "";
      const indexError = Array.isArray(node) ? itemError(pointer, segment, node.length) : undefined;
      if (indexError !== undefined) return indexError;
      const child = ownChild(node, segment);
      if (child === undefined) return grow(node, { pointer, at: i, value });
      if (i === last) return this.#taken(pointer, child);
      if (!isContainer(child)) return conflict(this.#nameOf(segments.slice(0, i + 1)), pointer.text);
      node = child;
    }
    return undefined;
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

/** Makes the missing containers from the inside out, then hangs them in; or says why a new array cannot begin so. */
function grow(
  node: Container,
  place: { pointer: ArgumentPointer; at: number; value: unknown },
): string | undefined {
  const { pointer, at, value } = place;
  let inner = value;
  let error: string | undefined;
  for (let i = pointer.segments.length - 1; i > at; i--) {
    const segment = pointer.segments[i] ?? "";
    const isItem = CANONICAL_INDEX.test(segment);
    if (isItem && segment !== "0") error = gap(pointer, 0);
    inner = isItem ? [inner] : { [segment]: inner };
  }
  if (error !== undefined) return error;
  if (Array.isArray(node)) node.push(inner);
  else node[pointer.segments[at] ?? ""] = inner;
  return undefined;
}

/** The own child of a container; undefined when there is none (no value in the tree is undefined). */
function ownChild(node: Container, segment: string): unknown {
  if (Array.isArray(node)) return node[Number(segment)];
  const child = node[segment];
  return child === undefined || Object.hasOwn(node, segment) ? child : undefined; // "constructor" is there, but not ours
}

function itemError(pointer: ArgumentPointer, segment: string, length: number): string | undefined {
  if (!CANONICAL_INDEX.test(segment)) return `Invalid array index "${segment}" in "${pointer.text}"`;
  return Number(segment) > length ? gap(pointer, length) : undefined;
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
