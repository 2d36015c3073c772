import { type JsonSchema, jsonSchemaOf, type Schema } from "../core/core.ts";
import { shownJson, toPointer } from "./issue.ts";
import { prepareSchema } from "./prepare_schema.ts";
import { isSchemaNode, resolveRef, schemaEntries, schemaList, type SchemaNode } from "./schema_node.ts";

/** One parameter of a gadget, or a part of one. */
export interface ParameterInfo {
  /**
   * As an argument writes it: `opts/timeout`, `items/0/name`; `NAME` stands for a name that is the caller's
   * choice.
   */
  readonly pointer: string;
  /** In a few words: `string`, `array of integer`, `one of "a", "b"`. */
  readonly type: string;
  /** Whether it must be there when what holds it is there. */
  readonly required: boolean;
  readonly description?: string;
  readonly default?: unknown;
}

const MAX_LEVELS = 5;

/**
 * The parameters a schema describes, each before its parts, in the schema's order; for help. Empty for a
 * Standard Schema that offers no JSON Schema, and for a schema that is broken.
 */
export function describeSchema(schema: Schema): readonly ParameterInfo[] {
  const json = jsonSchemaOf(schema);
  const prepared = json === undefined ? undefined : prepareSchema(json);
  if (prepared === undefined || "broken" in prepared) return [];
  const found = new Map<string, ParameterInfo>();
  for (const info of partsOf(prepared.root, { root: prepared.root, path: [], inside: [], required: true })) {
    if (!found.has(info.pointer)) found.set(info.pointer, info);
  }
  return [...found.values()];
}

interface Place {
  readonly root: JsonSchema;
  readonly path: readonly string[];
  readonly inside: readonly SchemaNode[];
  /** False in an alternative: its parts are needed only when it is chosen. */
  readonly required: boolean;
}

function partsOf(schema: SchemaNode, place: Place): readonly ParameterInfo[] {
  if (typeof schema === "boolean" || place.path.length >= MAX_LEVELS || place.inside.includes(schema)) {
    return [];
  }
  const same = { ...place, inside: [...place.inside, schema] };
  const optional = { ...same, required: false };
  return [
    ...propertiesOf(schema, same),
    ...(isSchemaNode(schema.additionalProperties)
      ? childOf(schema.additionalProperties, "NAME", optional)
      : []),
    ...(isSchemaNode(schema.items) ? itemOf(schema.items, same) : []),
    ...schemaList(schema.prefixItems).flatMap((item, index) => childOf(item, String(index), same)),
    ...(schema.$ref === undefined ? [] : partsOf(resolveRef(place.root, schema.$ref), same)),
    ...schemaList(schema.allOf).flatMap((part) => partsOf(part, same)),
    ...[...schemaList(schema.anyOf), ...schemaList(schema.oneOf)].flatMap((part) => partsOf(part, optional)),
  ];
}

function propertiesOf(schema: JsonSchema, place: Place): readonly ParameterInfo[] {
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return schemaEntries(schema.properties).flatMap(([name, part]) =>
    childOf(part, name, { ...place, required: place.required && required.includes(name) })
  );
}

function childOf(schema: SchemaNode, name: string, place: Place): readonly ParameterInfo[] {
  if (schema === false || schema === true && name === "NAME") return [];
  const path = [...place.path, name];
  return [infoOf(schema, { ...place, path }), ...partsOf(schema, { ...place, path, required: true })];
}

/** An item is listed for its parts only: its type is told by the array. */
function itemOf(items: SchemaNode, place: Place): readonly ParameterInfo[] {
  return partsOf(items, { ...place, path: [...place.path, "0"], required: true });
}

function infoOf(schema: SchemaNode, { root, path, required }: Place): ParameterInfo {
  const info = { pointer: toPointer(path), type: typeText(schema, root), required };
  if (typeof schema === "boolean") return info;
  const meant = schema.$ref === undefined ? true : resolveRef(root, schema.$ref);
  const { description, default: value }: JsonSchema = {
    ...(typeof meant === "boolean" ? {} : meant),
    ...schema,
  };
  return {
    ...info,
    ...(typeof description === "string" ? { description } : {}),
    ...(value === undefined ? {} : { default: value }),
  };
}

const MAX_ALTERNATIVES = 12;
const TYPE_LEVELS = 4;

/**
 * What a part of a prepared schema takes, in a few words: `string`, `array of integer`, `one of "a", "b"`,
 * `number or null`.
 */
export function typeText(schema: SchemaNode, root: JsonSchema, level = 0): string {
  if (typeof schema === "boolean") return schema ? "anything" : "nothing";
  if (Object.hasOwn(schema, "const")) return shownJson(schema.const);
  if (Array.isArray(schema.enum)) return oneOf(schema.enum);
  if (level === TYPE_LEVELS) return "anything";
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
