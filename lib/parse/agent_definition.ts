import type { JsonObject } from "../core/json.ts";
import type { Shape } from "./agent_shape.ts";

/** A shape that has a name in the JSON Schema: others refer to it. */
export interface Definition<Value> extends Shape<Value> {
  readonly name: string;
  /** What the name stands for; `schema` is a reference to it. */
  readonly definition: JsonObject;
}

/** Gives a shape a name. */
export function define<Value>(name: string, { schema, read }: Shape<Value>): Definition<Value> {
  return { name, definition: schema, schema: refTo(name), read };
}

/** A reference to what a name stands for. */
export function refTo(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}
