import type { ExtractionValue } from "../parse/agent/agent.ts";
import { slotKey } from "./slots.ts";

/**
 * What a model calls the values of an extractor, in their order: the name of the slot, or `session.name` where slots of two destinations
 * would have one name (conversations.md 2.8).
 */
export function extractionNames(values: readonly ExtractionValue[]): readonly string[] {
  const plain = values.map(({ target }) => target.name);
  const names = values.map(({ target }) =>
    plain.filter((name) => name === target.name).length > 1 ? slotKey(target) : target.name
  );
  const areUnique = new Set(names).size === names.length; // a slot may itself be named "session.x"
  return areUnique ? names : values.map(({ target }) => slotKey(target));
}
