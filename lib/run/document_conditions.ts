import type { LiveDocument } from "../document/live_document.ts";
import { nodeBodies } from "../document/node_text.ts";
import { BlockReferenceError } from "../document/reference.ts";
import type { Condition } from "../parse/operation_fields.ts";

/**
 * The first condition that does not hold, in words; undefined when all do (documents.md 9.5).
 *
 * @throws {BlockReferenceError} for a block that is missing, except with `exists`
 */
export function failedCondition(conditions: readonly Condition[], live: LiveDocument): string | undefined {
  const failed = conditions.find((condition) => !holds(condition, live));
  if (failed === undefined) return undefined;
  const { blocks, test } = failed;
  return `${blocks.join(", ")} ${test.kind} ${JSON.stringify(test.value)}`;
}

function holds({ blocks, test }: Condition, live: LiveDocument): boolean {
  if (test.kind === "exists") return isThere(blocks, live) === test.value;
  const text = nodeBodies(live.select(blocks)).trim();
  switch (test.kind) {
    case "equals":
      return text === test.value.trim();
    case "not-equals":
      return text !== test.value.trim();
    case "contains":
      return text.includes(test.value);
    case "matches":
      return new RegExp(test.value, "u").test(text);
    default:
      return test satisfies never;
  }
}

function isThere(blocks: readonly string[], live: LiveDocument): boolean {
  try {
    live.select(blocks);
    return true;
  } catch (error) {
    if (error instanceof BlockReferenceError) return false;
    throw error;
  }
}
