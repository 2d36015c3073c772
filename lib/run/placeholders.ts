import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { mapChildren, TextValue } from "../schema/text_value.ts";

/** A placeholder leads nowhere; the message says where it stopped. */
export class PlaceholderError extends Error {
  override readonly name = "PlaceholderError";
}

/** The result of a dependency by its id; undefined for any other id. */
export type ResultOf = (id: string) => Json | undefined;

const PLACEHOLDER = /\{\{results\.([A-Za-z_][A-Za-z0-9_.-]*)((?:\/[^{}\r\n]*)?)\}\}/g;
const WHOLE = new RegExp(`^${PLACEHOLDER.source}$`);

/**
 * The parameters with `{{results.ID}}` and `{{results.ID/pointer}}` replaced, at any depth and once (calls.md 5 and 7). A text that is
 * one placeholder becomes the result itself; inside a longer text a string is inserted as it is, all else as JSON. The text stays
 * as it is for an id that `resultOf` does not know.
 *
 * @throws {PlaceholderError} when a pointer leads nowhere.
 */
export function fillPlaceholders(tree: unknown, resultOf: ResultOf): unknown {
  if (tree instanceof TextValue) {
    return fillText(tree.text, resultOf, (text) => text === tree.text ? tree : new TextValue(text));
  }
  if (typeof tree === "string") return fillText(tree, resultOf, (text) => text);
  if (typeof tree !== "object" || tree === null) return tree;
  return mapChildren(tree, (child) => fillPlaceholders(child, resultOf));
}

function fillText(text: string, resultOf: ResultOf, asText: (text: string) => unknown): unknown {
  if (!text.includes("{{results.")) return asText(text);
  const whole = WHOLE.exec(text);
  const value = whole === null ? undefined : look(whole, resultOf);
  if (value !== undefined) return ownCopy(value);
  return asText(text.replaceAll(PLACEHOLDER, (...match) => {
    const found = look(match, resultOf);
    return found === undefined ? match[0] : typeof found === "string" ? found : JSON.stringify(found);
  }));
}

/** A gadget may change what it gets; the result belongs to the run. */
export function ownCopy(value: Json): Json {
  return typeof value === "object" && value !== null ? structuredClone(value) : value;
}

function look(match: readonly unknown[], resultOf: ResultOf): Json | undefined {
  const [placeholder, id, pointer] = match.map(String);
  const result = resultOf(id ?? "");
  if (result === undefined || pointer === undefined || pointer === "") return result;
  let value = result;
  const segments = pointer.slice(1).split("/").map((part) =>
    part.replaceAll("~1", "/").replaceAll("~0", "~")
  );
  for (const [at, segment] of segments.entries()) {
    const next = childOf(value, segment);
    if (next === undefined) {
      throw nowhere(placeholder ?? "", [id ?? "", ...segments.slice(0, at)].join("/"), { segment, value });
    }
    value = next;
  }
  return value;
}

function childOf(value: Json, segment: string): Json | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9][0-9]*)$/.test(segment) ? value[Number(segment)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
}

function nowhere(
  placeholder: string,
  place: string,
  stop: { segment: string; value: Json },
): PlaceholderError {
  const { segment, value } = stop;
  const found = Array.isArray(value)
    ? `a list of ${value.length}`
    : isJsonObject(value)
    ? `an object with ${
      Object.keys(value).slice(0, 8).map((key) => JSON.stringify(key)).join(", ") || "no keys"
    }`
    : value === null
    ? "null"
    : `a ${typeof value}`;
  return new PlaceholderError(
    `Cannot fill ${placeholder}: "${segment}" is not in ${place}, which is ${found}`,
  );
}
