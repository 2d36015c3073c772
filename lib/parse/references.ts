import { isRecord } from "../core/json.ts";
import type { Reference } from "./operation_fields.ts";
import type { Part } from "./part.ts";

/**
 * References as documents.md 4 has them: one, a list of them, or `{block_uri: refs}`; at least one, without blanks around.
 *
 * @param label what they are called in an error
 */
export function readReferences(value: unknown, label: string): Part<readonly Reference[]> {
  if (isRecord(value)) {
    const inside = Object.keys(value).length === 1 ? value.block_uri : undefined;
    return inside === undefined ? notReferences(label) : readReferences(inside, label);
  }
  const written: readonly unknown[] = Array.isArray(value) ? value : [value];
  const references: Reference[] = [];
  for (const item of written) {
    if (typeof item !== "string") return notReferences(label);
    if (item.trim() !== "") references.push(item.trim());
  }
  if (references.length === 0 || references.length < written.length) return { problem: `${label} is empty` };
  return references.every(isStarAtEnd) ? { value: references } : STRAY_STAR;
}

function notReferences(label: string): Part<never> {
  return { problem: `${label} must be a reference or a list of references` };
}

const STRAY_STAR = { problem: '* may stand only at the end of a reference, as in "a/*"' };

/** Whether it has a `*` only as a step of its own, after another one (documents.md 5.5). */
function isStarAtEnd(reference: Reference): boolean {
  const star = reference.indexOf("*");
  return star === -1 || (star === reference.length - 1 && star > 1 && reference[star - 1] === "/");
}
