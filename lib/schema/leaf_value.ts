import type { JsonSchema } from "../core/core.ts";
import type { JsonValidator } from "./json_validator.ts";
import { resolveRef, schemaList, type SchemaNode } from "./schema_node.ts";
import { readJsonText, trimBlanks, untypedValue } from "./text_value.ts";

/** What a schema lets a text become: a type of JSON Schema, or `any` where it has no say. */
type Kind = "string" | "number" | "integer" | "boolean" | "null" | "array" | "object" | "any";

/**
 * The value of an argument's text under all of these schemas (calls.md 3, "Values with the gadget's schema"):
 * the first kind the schemas name and the text can be, for which the value is valid; the text itself comes
 * last. Where it is possible, a number has to be written as it would be printed: 007, 1e3 and 1.50 would lose something. A text that fits nothing stays as it is, so that validation reports it.
 */
export function leafValue(text: string, schemas: readonly SchemaNode[], validator: JsonValidator): unknown {
  const kinds = schemas.map((schema) => kindsOf(schema, validator.root, [])).reduce(meet, ANY);
  const takesText = kinds.includes("string");
  const candidates = kinds.filter((kind) => kind !== "string").flatMap((kind) => converted(text, kind))
    .filter(({ value }) => !takesText || typeof value !== "number" || String(value) === trimBlanks(text));
  const [first] = candidates;
  if (first === undefined) return text;
  if (candidates.length === 1 && !takesText) return first.value;
  const isValid = (value: unknown) => schemas.every((schema) => validator.fits(schema, value));
  const best = candidates.find(({ value }) => isValid(value));
  if (best !== undefined) return best.value;
  return takesText ? text : first.value;
}

/** True when a schema can take an array or object, as far as its types tell. */
export function admits(schema: SchemaNode, type: "array" | "object", root: JsonSchema): boolean {
  const kinds = kindsOf(schema, root, []);
  return kinds.includes(type) || kinds.includes("any");
}

/**
 * The number a text is for a schema of numbers: what `Number` accepts, but not blank text, not what is not
 * finite, and no integer literal beyond ±(2^53 - 1), which would silently become another one (calls.md 7).
 */
export function numberOf(text: string): number | undefined {
  const trimmed = text.trim();
  const number = trimmed === "" ? NaN : Number(trimmed);
  if (!Number.isFinite(number)) return undefined;
  if (isIntegerLiteral(trimmed) && !Number.isSafeInteger(number)) return undefined;
  return number === 0 ? 0 : number; // -0 is 0
}

/** True for digits, in decimal or with a prefix such as `0x`. */
export function isIntegerLiteral(text: string): boolean {
  return /^(?:[+-]?[0-9]+|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)$/.test(text.trim());
}

const ANY: readonly Kind[] = ["any"];

/** The value of a text as one kind, in a list; no value when it cannot be one. */
function converted(text: string, kind: Kind): readonly { readonly value: unknown }[] {
  switch (kind) {
    case "null":
      return trimBlanks(text) === "null" ? [{ value: null }] : [];
    case "boolean": {
      const word = trimBlanks(text);
      return word === "true" || word === "false" ? [{ value: word === "true" }] : [];
    }
    case "number":
    case "integer": {
      const value = numberOf(text);
      return value === undefined || (kind === "integer" && Math.abs(value) > Number.MAX_SAFE_INTEGER)
        ? []
        : [{ value }];
    }
    case "array":
    case "object": {
      const json = readJsonText(text);
      return "value" in json && Array.isArray(json.value) === (kind === "array") ? [json] : [];
    }
    case "any":
      return [{ value: untypedValue(text) }];
    case "string":
      return [{ value: text }];
  }
}

function kindsOf(schema: SchemaNode, root: JsonSchema, inside: readonly SchemaNode[]): readonly Kind[] {
  if (typeof schema === "boolean" || inside.includes(schema)) return ANY;
  const kinds = (node: SchemaNode) => kindsOf(node, root, [...inside, schema]);
  const unions = ["anyOf", "oneOf"].filter((keyword) => schemaList(schema[keyword]).length > 0);
  const all = [
    ownKinds(schema),
    ...(schema.$ref === undefined ? [] : [kinds(resolveRef(root, schema.$ref))]),
    ...schemaList(schema.allOf).map(kinds),
    ...unions.map((keyword) => [...new Set(schemaList(schema[keyword]).flatMap(kinds))]),
  ].reduce(meet);
  return isAny(all) ? hintedKinds(schema) : all;
}

function ownKinds(schema: JsonSchema): readonly Kind[] {
  if (schema.type !== undefined) {
    return KINDS.filter((kind) => typesOf(schema).includes(kind)).sort(byOrderOf(typesOf(schema)));
  }
  if (Object.hasOwn(schema, "const")) return [kindOf(schema.const)];
  if (Array.isArray(schema.enum)) return [...new Set(schema.enum.map(kindOf))];
  return ANY;
}

const KINDS: readonly Kind[] = ["string", "number", "integer", "boolean", "null", "array", "object"];

function typesOf(schema: JsonSchema): readonly unknown[] {
  return Array.isArray(schema.type) ? schema.type : [schema.type];
}

const byOrderOf = (types: readonly unknown[]) => (a: Kind, b: Kind): number =>
  types.indexOf(a) - types.indexOf(b);

function kindOf(value: unknown): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? type : "object";
}

/** Keywords without a `type` tell what their author had in mind, though they do not require it. */
const HINTS: readonly (readonly [readonly string[], readonly Kind[]])[] = [
  [["minLength", "maxLength", "pattern", "format"], ["string"]],
  [["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], ["number", "any"]],
  [["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"], ["array", "any"]],
  [["properties", "required", "additionalProperties", "patternProperties", "propertyNames"], [
    "object",
    "any",
  ]],
];

function hintedKinds(schema: JsonSchema): readonly Kind[] {
  const hint = HINTS.find(([keywords]) => keywords.some((keyword) => Object.hasOwn(schema, keyword)));
  return hint === undefined ? ANY : hint[1];
}

/** What both allow, in the order of the first that has a say. */
function meet(a: readonly Kind[], b: readonly Kind[]): readonly Kind[] {
  if (isAny(a) || b.includes("any")) return isAny(a) ? b : a;
  const both = a.flatMap((kind) => common(kind, b));
  return both.length === 0 ? a : both;
}

function common(kind: Kind, kinds: readonly Kind[]): readonly Kind[] {
  if (kinds.includes(kind)) return [kind];
  const isNumber = (kind === "number" && kinds.includes("integer")) ||
    (kind === "integer" && kinds.includes("number"));
  return isNumber ? ["integer"] : [];
}

const isAny = (kinds: readonly Kind[]): boolean => kinds.length === 1 && kinds[0] === "any";
