import { isRecord, type JsonSchema } from "../core/core.ts";

/** A schema at any place: `true` takes everything, `false` nothing. */
export type SchemaNode = boolean | JsonSchema;

/** True for what can stand where a schema is wanted. */
export function isSchemaNode(value: unknown): value is SchemaNode {
  return typeof value === "boolean" || isRecord(value);
}

/** The schemas of a list keyword such as `anyOf`. */
export function schemaList(value: unknown): readonly SchemaNode[] {
  return Array.isArray(value) ? value.filter(isSchemaNode) : [];
}

/** The names and schemas of a keyword such as `properties`. */
export function schemaEntries(value: unknown): readonly (readonly [string, SchemaNode])[] {
  return isRecord(value)
    ? Object.entries(value).filter((entry): entry is [string, SchemaNode] => isSchemaNode(entry[1]))
    : [];
}

/** True for a schema that lists its values: in an alternative of a union that is its tag. */
export function hasFixedValues(schema: SchemaNode): boolean {
  return typeof schema === "object" && (Object.hasOwn(schema, "const") || Object.hasOwn(schema, "enum"));
}

/** The schema a `$ref` of a prepared schema means. */
export function resolveRef(root: JsonSchema, ref: unknown): SchemaNode {
  if (ref === "#") return root;
  const name = typeof ref === "string" ? ref.slice("#/$defs/".length) : "";
  const found = isRecord(root.$defs) && Object.hasOwn(root.$defs, name) ? root.$defs[name] : undefined;
  return isSchemaNode(found) ? found : true;
}
