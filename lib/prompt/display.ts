import { compactJson } from "./compact_json.ts";
import { RenderError } from "./render_error.ts";

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
