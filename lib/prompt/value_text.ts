import { messageOf } from "../core/core.ts";
import { pathText } from "./check_value.ts";

/**
 * How a value shows in a prompt (prompts.md 2): text as it is, a date as ISO 8601, what has parts as compact JSON, and
 * undefined, which is the result of a gadget that gives none, as `null`.
 *
 * @throws {RenderError} for a function, a symbol, an invalid date, and what contains itself.
 */
export function display(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value;
    case "object":
      return value instanceof Date ? isoDate(value) : compactJson(value);
    case "function":
    case "symbol":
      throw new RenderError(`a ${typeof value} cannot be rendered`);
    case "undefined":
      return "null";
    default:
      return String(value);
  }
}

function isoDate(date: Date): string {
  if (Number.isNaN(date.getTime())) throw new RenderError("an invalid date cannot be rendered");
  return date.toISOString();
}

/** The text between as much of `fill`, one code point, as makes `width` code points; `^` puts the odd one at the end. */
export function padded(
  text: string,
  options: { readonly width: number; readonly align: string; readonly fill: string },
): string {
  const { width, align, fill } = options;
  if (text.length >= 2 * width) return text;
  const missing = width - codePoints(text);
  if (missing <= 0) return text;
  const before = align === "<" ? 0 : align === "^" ? missing >> 1 : missing;
  return fill.repeat(before) + text + fill.repeat(missing - before);
}

function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at++) {
    if ((text.codePointAt(at) ?? 0) <= 0xffff) continue;
    count--;
    at++;
  }
  return count;
}

// JSON.stringify would lose maps and sets, refuse bigints, and overflow the stack where a message can be given.

const DEEPEST = 1000;

/**
 * The value as JSON without white space. Maps are objects in the order of their entries, sets are arrays, bigints are
 * numbers with all their digits; everything else is as `JSON.stringify` has it.
 *
 * @throws {RenderError} for a function, a symbol, an invalid date, what contains itself or is more than 1000 levels deep, and naming
 * the place where the value cannot be read.
 */
export function compactJson(value: unknown): string {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new RenderError(`a ${typeof value} cannot be rendered`);
  }
  // Alone it is a mistake, not data with a gap in it: JSON's null would hide that.
  if (value instanceof Date && Number.isNaN(value.getTime())) {
    throw new RenderError("an invalid date cannot be rendered");
  }
  const writer = new JsonWriter();
  try {
    return writer.write(value, "") ?? "null";
  } catch (cause) {
    if (cause instanceof RenderError) throw cause;
    const { path } = writer;
    const what = path.length === 0 ? "the value" : pathText(path);
    throw new RenderError(`cannot read ${what}: ${messageOf(cause)}`, { cause });
  }
}

class JsonWriter {
  /** To what is being written; where an error was thrown, it stays there. */
  readonly path: (string | number)[] = [];
  /** The objects around the value that is being written. */
  readonly #above = new Set<object>();

  /** Undefined for what an object leaves out. */
  write(value: unknown, key: string | number): string | undefined {
    if (typeof value === "bigint") return String(value);
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    if (this.#above.has(value)) throw new RenderError("a value that contains itself cannot be rendered");
    if (this.#above.size === DEEPEST) {
      throw new RenderError(`a value of more than ${DEEPEST} levels cannot be rendered`);
    }
    this.#above.add(value);
    const given: unknown = "toJSON" in value && typeof value.toJSON === "function"
      ? value.toJSON(String(key))
      : value;
    const text = given === value ? this.#object(value) : this.write(given, key);
    this.#above.delete(value);
    return text;
  }

  #object(value: object): string | undefined {
    if (Array.isArray(value)) return this.#list(value);
    if (value instanceof Set) return this.#list([...value]);
    if (value instanceof Map) return this.#map(value);
    if (value instanceof String || value instanceof Number || value instanceof Boolean) {
      return JSON.stringify(value);
    }
    return this.#record(value);
  }

  #list(items: readonly unknown[]): string {
    let text = "";
    for (let i = 0; i < items.length; i++) {
      this.path.push(i);
      text += `${i === 0 ? "" : ","}${this.write(items[i], i) ?? "null"}`;
      this.path.pop();
    }
    return `[${text}]`;
  }

  #record(object: object): string {
    let text = "";
    for (const key of Object.keys(object)) {
      this.path.push(key); // before it is read: a getter may throw
      text += this.#member(key, Reflect.get(object, key), text === "");
      this.path.pop();
    }
    return `{${text}}`;
  }

  #map(map: ReadonlyMap<unknown, unknown>): string {
    let text = "";
    for (const [name, value] of map) {
      const key = typeof name === "string" ? name : compactJson(name);
      this.path.push(key);
      text += this.#member(key, value, text === "");
      this.path.pop();
    }
    return `{${text}}`;
  }

  #member(key: string, value: unknown, isFirst: boolean): string {
    const text = this.write(value, key);
    return text === undefined ? "" : `${isFirst ? "" : ","}${JSON.stringify(key)}:${text}`;
  }
}

/** A template that cannot be rendered with these arguments; the message says nothing of the prompt. */
export class RenderError extends Error {
  override readonly name = "RenderError";
}
