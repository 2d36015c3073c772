import type { JsonSchema } from "../core/gadget.ts";
import { shownJson } from "./issue.ts";
import { isSchemaNode, resolveRef, schemaList } from "./schema_node.ts";
import type { SchemaNode } from "./schema_node.ts";

const MAX_ALTERNATIVES = 12;
const MAX_LEVELS = 4;

/**
 * What a part of a prepared schema takes, in a few words: `string`, `array of integer`, `one of "a", "b"`,
 * `number or null`.
 */
export function typeText(schema: SchemaNode, root: JsonSchema, level = 0): string {
  if (typeof schema === "boolean") return schema ? "anything" : "nothing";
  if (Object.hasOwn(schema, "const")) return shownJson(schema.const);
  if (Array.isArray(schema.enum)) return oneOf(schema.enum);
  if (level === MAX_LEVELS) return "anything";
  const inner = (node: SchemaNode) => typeText(node, root, level + 1);
  const own = ownText(schema, inner);
  if (own !== undefined) return own;
  const union = [...schemaList(schema.anyOf), ...schemaList(schema.oneOf)];
  if (union.length > 0) return joined(union.map(inner));
  const others = schema.$ref === undefined ? schemaList(schema.allOf) : [resolveRef(root, schema.$ref)];
  return others.map(inner).find((text) => text !== "anything") ?? "anything";
}

/** The alternatives with `or` between them, each once. */
export function joined(alternatives: readonly string[]): string {
  const different = [...new Set(alternatives)];
  const left = different.length - MAX_ALTERNATIVES;
  return left > 0
    ? `${different.slice(0, MAX_ALTERNATIVES).join(" or ")} or ${left} more`
    : different.join(" or ");
}

/** `one of "a", "b"`; a single value alone. */
export function oneOf(values: readonly unknown[]): string {
  if (values.length === 1) return shownJson(values[0]);
  const left = values.length - MAX_ALTERNATIVES;
  const list = values.slice(0, MAX_ALTERNATIVES).map(shownJson).join(", ");
  return left > 0 ? `one of ${list} and ${left} more` : `one of ${list}`;
}

function ownText(schema: JsonSchema, inner: (node: SchemaNode) => string): string | undefined {
  if (schema.type === undefined) return impliedText(schema, inner);
  const types: readonly unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
  return joined(types.map((type) => type === "array" ? arrayText(schema, inner) : String(type)));
}

/** What the author of a schema without a type had in mind. */
function impliedText(schema: JsonSchema, inner: (node: SchemaNode) => string): string | undefined {
  const has = (keyword: string) => Object.hasOwn(schema, keyword);
  if (has("properties") || has("additionalProperties") || has("patternProperties")) return "object";
  return has("items") || has("prefixItems") ? arrayText(schema, inner) : undefined;
}

function arrayText(schema: JsonSchema, inner: (node: SchemaNode) => string): string {
  const items = isSchemaNode(schema.items) ? inner(schema.items) : "anything";
  if (items === "anything" || items === "nothing") return "array";
  return `array of ${items.includes(" ") ? `(${items})` : items}`;
}
