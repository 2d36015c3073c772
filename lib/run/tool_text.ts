import { isJsonObject, maybeJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";

/** In the order in which they count (documents.md 8.4). */
const TEXT_FIELDS = ["return_content", "content", "output", "result", "response"];

/** The text of a tool's result that becomes a block; undefined: none does. */
export function toolText(result: Json): string | undefined {
  const value = typeof result === "string" ? maybeJsonObject(result) ?? result : result;
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (!isJsonObject(value)) return JSON.stringify(value, null, 2);
  if (!isEmpty(value.error)) return undefined;
  const found = TEXT_FIELDS.map((name) => value[name]).find((field) => !isEmpty(field));
  if (found === undefined) return undefined;
  return typeof found === "string" ? found : joinedParts(found) ?? JSON.stringify(found, null, 2);
}

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "") ||
    (Array.isArray(value) && value.length === 0);
}

/** The texts of a list of `{type: text}` parts; undefined for anything else. */
function joinedParts(value: Json): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts: string[] = [];
  for (const part of value) {
    if (!isJsonObject(part) || typeof part.text !== "string") return undefined;
    texts.push(part.text);
  }
  return texts.join("\n");
}
