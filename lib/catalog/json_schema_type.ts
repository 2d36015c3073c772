// A JSON Schema as a type of TypeScript. What has no counterpart there, such as a pattern or a recursive reference, is left out: the type
// then takes more than the schema does.

import type { JsonSchema } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import { prepareAnyType } from "../prompt/prepare_any_type.ts";
import { SCHEMA_TYPES } from "../schema/prepare_schema.ts";
import { isSchemaNode, resolveRef, schemaEntries, schemaList } from "../schema/schema_node.ts";
import type { SchemaNode } from "../schema/schema_node.ts";
import { propertyName } from "./type_words.ts";

/** Which values are meant. */
export interface JsonSchemaTypeOptions {
  /** `given`: what may be given, a property with a default may be left out. `checked`: what comes of it, with the defaults. */
  readonly values: "given" | "checked";
  /** Properties at the top that may be left out though they are required. */
  readonly optional?: readonly string[];
}

/** The type of the values that a JSON Schema takes, as TypeScript writes it; `unknown` for a schema that cannot be used. */
export function jsonSchemaType(schema: JsonSchema, options: JsonSchemaTypeOptions): string {
  const prepared = prepareAnyType(schema);
  if ("broken" in prepared) return "unknown";
  const { values, optional = [] } = options;
  return typeOf(prepared.root, { root: prepared.root, values, optional, open: new Set() });
}

interface Place extends Required<JsonSchemaTypeOptions> {
  readonly root: JsonSchema;
  /** The references that lead here: one of them again is a recursive type. */
  readonly open: ReadonlySet<unknown>;
}

function typeOf(schema: SchemaNode, place: Place): string {
  if (typeof schema === "boolean") return schema ? "unknown" : "never";
  if (Object.hasOwn(schema, "const")) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
  const inside = { ...place, optional: [] };
  const parts = [
    ownType(schema, place),
    ...[schema.anyOf, schema.oneOf].map((alternatives) =>
      Array.isArray(alternatives)
        ? union(schemaList(alternatives).map((node) => typeOf(node, inside)))
        : "unknown"
    ),
    ...schemaList(schema.allOf).map((node) => typeOf(node, inside)),
    schema.$ref === undefined ? "unknown" : referencedType(schema.$ref, inside),
  ];
  return intersection(parts);
}

function referencedType(ref: unknown, place: Place): string {
  if (place.open.has(ref)) return "unknown";
  return typeOf(resolveRef(place.root, ref), { ...place, open: new Set([...place.open, ref]) });
}

function ownType(schema: JsonSchema, place: Place): string {
  const types: readonly unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type ?? "any"];
  const isAnyType = schema.type === undefined || SCHEMA_TYPES.every((type) => types.includes(type));
  if (isAnyType) return isRecord(schema.properties) ? objectType(schema, place) : "unknown";
  return union(types.map((type) => namedType(type, schema, place)));
}

function namedType(type: unknown, schema: JsonSchema, place: Place): string {
  switch (type) {
    case "string":
    case "number":
    case "boolean":
    case "null":
      return type;
    case "integer":
      return "number";
    case "array":
      return arrayType(schema, { ...place, optional: [] });
    case "object":
      return objectType(schema, place);
    default:
      return "unknown";
  }
}

function arrayType({ prefixItems, items = true }: JsonSchema, place: Place): string {
  const nodes = [...schemaList(prefixItems), ...(isSchemaNode(items) && items !== false ? [items] : [])];
  const item = union(nodes.map((node) => typeOf(node, place)));
  return /^\w+$/.test(item) ? `${item}[]` : `(${item})[]`;
}

function objectType(schema: JsonSchema, place: Place): string {
  const { additionalProperties: more } = schema;
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const properties = new Map(schemaEntries(schema.properties));
  for (const name of required) {
    if (typeof name === "string" && !properties.has(name)) properties.set(name, true);
  }
  const fields = [...properties].map(([name, node]) => {
    const hasDefault = typeof node === "object" && Object.hasOwn(node, "default");
    const isThere = place.values === "checked"
      ? required.includes(name) || hasDefault
      : required.includes(name) && !hasDefault && !place.optional.includes(name);
    return `${propertyName(name)}${isThere ? "" : "?"}: ${typeOf(node, { ...place, optional: [] })}`;
  });
  if (fields.length === 0) {
    return more === false ? "Record<string, never>" : `Record<string, ${valueType(more, place)}>`;
  }
  // Beside names of their own types only `unknown` can stand for all the others.
  const others = more === true || isRecord(more) ? ["[name: string]: unknown"] : [];
  return `{ ${[...fields, ...others].join("; ")} }`;
}

function valueType(node: unknown, place: Place): string {
  return isSchemaNode(node) ? typeOf(node, { ...place, optional: [] }) : "unknown";
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "unknown";
  const fields = Object.entries(value).map(([name, part]) => `${propertyName(name)}: ${literal(part)}`);
  return fields.length === 0 ? "Record<string, never>" : `{ ${fields.join("; ")} }`;
}

function union(types: readonly string[]): string {
  const different = [...new Set(types)].filter((type) => type !== "never");
  if (different.includes("unknown")) return "unknown";
  return different.length === 0 ? "never" : different.join(" | ");
}

function intersection(types: readonly string[]): string {
  const different = [...new Set(types)].filter((type) => type !== "unknown");
  if (different.length < 2) return different[0] ?? "unknown";
  return different.map((type) => type.includes("|") ? `(${type})` : type).join(" & ");
}
