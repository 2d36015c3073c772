import type { JsonSchema } from "../core/gadget.ts";
import { prepareSchema } from "../schema/prepare_schema.ts";
import type { PreparedSchema } from "../schema/prepare_schema.ts";
import { SCHEMA_TYPES } from "../schema/check_input.ts";

const prepared = new WeakMap<JsonSchema, PreparedSchema | BrokenText>();

/** A schema that cannot be used: where and why, as the end of a sentence. */
export interface BrokenText {
  readonly broken: string;
}

/**
 * Makes a JSON Schema ready for the validator, once for each schema object. Without a `type` it takes values of every type, as the
 * standard has it, and not only objects, as where parameters of calls are described. Never throws.
 */
export function prepareAnyType(schema: JsonSchema): PreparedSchema | BrokenText {
  const known = prepared.get(schema);
  if (known !== undefined) return known;
  const result = prepareSchema(schema.type === undefined ? { ...schema, type: SCHEMA_TYPES } : schema);
  const ready = "broken" in result ? { broken: brokenText(result.broken) } : result;
  prepared.set(schema, ready);
  return ready;
}

function brokenText({ pointer, message }: { readonly pointer: string; readonly message: string }): string {
  return `${pointer === "" ? "" : ` at "${pointer}"`}: ${message}`;
}
