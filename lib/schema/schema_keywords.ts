import { isRecord } from "../core/json.ts";

/**
 * What the value of a JSON Schema keyword has to be. Keywords that are not here say nothing about a value.
 */
export type KeywordForm =
  | "schema"
  | "schemas"
  | "schema-map"
  | "items"
  | "type"
  | "names"
  | "name-map"
  | "list"
  | "number"
  | "positive"
  | "count"
  | "flag"
  | "pattern"
  | "text"
  | "any";

/** The keywords of draft 2020-12 that decide, and the ones of draft 7 that tools still write. */
export const KEYWORD_FORMS: ReadonlyMap<string, KeywordForm> = new Map(Object.entries(
  {
    additionalProperties: "schema",
    unevaluatedProperties: "schema",
    unevaluatedItems: "schema",
    additionalItems: "schema",
    contains: "schema",
    propertyNames: "schema",
    not: "schema",
    if: "schema",
    then: "schema",
    else: "schema",
    items: "items",
    allOf: "schemas",
    anyOf: "schemas",
    oneOf: "schemas",
    prefixItems: "schemas",
    properties: "schema-map",
    patternProperties: "schema-map",
    dependentSchemas: "schema-map",
    dependentRequired: "name-map",
    required: "names",
    type: "type",
    enum: "list",
    const: "any",
    default: "any",
    description: "text",
    format: "text",
    pattern: "pattern",
    minimum: "number",
    maximum: "number",
    exclusiveMinimum: "number",
    exclusiveMaximum: "number",
    multipleOf: "positive",
    minLength: "count",
    maxLength: "count",
    minItems: "count",
    maxItems: "count",
    minContains: "count",
    maxContains: "count",
    minProperties: "count",
    maxProperties: "count",
    uniqueItems: "flag",
  } satisfies Record<string, KeywordForm>,
));

/** The types of JSON Schema. */
export const SCHEMA_TYPES: readonly string[] = [
  "string",
  "number",
  "integer",
  "boolean",
  "null",
  "array",
  "object",
];

/**
 * Why the value of a keyword without schemas inside cannot be read: what was expected; undefined when it is
 * fine.
 */
export function keywordProblem(form: KeywordForm, value: unknown): string | undefined {
  switch (form) {
    case "type":
      return isType(value) ? undefined : `expected ${SCHEMA_TYPES.join(", ")}, or a list of these`;
    case "names":
      return isNames(value) ? undefined : "expected a list of names";
    case "name-map":
      return isRecord(value) && Object.values(value).every(isNames)
        ? undefined
        : "expected an object of lists of names";
    case "list":
      return Array.isArray(value) && value.length > 0 ? undefined : "expected a list of values";
    case "number":
      return Number.isFinite(value) ? undefined : "expected a number";
    case "positive":
      return typeof value === "number" && value > 0 && value < Infinity
        ? undefined
        : "expected a number above 0";
    case "count":
      return Number.isInteger(value) && Number(value) >= 0 ? undefined : "expected a whole number, 0 or more";
    case "flag":
      return typeof value === "boolean" ? undefined : "expected true or false";
    case "text":
      return typeof value === "string" ? undefined : "expected text";
    case "pattern":
      return patternProblem(value);
    default:
      return undefined;
  }
}

/**
 * The regular expression as the flag `u` wants it: `\-` and the like, which only the older reading allows,
 * become `\x2d`, since schemas in the wild are full of them.
 */
export function toUnicodePattern(pattern: string): string {
  return pattern.replaceAll(/\\(.)/gsu, (escape, character: string) => {
    const code = character.codePointAt(0) ?? 0;
    const isPlain = code < 0x80 && !/[A-Za-z0-9^$\\.*+?()[\]{}|/]/.test(character);
    return isPlain ? `\\x${code.toString(16).padStart(2, "0")}` : escape;
  });
}

/** What is wrong with a regular expression of a schema (ECMA-262). */
export function patternProblem(pattern: unknown): string | undefined {
  if (typeof pattern !== "string") return "expected a regular expression as text";
  try {
    new RegExp(toUnicodePattern(pattern), "u");
    return undefined;
  } catch (error) {
    return `expected a regular expression (${error instanceof Error ? error.message : String(error)})`;
  }
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function isType(value: unknown): boolean {
  const types: unknown[] = Array.isArray(value) ? value : [value];
  return types.length > 0 && types.every((type) => typeof type === "string" && SCHEMA_TYPES.includes(type));
}
