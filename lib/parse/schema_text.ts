import { withoutByteOrderMark } from "../core/file_text.ts";
import { isJsonObject, parseJson } from "../core/json.ts";
import type { JsonObject } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import type { Part } from "./part.ts";

/** The JSON Schema in a file that an operation names. @param written the path as the document has it */
export function schemaOfText(text: string, written: string): Part<JsonObject> {
  const name = `schema "${written}"`;
  try {
    const value = parseJson(withoutByteOrderMark(text));
    return isJsonObject(value) ? { value } : { problem: `${name} must be a JSON object` };
  } catch (thrown) {
    return { problem: `${name} is not JSON: ${messageOf(thrown)}` };
  }
}
