import { parseJson } from "../core/json.ts";
import { measure } from "./text_value.ts";

/** JSON text of an array or object, read; or why it could not be. */
export type JsonText = { readonly value: object } | { readonly problem: string };

/**
 * Reads the JSON text of an array or object; anything else, nesting that is too deep and a name `__proto__`
 * at any depth are problems (calls.md 3 and 7).
 */
export function readJsonText(text: string): JsonText {
  if (!/^\s*[[{]/.test(text)) return { problem: "not JSON" };
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    return { problem: error instanceof RangeError ? message : `broken JSON: ${message}` };
  }
  if (typeof value !== "object" || value === null) return { problem: "not JSON" };
  const { problem } = measure(value);
  return problem === undefined ? { value } : { problem };
}
