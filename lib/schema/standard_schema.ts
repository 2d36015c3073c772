import type { JsonSchema, Schema, StandardSchema } from "../core/gadget.ts";

/** True for a Standard Schema (https://standardschema.dev); some libraries make theirs a function. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if (
    (typeof value !== "object" && typeof value !== "function") || value === null || !("~standard" in value)
  ) return false;
  const standard = value["~standard"];
  return typeof standard === "object" && standard !== null && "validate" in standard &&
    typeof standard.validate === "function";
}

const described = new WeakMap<object, JsonSchema | undefined>();

/**
 * The JSON Schema (draft 2020-12) of an input: for a JSON Schema itself, with `type: "object"` when it has no
 * type; for a Standard Schema what its library offers, and undefined when that is nothing. The same object
 * each time.
 */
export function jsonSchemaOf(schema: Schema): JsonSchema | undefined {
  if (!described.has(schema)) described.set(schema, describe(schema));
  return described.get(schema);
}

function describe(schema: Schema): JsonSchema | undefined {
  const json = isStandardSchema(schema) ? offered(schema) : schema;
  if (json === undefined) return undefined;
  return json.type === undefined ? { type: "object", ...json } : json;
}

function offered(schema: StandardSchema): JsonSchema | undefined {
  try {
    return schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  } catch {
    return undefined; // the library has types that no JSON Schema can say, such as dates
  }
}
