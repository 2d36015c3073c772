import { SLOT_LEVELS } from "../conversation/slot_problem.ts";
import type { Json } from "../core/json.ts";

/** Reads JSON from outside; `problem` goes behind what it is a problem of. */
export function jsonAnswer(text: string): { readonly ok: Json } | { readonly problem: string } {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "is not JSON" };
  }
  return isKeepable(value)
    ? { ok: value }
    : { problem: `is JSON with more than ${SLOT_LEVELS} levels, or with a number that is too large` };
}

/** `JSON.parse` takes any depth, and makes 1e999 infinite. */
function isKeepable(value: Json): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > SLOT_LEVELS || level.some((item) => item === Infinity || item === -Infinity)) return false;
    level = level.flatMap((item) => typeof item === "object" && item !== null ? Object.values(item) : []);
  }
  return true;
}
