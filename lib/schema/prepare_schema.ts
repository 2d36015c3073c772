// A schema is copied before it is used: the validator writes into the schemas it is given (they may be
// frozen), digs into keywords it does not know, and cannot follow every reference. The copy holds only known,
// checked keywords, with all references as `#/$defs/rN`.
import { decodeSegment, didYouMean, isRecord, type JsonSchema } from "../core/core.ts";
import { type Issue, shownJson, toPointer } from "./issue.ts";
import {
  hasFixedValues,
  isSchemaNode,
  resolveRef,
  schemaEntries,
  schemaList,
  type SchemaNode,
} from "./schema_node.ts";

/** A checked copy of a schema, ready for use. */
export interface PreparedSchema {
  readonly root: JsonSchema;
  /** True when a `default` is anywhere in it. */
  readonly hasDefaults: boolean;
}

/** A schema that cannot be used; the pointer leads into the schema. */
export interface BrokenSchema {
  readonly broken: Issue;
}

const MAX_SCHEMA_LEVELS = 200;
const prepared = new WeakMap<JsonSchema, PreparedSchema | BrokenSchema>();

/** Checks a schema and makes it ready for use, once for each schema object. Never throws. */
export function prepareSchema(schema: JsonSchema): PreparedSchema | BrokenSchema {
  let result = prepared.get(schema);
  if (result === undefined) {
    result = prepare(schema);
    prepared.set(schema, result);
  }
  return result;
}

function prepare(schema: JsonSchema): PreparedSchema | BrokenSchema {
  const copy = new SchemaCopy(schema);
  try {
    return copy.finish();
  } catch (error) {
    if (error instanceof SchemaProblem) {
      return { broken: { pointer: toPointer(error.path), message: error.message } };
    }
    throw error;
  }
}

class SchemaProblem extends Error {
  readonly path: readonly string[];

  constructor(path: readonly string[], message: string) {
    super(message);
    this.path = path;
  }
}

interface Target {
  readonly name: string;
  readonly node: unknown;
  readonly path: readonly string[];
}

class SchemaCopy {
  readonly #source: JsonSchema;
  readonly #names = new Map<string, string>();
  readonly #targets: Target[] = [];
  readonly #places = new Map<JsonSchema, readonly string[]>();
  readonly #open = new Set<object>();
  #hasDefaults = false;

  constructor(source: JsonSchema) {
    this.#source = source;
  }

  finish(): PreparedSchema {
    const top = this.#source.type === undefined ? { ...this.#source, type: "object" } : this.#source;
    const node = this.#copy(top, []);
    const defs: Record<string, SchemaNode> = {};
    // Grows while it is read: a target may hold further references.
    for (const target of this.#targets) defs[target.name] = this.#copy(target.node, target.path);
    const root: Record<string, unknown> = typeof node === "boolean" ? {} : node;
    root.$defs = defs;
    this.#refuseEndless(root);
    for (const node of this.#places.keys()) putTagsFirst(root, node);
    return { root, hasDefaults: this.#hasDefaults };
  }

  #copy(node: unknown, path: readonly string[]): boolean | Record<string, unknown> {
    if (typeof node === "boolean") return node;
    if (!isRecord(node)) {
      throw new SchemaProblem(path, `found ${shownJson(node)}, expected a schema: an object, true or false`);
    }
    if (this.#open.has(node)) {
      throw new SchemaProblem(path.slice(0, 8), "an object that holds itself, expected $ref for that");
    }
    if (path.length > MAX_SCHEMA_LEVELS) {
      throw new SchemaProblem(path.slice(0, 8), `nested deeper than ${MAX_SCHEMA_LEVELS} levels`);
    }
    this.#open.add(node);
    const out = this.#keywords(node, path);
    this.#open.delete(node);
    if (Object.hasOwn(out, "default")) this.#hasDefaults = true;
    this.#places.set(out, path);
    return tidy(out);
  }

  #keywords(node: JsonSchema, path: readonly string[]): Record<string, unknown> {
    const out: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(node)) {
      if (value === undefined) continue;
      const form = keywordForm(keyword);
      if (form !== undefined) out[keyword] = this.#keyword(form, value, [...path, keyword]);
      else if (isReference(keyword)) out.$ref = this.#reference(value, [...path, keyword]);
    }
    return out;
  }

  #keyword(form: KeywordForm, value: unknown, path: readonly string[]): unknown {
    switch (form) {
      case "schema":
        return this.#copy(value, path);
      case "items":
        return Array.isArray(value) ? this.#list(value, path) : this.#copy(value, path);
      case "schemas":
        return this.#list(value, path);
      case "schema-map":
        return this.#map(value, path);
      default:
        return checked(form, value, path);
    }
  }

  #list(value: unknown, path: readonly string[]): unknown {
    if (!Array.isArray(value)) {
      throw new SchemaProblem(path, `found ${shownJson(value)}, expected a list of schemas`);
    }
    return value.map((item, index) => this.#copy(item, [...path, String(index)]));
  }

  #map(value: unknown, path: readonly string[]): unknown {
    if (!isRecord(value)) {
      throw new SchemaProblem(path, `found ${shownJson(value)}, expected an object of schemas`);
    }
    const isPatterns = path.at(-1) === "patternProperties";
    const entries = Object.entries(value).filter(([, schema]) => schema !== undefined).map(
      ([key, schema]) => {
        const problem = isPatterns ? patternProblem(key) : undefined;
        if (problem !== undefined) throw new SchemaProblem([...path, key], problem);
        return [isPatterns ? toUnicodePattern(key) : key, this.#copy(schema, [...path, key])] as const;
      },
    );
    return Object.fromEntries(entries);
  }

  #reference(value: unknown, path: readonly string[]): string {
    if (typeof value !== "string") {
      throw new SchemaProblem(path, `found ${shownJson(value)}, expected a reference such as #/$defs/Name`);
    }
    const { $id } = this.#source;
    const inside = typeof $id === "string" && $id !== "" && value.startsWith($id)
      ? value.slice($id.length)
      : value;
    if (inside === "#" || inside === "") return "#";
    if (!inside.startsWith("#")) {
      throw new SchemaProblem(
        path,
        `${shownJson(value)} points outside of the schema, expected a reference such as #/$defs/Name`,
      );
    }
    return `#/$defs/${this.#target(inside.slice(1), path)}`;
  }

  #target(fragment: string, path: readonly string[]): string {
    const known = this.#names.get(fragment);
    if (known !== undefined) return known;
    const found = schemaTarget(this.#source, fragment);
    if (found === undefined) {
      const names = [this.#source.$defs, this.#source.definitions].flatMap((defs) =>
        isRecord(defs) ? Object.keys(defs) : []
      );
      const near = didYouMean(fragment.split("/").at(-1) ?? "", names);
      throw new SchemaProblem(path, `"#${fragment}" leads nowhere in the schema.${near}`);
    }
    const name = `r${this.#targets.length}`;
    this.#names.set(fragment, name);
    this.#targets.push({ name, ...found });
    return name;
  }

  /** A schema that means itself again at the same place would be applied without end. */
  #refuseEndless(root: JsonSchema): void {
    const done = new Set<JsonSchema>();
    const open = new Set<JsonSchema>();
    const visit = (node: SchemaNode): void => {
      if (typeof node === "boolean" || done.has(node)) return;
      if (open.has(node)) {
        throw new SchemaProblem(this.#places.get(node) ?? [], "refers to itself without end");
      }
      open.add(node);
      samePlaceSchemas(root, node).forEach(visit);
      open.delete(node);
      done.add(node);
    };
    for (const node of this.#places.keys()) visit(node);
  }
}

/** The schemas that apply to the same value as this one. */
function samePlaceSchemas(root: JsonSchema, node: JsonSchema): readonly SchemaNode[] {
  const schemas: SchemaNode[] = [];
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === "$ref") schemas.push(resolveRef(root, value));
    else if (LISTS.has(keyword)) schemas.push(...schemaList(value));
    else if (BRANCHES.has(keyword) && isSchemaNode(value)) schemas.push(value);
    else if (keyword === "dependentSchemas") {
      schemas.push(...schemaEntries(value).map(([, schema]) => schema));
    }
  }
  return schemas;
}

const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf"]);
const BRANCHES: ReadonlySet<string> = new Set(["not", "if", "then", "else"]);

function isReference(keyword: string): boolean {
  return keyword === "$ref" || keyword === "$dynamicRef" || keyword === "$recursiveRef";
}

function checked(form: KeywordForm, value: unknown, path: readonly string[]): unknown {
  const problem = keywordProblem(form, value);
  if (problem !== undefined) {
    const near = form === "type" && typeof value === "string" ? didYouMean(value, SCHEMA_TYPES) : "";
    throw new SchemaProblem(path, `found ${shownJson(value)}, ${problem}.${near}`);
  }
  return form === "pattern" && typeof value === "string" ? toUnicodePattern(value) : value;
}

/**
 * Brings draft 7 tuples to `prefixItems`, and keeps integers within what a number holds exactly (calls.md 3).
 */
function tidy(node: Record<string, unknown>): Record<string, unknown> {
  if (Array.isArray(node.items)) {
    node.prefixItems = node.items;
    delete node.items;
    if (node.additionalItems !== undefined) node.items = node.additionalItems;
  }
  delete node.additionalItems;
  const types: readonly unknown[] = Array.isArray(node.type) ? node.type : [node.type];
  if (types.includes("integer") && !types.includes("number")) {
    node.minimum = Math.max(Number(node.minimum ?? -Infinity), Number.MIN_SAFE_INTEGER);
    node.maximum = Math.min(Number(node.maximum ?? Infinity), Number.MAX_SAFE_INTEGER);
  }
  return node;
}

/**
 * In an alternative of a union, properties with fixed values come first: the validator then leaves a wrong
 * one early.
 */
function putTagsFirst(root: JsonSchema, node: JsonSchema): void {
  for (const branch of [...schemaList(node.anyOf), ...schemaList(node.oneOf)]) {
    const target = typeof branch === "object" && branch.$ref !== undefined
      ? resolveRef(root, branch.$ref)
      : branch;
    if (typeof target === "boolean" || target.properties === undefined) continue;
    const entries = schemaEntries(target.properties);
    const isTag = ([, schema]: readonly [string, SchemaNode]) => hasFixedValues(schema);
    const ordered = [...entries.filter(isTag), ...entries.filter((entry) => !isTag(entry))];
    Reflect.set(target, "properties", Object.fromEntries(ordered));
  }
}

/**
 * What the value of a JSON Schema keyword has to be. Keywords that are not here say nothing about a value.
 */
type KeywordForm =
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
function keywordForm(keyword: string): KeywordForm | undefined {
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
function keywordProblem(form: KeywordForm, value: unknown): string | undefined {
  if (form === "pattern") return patternProblem(value);
  const [isFine, expected] = VALUES[form] ?? [];
  return isFine === undefined || isFine(value) ? undefined : `expected ${expected}`;
}

const VALUES: { readonly [form in KeywordForm]?: readonly [(value: unknown) => boolean, string] } = {
  "type": [isType, `${SCHEMA_TYPES.join(", ")}, or a list of these`],
  "names": [isNames, "a list of names"],
  "name-map": [
    (value) => isRecord(value) && Object.values(value).every(isNames),
    "an object of lists of names",
  ],
  "list": [(value) => Array.isArray(value) && value.length > 0, "a list of values"],
  "number": [Number.isFinite, "a number"],
  "positive": [(value) => typeof value === "number" && value > 0 && value < Infinity, "a number above 0"],
  "count": [(value) => Number.isInteger(value) && Number(value) >= 0, "a whole number, 0 or more"],
  "flag": [(value) => typeof value === "boolean", "true or false"],
  "text": [(value) => typeof value === "string", "text"],
};

/**
 * The regular expression as the flag `u` wants it: `\-` and the like, which only the older reading allows,
 * become `\x2d`, since schemas in the wild are full of them.
 */
function toUnicodePattern(pattern: string): string {
  return pattern.replaceAll(/\\(.)/gsu, (escape, character: string) => {
    const code = character.codePointAt(0) ?? 0;
    const isPlain = code < 0x80 && !/[A-Za-z0-9^$\\.*+?()[\]{}|/]/.test(character);
    return isPlain ? `\\x${code.toString(16).padStart(2, "0")}` : escape;
  });
}

/** What is wrong with a regular expression of a schema (ECMA-262). */
function patternProblem(pattern: unknown): string | undefined {
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

/** What a reference leads to, and its path in the schema. */
interface SchemaTarget {
  readonly node: unknown;
  readonly path: readonly string[];
}

/**
 * The part of a schema that a fragment without `#` names, as a JSON pointer or an anchor; undefined when
 * there is none.
 */
function schemaTarget(source: JsonSchema, fragment: string): SchemaTarget | undefined {
  return fragment.startsWith("/") ? atPointer(source, fragment) : atAnchor(source, fragment);
}

function atPointer(source: JsonSchema, fragment: string): SchemaTarget | undefined {
  const path = decoded(fragment).slice(1).split("/").map(decodeSegment);
  let node: unknown = source;
  for (const key of path) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    node = Reflect.get(node, key);
  }
  return { node, path };
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function atAnchor(source: JsonSchema, anchor: string): SchemaTarget | undefined {
  const seen = new Set<object>();
  const search = (node: unknown, path: readonly string[]): SchemaTarget | undefined => {
    if (typeof node !== "object" || node === null || seen.has(node)) return undefined;
    seen.add(node);
    const { $anchor, $dynamicAnchor, $id }: JsonSchema = { ...node };
    if ([$anchor, $dynamicAnchor].includes(anchor) || $id === `#${anchor}`) return { node, path };
    for (const [key, child] of Object.entries(node)) {
      const found = search(child, [...path, key]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search(source, []);
}
