import { SLOT_LEVELS } from "../conversation/slot_problem.ts";
import { parseJson } from "../core/json.ts";
import type { Json } from "../core/json.ts";

/**
 * Reads JSON from outside; `problem` goes behind what it is a problem of. A number of more digits than a value holds is a text: most are ids,
 * which are shown and sent on.
 */
export function jsonAnswer(text: string): { readonly ok: Json } | { readonly problem: string } {
  try {
    const value = parseJson(text, { keepsDigits: true });
    if (isKeepable(value)) return { ok: value };
  } catch (error) {
    if (!(error instanceof RangeError)) return { problem: "is not JSON" };
  }
  return { problem: `is JSON with more than ${SLOT_LEVELS} levels, or with a number that is too large` };
}

/** `JSON.parse` takes any depth. */
function isKeepable(value: Json): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > SLOT_LEVELS) return false;
    level = level.flatMap((item) => typeof item === "object" && item !== null ? Object.values(item) : []);
  }
  return true;
}
