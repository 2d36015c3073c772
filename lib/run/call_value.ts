import { toJson } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";

/** The result cannot be kept: it is no JSON. */
export class ResultError extends Error {
  override readonly name = "ResultError";
}

/** Default of `limits.result-bytes`: 1 MiB. */
export const RESULT_BYTES = 1_048_576;

/**
 * What a gadget gave, as JSON of at most `maxBytes` of UTF-8. A longer text is cut at a character; anything else that is longer is
 * cut as its JSON text; either ends with a line that says how much is missing (gadgets.md 1).
 *
 * @throws {ResultError} when it is no JSON.
 */
export function resultOf(
  given: unknown,
  options: { gadgetName: string; maxBytes: number; mask: (value: Json) => Json },
): Json {
  const { gadgetName, maxBytes, mask } = options;
  const value = mask(jsonOf(given, gadgetName));
  if (typeof value === "boolean" || typeof value === "number" || value === null) return value;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length * 3 <= maxBytes) return value; // no UTF-16 unit takes more than three bytes
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return value;
  const keptBytes = characterBefore(bytes, maxBytes);
  const kept = new TextDecoder().decode(bytes.subarray(0, keptBytes));
  const missing = `${bytes.length - keptBytes} of ${bytes.length} bytes are missing`;
  return `${kept}\n[cut: ${missing}; limits.result-bytes is ${maxBytes}]`;
}

function jsonOf(given: unknown, gadgetName: string): Json {
  try {
    return toJson(given);
  } catch (error) {
    const what = messageOf(error);
    const problem = what.startsWith("not JSON") ? `is ${what}` : `cannot be read: ${what}`; // a getter may throw anything
    throw new ResultError(
      `The result of ${gadgetName} ${problem}; a gadget gives text, or a value that JSON can hold`,
    );
  }
}

/** The last place at or before `at` where a UTF-8 character begins. */
function characterBefore(bytes: Uint8Array, at: number): number {
  let place = at;
  while (place > 0 && ((bytes[place] ?? 0) & 0xc0) === 0x80) place--;
  return place;
}
