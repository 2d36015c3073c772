import { encodeSegment } from "../core/json.ts";
import { readJsonText } from "./json_text.ts";

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

const MAX_SHOWN = 60;

/** A value in the words of a message: short, and one line. */
export function shown(value: unknown): string {
  if (typeof value === "string") return shownText(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array";
  if (typeof value === "object" && value !== null) return "an object";
  return String(value);
}

/** JSON of a value a schema lists, cut when it is long. */
export function shownJson(value: unknown): string {
  const json = typeof value === "bigint" ? `${value}n` : JSON.stringify(value) ?? String(value);
  return json.length <= MAX_SHOWN ? json : `${json.slice(0, MAX_SHOWN)}…`;
}

function shownText(text: string): string {
  if (text === "") return "empty text";
  const cut = text.length <= MAX_SHOWN ? text : text.slice(0, MAX_SHOWN).replace(/[\uD800-\uDBFF]$/, "");
  return cut === text ? JSON.stringify(text) : `${JSON.stringify(cut)}… (${text.length} characters)`;
}

/** A text found where an array or object should be: why it is none. */
export function shownInsteadOfJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return shownText(text);
  const json = readJsonText(text);
  if ("problem" in json) return `${shownText(text)} (${json.problem})`;
  return Array.isArray(json.value) ? "an array as JSON" : "an object as JSON";
}

/** A value that is not what it has to be, in the words of an error: the text of a function would say too much. */
export function foundValue(value: unknown): string {
  return typeof value === "function" ? "a function" : shown(value);
}
