import { TextValue, trimBlanks } from "../../schema/text_value.ts";
import { decodeSegment, encodeSegment } from "../../core/core.ts";

type Container = unknown[] | Record<string, unknown>;

/**
 * The parameters of a call, grown argument by argument (calls.md 3, Nesting). An argument with an error writes nothing.
 * Only own properties are read or written, so no pointer reaches a prototype.
 */
export class ParameterTree {
  readonly root: Record<string, unknown>;
  /** The pointer that each container was made for. */
  readonly #madeFor = new Map<Container, string>();

  /** @param root what is there already; the tree owns it */
  constructor(root: Record<string, unknown>) {
    this.root = root;
  }

  /** Puts a value at its place, or says why it cannot be there. */
  place(pointer: ArgumentPointer, value: unknown): string | undefined {
    const { text, segments, error } = pointer;
    if (error !== undefined) return error;
    let node: Container = this.root;
    for (let at = 0; at < segments.length; at++) {
      const segment = segments[at] ?? "";
      const wrongItem = Array.isArray(node) ? itemError(pointer, segment, node.length) : undefined;
      if (wrongItem !== undefined) return wrongItem;
      const child = ownChild(node, segment);
      if (child === undefined) return this.#grow(node, { pointer, at, value });
      if (at === segments.length - 1) return this.#taken(text, child);
      if (!isContainer(child)) return conflict(text.split("/", at + 1).join("/"), text);
      node = child;
    }
    return undefined;
  }

  /** Makes the missing containers from the inside out, then hangs them in; or says why a new array cannot begin so. */
  #grow(
    node: Container,
    { pointer, at, value }: { pointer: ArgumentPointer; at: number; value: unknown },
  ): string | undefined {
    const { text, segments } = pointer;
    let inner = value;
    for (let last = segments.length - 1; last > at; last--) {
      const segment = segments[last] ?? "";
      if (indexOf(segment) > 0) return gap(pointer, 0);
      const container = segment === "0" ? [inner] : { [segment]: inner };
      this.#madeFor.set(container, text);
      inner = container;
    }
    if (Array.isArray(node)) node.push(inner);
    else node[segments[at] ?? ""] = inner;
    return undefined;
  }

  /** The place has something: a value twice, or a container that another pointer or the JSON object needed. */
  #taken(text: string, there: unknown): string {
    const key = isContainer(there) ? Object.keys(there)[0] : undefined;
    if (!isContainer(there) || key === undefined) return `Duplicate pointer "${text}"`;
    return conflict(text, this.#madeFor.get(there) ?? `${text}/${encodeSegment(key)}`);
  }
}

/** The own child of a container; undefined when there is none (no value in the tree is undefined). */
function ownChild(node: Container, segment: string): unknown {
  if (Array.isArray(node)) return node[Number(segment)];
  return Object.hasOwn(node, segment) ? node[segment] : undefined; // "constructor" is there, but not ours
}

function itemError(pointer: ArgumentPointer, segment: string, length: number): string | undefined {
  const index = indexOf(segment);
  if (index < 0) return `Invalid array index "${segment}" in "${pointer.text}"`;
  return index > length ? gap(pointer, length) : undefined;
}

const gap = (pointer: ArgumentPointer, expected: number): string =>
  `Array index gap in "${pointer.text}": expected ${expected}`;

const conflict = (value: string, container: string): string =>
  `Conflicting pointers "${value}" and "${container}"`;

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null && !(value instanceof TextValue);
}

/** The index that a segment is when it stands in an array, or -1. One beyond the length of any array is past its end anyway. */
function indexOf(segment: string): number {
  return /^(?:0|[1-9][0-9]*)$/.test(segment) ? Number(segment) : -1;
}

/** The pointer of an ARG line: RFC 6901 without the leading `/` (calls.md 3). */
export interface ArgumentPointer {
  /** As written, trimmed and without its leading `/`; messages quote it. */
  readonly text: string;
  /** Decoded. */
  readonly segments: readonly string[];
  readonly error: string | undefined;
}

const READABLE = /^(?:[^:/~ \t\r\n]|~[01])+(?:\/(?:[^:/~ \t\r\n]|~[01])+)*$/;

/** Reads `pointer = segment , { "/" , segment }`: the rest of an ARG line. Never throws. */
export function readArgumentPointer(written: string): ArgumentPointer {
  const trimmed = trimBlanks(written);
  const text = trimmed.startsWith("/") ? trimmed.slice(1) : trimmed;
  const segments = text.split("/").map(decodeSegment);
  return { text, segments, error: READABLE.test(text) ? segmentError(text, segments) : unreadable(text) };
}

function unreadable(text: string): string {
  return text.includes(":")
    ? `Cannot read argument "${text}": put the value on the next line`
    : `Cannot read argument "${text}": expected a pointer such as name or items/0/name`;
}

function segmentError(text: string, segments: readonly string[]): string | undefined {
  const negative = segments.find((segment) => segment.startsWith("-") && /^-[0-9]+$/.test(segment));
  if (negative !== undefined) return `Invalid array index "${negative}" in "${text}"`;
  return segments.includes("__proto__")
    ? `Cannot read argument "${text}": "__proto__" cannot be a name`
    : undefined;
}
