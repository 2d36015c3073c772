// What a gadget gives, as the JSON that fits into one frame.

import { notResultText } from "../core/json.ts";
import { jsonText } from "./gadget_json.ts";
import { lengthOf, OwnTypeError, quote, startOf, utf8 } from "./gadget_primordials.ts";
import { thrownError } from "./gadget_thrown.ts";

/** The result is none: no JSON, or a stream of something else than text. */
export class ResultError extends OwnTypeError {
  override readonly name = "ResultError";
}

const ENVELOPE = 256;

/**
 * The JSON of what a gadget gave; a text longer than a frame is cut, and so is the JSON of anything else, as a text that ends with how
 * much is missing.
 *
 * @throws {ResultError} when it is no JSON
 */
export function resultText(given: unknown, options: { gadgetName: string; maxFrameBytes: number }): string {
  const json = givenText(given, options.gadgetName);
  const most = options.maxFrameBytes - ENVELOPE;
  if (json.length * 3 <= most) return json; // no UTF-16 unit takes more than three bytes
  const bytes = lengthOf(utf8(json));
  return bytes <= most ? json : cutText(typeof given === "string" ? given : json, most);
}

function givenText(given: unknown, gadgetName: string): string {
  try {
    return jsonText(given);
  } catch (error) {
    throw new ResultError(notResultText(gadgetName, thrownError(error).message));
  }
}

/** JSON of the beginning of a text, with a note behind it. @param most bytes of UTF-8 */
function cutText(text: string, most: number): string {
  const all = lengthOf(utf8(text));
  for (let kept = startOf(text, most);;) {
    const missing = all - lengthOf(utf8(kept));
    const json = quote(
      `${kept}\n[cut: ${missing} of ${all} bytes are missing: they do not fit into one message]`,
    );
    const bytes = lengthOf(utf8(json));
    if (bytes <= most) return json;
    const length = kept.length * (most / bytes) - ENVELOPE; // quoting makes some characters longer
    kept = startOf(kept, length < 1 ? 1 : length - length % 1);
  }
}
