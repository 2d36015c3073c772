// A value of the gadget as the text of JSON. The rules and the words are those of `toJson` in lib/core/json.ts; here nothing is asked of
// prototypes that the gadget may have changed, and no copy is made.

import {
  apply,
  getProperty,
  getPrototypeOf,
  isArray,
  isFinite,
  keysOf,
  ObjectPrototype,
  OwnTypeError,
  partOf,
  quote,
  startOf,
} from "./primordials.ts";

/** An object that is being written, and where it was found. */
interface Above {
  readonly value: object;
  readonly key: string;
  readonly above: Above | undefined;
  readonly depth: number;
}

const MOST_LEVELS = 500;
/** UTF-16 units of a text that are written at once. */
const MOST_PART = 65_536;

/** Where JSON is written to, part by part; no part ends inside of a character. */
export interface JsonOutput {
  add(part: string): void;
}

/**
 * The JSON of a value; `undefined` at the top is `null`, an undefined property is left out.
 *
 * @throws {TypeError} where it is not JSON, in the words of `toJson`; and what a getter or a `toJSON` in it throws.
 */
export function jsonText(value: unknown): string {
  let text = "";
  writeJson(value, { add: (part) => text += part });
  return text;
}

/** The same, to where it goes. @throws as `jsonText` does, after a part of it was written */
export function writeJson(value: unknown, output: JsonOutput): void {
  write(value, { output, key: "", above: undefined });
}

/** Where a value was found, and where it goes. */
interface Place {
  readonly output: JsonOutput;
  readonly key: string;
  readonly above: Above | undefined;
}

function write(value: unknown, place: Place): void {
  const { output } = place;
  switch (typeof value) {
    case "string":
      return writeText(value, output);
    case "boolean":
      return output.add(value ? "true" : "false");
    case "number":
      if (isFinite(value)) return output.add(`${value}`);
      throw notJson(`the number ${value}`, place);
    case "undefined":
      return output.add("null");
    case "object":
      return value === null ? output.add("null") : writeObject(value, place);
    default:
      throw notJson(`a ${typeof value}`, place);
  }
}

/** A long text in parts: a copy of all of it might not fit into memory. */
function writeText(text: string, output: JsonOutput): void {
  if (text.length <= MOST_PART) return output.add(quote(text));
  output.add('"');
  eachPart(text, (part) => {
    const quoted = quote(part);
    output.add(partOf(quoted, 1, quoted.length - 1));
  });
  output.add('"');
}

/** Hands on a text part by part; no part ends inside of a character. */
export function eachPart(text: string, take: (part: string) => void): void {
  for (let at = 0; at < text.length;) {
    const part = text.length - at <= MOST_PART ? partOf(text, at) : startOf(partOf(text, at), MOST_PART);
    take(part);
    at += part.length;
  }
}

function writeObject(value: object, place: Place): void {
  const { output, key, above } = place;
  for (let outer = above; outer !== undefined; outer = outer.above) {
    if (outer.value === value) throw notJson("a cycle", place);
  }
  const depth = above === undefined ? 0 : above.depth;
  if (depth > MOST_LEVELS) throw notJson(`more than ${MOST_LEVELS} levels`, place);
  const inside: Above = { value, key, above, depth: depth + 1 };
  if ("toJSON" in value) {
    const { toJSON } = value;
    if (typeof toJSON === "function") {
      return write(apply(toJSON, value, []), { output, key: "", above: inside });
    }
  }
  if (isArray(value)) return writeArray(value, { output, above: inside });
  const prototype: unknown = getPrototypeOf(value);
  if (prototype !== null && prototype !== ObjectPrototype) {
    throw notJson(`a ${value.constructor?.name ?? "class instance"}`, place);
  }
  writeFields(value, { output, above: inside });
}

function writeArray(list: readonly unknown[], { output, above }: Omit<Place, "key">): void {
  output.add("[");
  for (let at = 0; at < list.length; at++) {
    if (at > 0) output.add(",");
    write(list[at], { output, key: `/${at}`, above });
  }
  output.add("]");
}

function writeFields(fields: object, { output, above }: Omit<Place, "key">): void {
  const names = keysOf(fields);
  let before = "{";
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? "";
    const value: unknown = getProperty(fields, name);
    if (value === undefined) continue;
    output.add(before);
    writeText(name, output);
    output.add(":");
    write(value, { output, key: `/${name}`, above });
    before = ",";
  }
  output.add(before === "{" ? "{}" : "}");
}

function notJson(found: string, { key, above }: Pick<Place, "key" | "above">): TypeError {
  let path = key;
  for (let outer = above; outer !== undefined; outer = outer.above) path = outer.key + path;
  const place = path === "" ? "" : ` at ${partOf(path, 1)}`;
  return new OwnTypeError(`not JSON: found ${found}${place}`);
}
