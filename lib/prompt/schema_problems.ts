import type { JsonSchema } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import { prepareSchema } from "../schema/prepare_schema.ts";
import { SCHEMA_TYPES } from "../schema/check_input.ts";

/** A mistake in a schema. */
export interface SchemaProblem {
  /** The way into the schema. */
  readonly path: readonly string[];
  /** As the end of a sentence about the schema. */
  readonly message: string;
}

/** After so many mistakes a schema is not looked at any further. */
const MOST = 20;

/** Every mistake in a JSON Schema, where preparing it tells the first one: what is wrong is left out, until the rest can be used. */
export function schemaProblems(schema: JsonSchema): readonly SchemaProblem[] {
  const rest: Record<string, unknown> = structuredClone(schema);
  const problems = new Map<string, SchemaProblem>();
  for (let tries = 0; tries < 2 * MOST && problems.size < MOST; tries++) {
    const whole = rest.type === undefined ? { ...rest, type: SCHEMA_TYPES } : { ...rest };
    const result = prepareSchema(whole);
    if (!("broken" in result)) break;
    const { pointer, message } = result.broken;
    const path = pointer === "" ? [] : pointer.split("/").map(segmentOf);
    if (!problems.has(pointer)) {
      problems.set(pointer, { path, message: `${pointer === "" ? "" : ` at "${pointer}"`}: ${message}` });
    }
    if (!leaveOut(rest, path)) break;
  }
  return [...problems.values()];
}

function segmentOf(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Puts a schema that takes everything in place of what is there; where that is none of a schema's places, the keyword goes. */
function leaveOut(schema: Record<string, unknown>, path: readonly string[]): boolean {
  let holder: unknown = schema;
  for (const key of path.slice(0, -1)) {
    holder = isRecord(holder) || Array.isArray(holder) ? Reflect.get(holder, key) : null;
  }
  const key = path.at(-1);
  if (key === undefined || !isRecord(holder) && !Array.isArray(holder)) return false;
  if (Reflect.get(holder, key) === true) Reflect.deleteProperty(holder, key);
  else Reflect.set(holder, key, true);
  return true;
}
