import type { JsonSchema, Schema } from "../core/gadget.ts";
import type { Checked, Issue } from "./issue.ts";
import { isRecord } from "../core/json.ts";
import { mapChildren, measure, TextValue, untypedTree } from "./text_value.ts";
import { KEYWORD_FORMS, keywordProblem } from "./schema_keywords.ts";
import { isStandardSchema } from "./standard_schema.ts";

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
    const form = KEYWORD_FORMS.get(keyword);
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
      return typeof given === "string" && hasOnly(schema, ["type", "description", "minLength"]) &&
          [...given].length >= Number(schema.minLength ?? 0)
        ? given
        : undefined;
    case "boolean": {
      const flag = leaf instanceof TextValue ? FLAGS.get(leaf.text) : leaf;
      return typeof flag === "boolean" && hasOnly(schema, ["type", "description"]) ? flag : undefined;
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
          hasOnly(schema, ["type", "description", "minimum", "maximum"])
        ? number
        : undefined;
    }
    case undefined: {
      const { enum: values } = schema;
      return typeof given === "string" && Array.isArray(values) && values.includes(given) &&
          values.every((value) => typeof value === "string") && hasOnly(schema, ["enum", "description"])
        ? given
        : undefined;
    }
    default:
      return undefined;
  }
}

/** None of them is read as something else than it says. */
const PLAIN_NUMBERS = {
  integer: /^(?:0|[1-9]\d{0,14})$/,
  number: /^(?:0|-?[1-9]\d{0,14})(?:\.\d{1,8})?$/,
} as const;

const FLAGS: ReadonlyMap<string, boolean> = new Map([["true", true], ["false", false]]);

function hasOnly(node: JsonSchema, keywords: readonly string[]): boolean {
  return Object.keys(node).every((keyword) => keywords.includes(keyword));
}

function namesOf(names: unknown): readonly string[] {
  return Array.isArray(names) ? names : [];
}
