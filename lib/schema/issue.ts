import { encodeSegment, shownText } from "../core/core.ts";
import { readJsonText } from "./text_value.ts";

export { foundValue, shown, shownJson } from "../core/shown.ts";

/** One thing that is wrong with an input. */
export interface Issue {
  /** Where: a JSON pointer without its leading `/`; the empty text is the whole input. */
  readonly pointer: string;
  /** What was expected and what was found. */
  readonly message: string;
}

/** What became of an input. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** A path as a pointer without its leading `/` (RFC 6901). */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((key) => encodeSegment(String(key))).join("/");
}

/** A text found where an array or object should be: why it is none. */
export function shownInsteadOfJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return shownText(text);
  const json = readJsonText(text);
  if ("problem" in json) return `${shownText(text)} (${json.problem})`;
  return Array.isArray(json.value) ? "an array as JSON" : "an object as JSON";
}
