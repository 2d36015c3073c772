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
} from "./gadget_primordials.ts";

/** An object that is being written, and where it was found. */
interface Above {
  readonly value: object;
  readonly key: string;
  readonly above: Above | undefined;
  readonly depth: number;
}

const MOST_LEVELS = 500;

/**
 * The JSON of a value; `undefined` at the top is `null`, an undefined property is left out.
 *
 * @throws {TypeError} where it is not JSON, in the words of `toJson`; and what a getter or a `toJSON` in it throws.
 */
export function jsonText(value: unknown): string {
  return written(value, "", undefined);
}

function written(value: unknown, key: string, above: Above | undefined): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (isFinite(value)) return `${value}`;
      throw notJson(`the number ${value}`, key, above);
    case "undefined":
      return "null";
    case "object":
      return value === null ? "null" : writtenObject(value, key, above);
    default:
      throw notJson(`a ${typeof value}`, key, above);
  }
}

function writtenObject(value: object, key: string, above: Above | undefined): string {
  for (let outer = above; outer !== undefined; outer = outer.above) {
    if (outer.value === value) throw notJson("a cycle", key, above);
  }
  const depth = above === undefined ? 0 : above.depth;
  if (depth > MOST_LEVELS) throw notJson(`more than ${MOST_LEVELS} levels`, key, above);
  const inside: Above = { value, key, above, depth: depth + 1 };
  if ("toJSON" in value) {
    const { toJSON } = value;
    if (typeof toJSON === "function") return written(apply(toJSON, value, []), "", inside);
  }
  if (isArray(value)) return writtenArray(value, inside);
  const prototype: unknown = getPrototypeOf(value);
  if (prototype !== null && prototype !== ObjectPrototype) {
    throw notJson(`a ${value.constructor?.name ?? "class instance"}`, key, above);
  }
  return writtenFields(value, inside);
}

function writtenArray(list: readonly unknown[], inside: Above): string {
  let text = "";
  for (let at = 0; at < list.length; at++) {
    text += `${at === 0 ? "" : ","}${written(list[at], `/${at}`, inside)}`;
  }
  return `[${text}]`;
}

function writtenFields(fields: object, inside: Above): string {
  const names = keysOf(fields);
  let text = "";
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? "";
    const value: unknown = getProperty(fields, name);
    if (value === undefined) continue;
    text += `${text === "" ? "" : ","}${quote(name)}:${written(value, `/${name}`, inside)}`;
  }
  return `{${text}}`;
}

function notJson(found: string, key: string, above: Above | undefined): TypeError {
  let path = key;
  for (let outer = above; outer !== undefined; outer = outer.above) path = outer.key + path;
  const place = path === "" ? "" : ` at ${partOf(path, 1)}`;
  return new OwnTypeError(`not JSON: found ${found}${place}`);
}
