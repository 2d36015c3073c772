// JSON.stringify would lose maps and sets, refuse bigints, and overflow the stack where a message can be given.

import { RenderError } from "./render_error.ts";

const DEEPEST = 1000;

/**
 * The value as JSON without white space. Maps are objects in the order of their entries, sets are arrays, bigints are
 * numbers with all their digits; everything else is as `JSON.stringify` has it.
 *
 * @throws {RenderError} for a function, a symbol, and what contains itself or is more than 1000 levels deep.
 */
export function compactJson(value: unknown): string {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new RenderError(`a ${typeof value} cannot be rendered`);
  }
  return new JsonWriter().write(value, "") ?? "null";
}

class JsonWriter {
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
    if (value instanceof Map) return this.#members(value);
    if (value instanceof String || value instanceof Number || value instanceof Boolean) {
      return JSON.stringify(value);
    }
    return this.#members(Object.entries(value));
  }

  #list(items: readonly unknown[]): string {
    let text = "";
    for (let i = 0; i < items.length; i++) {
      text += `${i === 0 ? "" : ","}${this.write(items[i], i) ?? "null"}`;
    }
    return `[${text}]`;
  }

  #members(entries: Iterable<[unknown, unknown]>): string {
    let text = "";
    for (const [name, value] of entries) {
      const key = typeof name === "string" ? name : compactJson(name);
      const member = this.write(value, key);
      if (member !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${member}`;
    }
    return `{${text}}`;
  }
}
