import type { JsonSchema } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import type { Json } from "../core/json.ts";

/** A small value that a schema of a route lets through: of an object what it needs, else its first property. */
export function exampleOf(schema: JsonSchema): Json {
  const { type, enum: choices, anyOf } = schema;
  if (Array.isArray(choices)) return textOf(choices[0]);
  if (Array.isArray(anyOf)) return isRecord(anyOf[0]) ? exampleOf(anyOf[0]) : {};
  switch (Array.isArray(type) ? type[0] : type) {
    case "string":
      return "…";
    case "integer":
    case "number":
      return typeof schema.minimum === "number" ? schema.minimum : 1;
    case "boolean":
      return true;
    case "array":
      return isRecord(schema.items) ? [exampleOf(schema.items)] : [];
    default:
      return exampleObject(schema);
  }
}

function exampleObject({ properties, required }: JsonSchema): Json {
  if (!isRecord(properties)) return {};
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const entries = Object.entries(properties);
  const shown = needed.length > 0 ? entries.filter(([name]) => needed.includes(name)) : entries.slice(0, 1);
  return Object.fromEntries(shown.map(([name, field]) => [name, isRecord(field) ? exampleOf(field) : null]));
}

function textOf(value: unknown): Json {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}
