import type { JsonSchema, Schema } from "../core/gadget.ts";
import type { Checked, Issue } from "./issue.ts";
import { encodeSegment, isRecord } from "../core/json.ts";
import { mapChildren, measure, TextValue, untypedTree } from "./text_value.ts";
import { isStandardSchema } from "../core/gadget.ts";

/** `validateInput`, when something needed it already. */
let validate: typeof import("./validate.ts").validateInput | undefined;

/**
 * Types and checks the parameters of a call as `validateInput` does, which is loaded for the first input that is not plain: the answer
 * is a promise then, and where a Standard Schema gives one.
 */
export function checkInput(schema: Schema | undefined, tree: unknown): Checked | Promise<Checked> {
  const plain = plainInput(schema, tree);
  if (plain !== undefined) return { ok: true, value: plain.value };
  return validate === undefined ? loadAndCheck(schema, tree) : validate(schema, tree);
}

async function loadAndCheck(schema: Schema | undefined, tree: unknown): Promise<Checked> {
  const { validateInput }: typeof import("./validate.ts") = await import("./validate.ts" as string);
  validate = validateInput;
  return await validate(schema, tree);
}

/**
 * What is wrong with an input before it is complete: nothing is told of the values whose texts something else fills in, nor of what is around
 * or inside of them.
 */
export async function settledIssues(
  schema: Schema | undefined,
  tree: unknown,
  isFilled: (text: string) => boolean,
): Promise<readonly Issue[]> {
  const checked = await checkInput(schema, tree);
  if (checked.ok) return [];
  const open = filledPlaces(tree, isFilled, "");
  const isAlong = (pointer: string, place: string): boolean =>
    pointer === "" || `${place}/`.startsWith(`${pointer}/`) || pointer.startsWith(`${place}/`);
  return checked.issues.filter(({ pointer }) => !open.some((place) => isAlong(pointer, place)));
}

function filledPlaces(
  tree: unknown,
  isFilled: (text: string) => boolean,
  pointer: string,
): readonly string[] {
  const text = tree instanceof TextValue ? tree.text : tree;
  if (typeof text === "string") return isFilled(text) ? [pointer] : [];
  if (typeof tree !== "object" || tree === null) return [];
  return Object.entries(tree).flatMap(([key, value]) =>
    filledPlaces(value, isFilled, `${pointer === "" ? "" : `${pointer}/`}${encodeSegment(key)}`)
  );
}

/** The issues as the error of a call: one a line, each behind its pointer (calls.md 7). */
export function issuesText(issues: readonly Issue[]): string {
  return issues.map(({ pointer, message }) => pointer === "" ? message : `${pointer}: ${message}`).join("\n");
}

// Most inputs are texts, whole numbers and flags under a schema without alternatives. They need no validator, which is a package and
// a dozen modules; whatever is not as plain as that is left to it.

/** What `validateInput` would make of an input that is valid and plain; undefined for every other one. */
export function plainInput(
  schema: Schema | undefined,
  tree: unknown,
): { readonly value: unknown } | undefined {
  if (measure(tree).problem !== undefined) return undefined;
  if (schema === undefined) return { value: untypedTree(tree) };
  if (!isRecord(tree) || tree instanceof TextValue || isStandardSchema(schema)) return undefined;
  const properties = plainProperties(schema);
  if (properties === undefined || !namesOf(schema.required).every((name) => Object.hasOwn(tree, name))) {
    return undefined;
  }
  let isPlain = true;
  const value = mapChildren(tree, (child, key) => {
    const typed = plainLeaf(Object.hasOwn(properties, key) ? properties[key] : undefined, child);
    isPlain &&= typed !== undefined;
    return typed;
  });
  return isPlain ? { value } : undefined;
}

type Properties = Readonly<Record<string, unknown>>;

const known = new WeakMap<JsonSchema, Properties | "not plain">();

/** The properties of a schema that says nothing else of its object, and that is not broken anywhere; undefined for every other one. */
function plainProperties(schema: JsonSchema): Properties | undefined {
  const found = known.get(schema) ?? look(schema);
  known.set(schema, found);
  return found === "not plain" ? undefined : found;
}

function look(schema: JsonSchema): Properties | "not plain" {
  const { type = "object", properties = {} } = schema;
  const isObject = type === "object" && isRecord(properties) &&
    hasOnly(schema, ["type", "properties", "required", "additionalProperties", "description"]);
  // The validator finds what every object has, too.
  if (!isObject || Object.keys(properties).some((name) => name in {})) return "not plain";
  return isSound(schema, { nodesLeft: MAX_NODES }) ? properties : "not plain";
}

/** Larger schemas, and those that hold themselves, are for the validator. */
const MAX_NODES = 500;

/** Whether every keyword is known and has a value it may have; references, defaults and patterns are for the validator. */
function isSound(node: unknown, look: { nodesLeft: number }): boolean {
  if (typeof node === "boolean") return true;
  if (!isRecord(node) || --look.nodesLeft < 0) return false;
  const areSound = (nodes: readonly unknown[]): boolean => nodes.every((each) => isSound(each, look));
  return Object.entries(node).every(([keyword, value]) => {
    const form = keywordForm(keyword);
    switch (form) {
      case undefined:
      case "pattern":
        return false;
      case "schema":
      case "items":
        return isSound(value, look);
      case "schemas":
        return Array.isArray(value) && areSound(value);
      case "schema-map":
        return keyword !== "patternProperties" && isRecord(value) && areSound(Object.values(value));
      default:
        return keyword !== "default" && keywordProblem(form, value) === undefined;
    }
  });
}

/** The value of a leaf, when its schema is plain and it is surely valid. No value of a schema is `undefined`. */
function plainLeaf(schema: unknown, leaf: unknown): string | number | boolean | undefined {
  if (!isRecord(schema)) return undefined;
  const given = leaf instanceof TextValue ? leaf.text : leaf;
  switch (schema.type) {
    case "string":
      return typeof given === "string" &&
          hasOnlyOf(schema, OF_TEXT) && isOfLength(given, schema)
        ? given
        : undefined;
    case "boolean": {
      const flag = leaf instanceof TextValue ? FLAGS.get(leaf.text) : leaf;
      return typeof flag === "boolean" && hasOnlyOf(schema, OF_FLAG) ? flag : undefined;
    }
    case "integer":
    case "number": {
      const number = leaf instanceof TextValue
        ? PLAIN_NUMBERS[schema.type].test(leaf.text) && +leaf.text
        : leaf;
      const { minimum = -Infinity, maximum = Infinity } = schema;
      const isOfType = schema.type === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number);
      return typeof number === "number" && isOfType &&
          number >= Number(minimum) && number <= Number(maximum) &&
          hasOnlyOf(schema, OF_NUMBER)
        ? number
        : undefined;
    }
    case undefined: {
      const { enum: values } = schema;
      return typeof given === "string" && Array.isArray(values) && values.includes(given) &&
          values.every((value) => typeof value === "string") && hasOnlyOf(schema, OF_CHOICE)
        ? given
        : undefined;
    }
    default:
      return undefined;
  }
}

const OF_TEXT: readonly string[] = ["type", "description", "minLength", "maxLength"];
const OF_FLAG: readonly string[] = ["type", "description"];
const OF_NUMBER: readonly string[] = ["type", "description", "minimum", "maximum"];
const OF_CHOICE: readonly string[] = ["enum", "description"];

/** In code points, which are at most as many as the units of the text and at least half of them. */
function isOfLength(text: string, { minLength = 0, maxLength = Infinity }: JsonSchema): boolean {
  if (text.length >= 2 * Number(minLength) && text.length <= Number(maxLength)) return true;
  const { length } = [...text];
  return length >= Number(minLength) && length <= Number(maxLength);
}

/** None of them is read as something else than it says. */
const PLAIN_NUMBERS = {
  integer: /^(?:0|[1-9]\d{0,14})$/,
  number: /^(?:0|-?[1-9]\d{0,14})(?:\.\d{1,8})?$/,
} as const;

const FLAGS: ReadonlyMap<string, boolean> = new Map([["true", true], ["false", false]]);

/** Looked at once for each schema: a schema has one type, and so one list of keywords. */
function hasOnlyOf(leaf: JsonSchema, keywords: readonly string[]): boolean {
  let found = plainLeaves.get(leaf);
  if (found === undefined) plainLeaves.set(leaf, found = hasOnly(leaf, keywords));
  return found;
}

const plainLeaves = new WeakMap<JsonSchema, boolean>();

function hasOnly(node: JsonSchema, keywords: readonly string[]): boolean {
  for (const keyword of Object.keys(node)) if (!keywords.includes(keyword)) return false;
  return true;
}

function namesOf(names: unknown): readonly string[] {
  return Array.isArray(names) ? names : [];
}

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
const FORMS = {
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
} as const satisfies Record<string, KeywordForm>;

/** What the value of this keyword has to be; undefined for one that decides nothing. */
export function keywordForm(keyword: string): KeywordForm | undefined {
  return isKeyword(keyword) ? FORMS[keyword] : undefined;
}

function isKeyword(name: string): name is keyof typeof FORMS {
  return Object.hasOwn(FORMS, name);
}

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
