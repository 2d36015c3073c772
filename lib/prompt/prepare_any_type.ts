import { decodeSegment } from "../core/json.ts";
import type { JsonSchema } from "../core/gadget.ts";
import { prepareSchema } from "../schema/prepare_schema.ts";
import type { PreparedSchema } from "../schema/prepare_schema.ts";
import type { Issue } from "../schema/issue.ts";
import { SCHEMA_TYPES } from "../schema/prepare_schema.ts";

const prepared = new WeakMap<JsonSchema, PreparedSchema | BrokenText>();

/** A schema that cannot be used. */
export interface BrokenText {
  /** Where and why, as the end of a sentence. */
  readonly broken: string;
  /** The way to it. */
  readonly at: readonly string[];
}

/**
 * Makes a JSON Schema ready for the validator, once for each schema object. Without a `type` it takes values of every type, as the
 * standard has it, and not only objects, as where parameters of calls are described. Never throws.
 */
export function prepareAnyType(schema: JsonSchema): PreparedSchema | BrokenText {
  const known = prepared.get(schema);
  if (known !== undefined) return known;
  const result = prepareSchema(schema.type === undefined ? { ...schema, type: SCHEMA_TYPES } : schema);
  const ready = "broken" in result ? brokenText(result.broken) : result;
  prepared.set(schema, ready);
  return ready;
}

function brokenText({ pointer, message }: Issue): BrokenText {
  const at = pointer.split("/").map(decodeSegment);
  return pointer === "" ? { broken: `: ${message}`, at: [] } : { broken: ` at "${pointer}": ${message}`, at };
}
