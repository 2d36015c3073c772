import type { Json } from "../core/json.ts";

/** Of a slot; a state holds slots some levels down, and what has more than 500 cannot be kept. */
export const SLOT_LEVELS = 400;
/** 16 MiB, in UTF-16 units; each part of a list or mapping counts as one more. */
const MAX_SIZE = 16 * 1024 * 1024;

/**
 * Why a value is too much for a slot, in words behind `it has`; undefined when it is not. A value may hold the same part many times, so that
 * it is small in memory and endless as text.
 */
export function slotProblem(value: Json): string | undefined {
  const open: (readonly [Json, number])[] = [[value, 0]];
  let size = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [part, level] = next;
    size += typeof part === "string" ? part.length + 1 : 1;
    if (size > MAX_SIZE) return "more than 16 MB";
    if (typeof part !== "object" || part === null) continue;
    if (level >= SLOT_LEVELS) return `more than ${SLOT_LEVELS} levels`;
    for (const [key, inside] of Object.entries(part)) {
      size += Array.isArray(part) ? 0 : key.length;
      open.push([inside, level + 1]);
    }
  }
  return undefined;
}
