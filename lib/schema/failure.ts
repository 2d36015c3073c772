import { decodeSegment, isRecord, type JsonSchema } from "../core/core.ts";
import { shown, shownInsteadOfJson, toPointer } from "./issue.ts";
import type { Failure } from "./json_validator.ts";
import { isIntegerLiteral } from "./leaf_value.ts";
import { isSchemaNode, resolveRef } from "./schema_node.ts";
import { joined, oneOf, typeText } from "./describe.ts";

/** A failure with its places as paths. */
export interface PlacedFailure {
  readonly keyword: string;
  /** The path of the keyword in the schema, references included as `$ref`. */
  readonly at: readonly string[];
  /** The path in the value. */
  readonly where: readonly string[];
  readonly error: string;
}

/** These failures only say that something inside them failed. */
export const WRAPPERS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "prefixItems",
  "items",
  "unevaluatedItems",
  "$ref",
  "allOf",
  "if",
  "dependentSchemas",
]);

/**
 * The failures with paths. What a schema `false` refuses gets the keyword that holds this schema:
 * `false:additionalProperties`.
 */
export function placed(failures: readonly Failure[]): readonly PlacedFailure[] {
  const out: PlacedFailure[] = [];
  for (const { keyword, keywordLocation, instanceLocation, error } of failures) {
    const where = pathOf(instanceLocation);
    const before = out.at(-1);
    // The validator gives such a failure the place in the value twice; the one before it is the keyword's
    // own.
    if (keyword !== "false" || before === undefined) {
      out.push({ keyword, at: pathOf(keywordLocation), where, error });
    } else out.push({ keyword: `false:${before.keyword}`, at: [...before.at, "false"], where, error });
  }
  return out;
}

/** The part of a prepared schema a path leads to. */
export function schemaAt(root: JsonSchema, path: readonly string[]): JsonSchema {
  let node: unknown = root;
  for (const key of path) {
    const holder: object = typeof node === "object" && node !== null ? node : {};
    const next: unknown = Object.hasOwn(holder, key) ? Reflect.get(holder, key) : undefined;
    node = key === "$ref" && typeof next === "string" ? resolveRef(root, next) : next;
  }
  return isRecord(node) ? node : {};
}

/** The part of a value a path leads to. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let node = value;
  for (const key of path) {
    node = typeof node === "object" && node !== null && Object.hasOwn(node, key)
      ? Reflect.get(node, key)
      : undefined;
  }
  return node;
}

/** True when `path` begins with `prefix`. */
function isWithin(prefix: readonly string[], path: readonly string[]): boolean {
  return prefix.length <= path.length && prefix.every((key, index) => key === path[index]);
}

function pathOf(location: string): readonly string[] {
  return location.split("/").slice(1)
    .map((part) => decodeSegment(decodeURIComponent(part)));
}

/** Something wrong at a place of a value. */
export interface Fault {
  readonly where: readonly string[];
  /** What has failed: of JSON Schema, or a word of whoever puts it into words. */
  readonly keyword: string;
  /** Something is missing whose schema lists its values, so that it tells the alternatives of a union apart. */
  readonly isTag?: boolean;
}

/** What failures are in words. */
export interface FaultWords<Of extends Fault> {
  /** A failure outside of unions. @param inside the failures that came from inside it, for `reading` */
  faultsOf(
    failure: PlacedFailure,
    inside: readonly PlacedFailure[],
    reading: FailureReading<Of>,
  ): readonly Of[];
  /** A value that fits so many alternatives of which it may fit one. */
  several(failure: PlacedFailure, matches: number): Of;
  /** One for several alternatives: what any of them expected. Its place is that of `failure`. */
  combined(failure: PlacedFailure, faults: readonly Of[]): Of;
  /** A fault of one of several alternatives that were equally likely meant. Default: the fault. */
  among?(fault: Of, alternatives: number): Of;
}

/** Finds out what the failures of a value mean: which of them are told, and of a union those of the alternative that was most likely meant. */
export class FailureReading<Of extends Fault> {
  readonly #words: FaultWords<Of>;
  readonly #most: number;

  /** @param most no more than about so many are looked for */
  constructor(words: FaultWords<Of>, most = Infinity) {
    this.#words = words;
    this.#most = most;
  }

  /** In the order of the failures. */
  faults(failures: readonly PlacedFailure[]): readonly Of[] {
    const faults: Of[] = [];
    for (let index = 0, next = 0; index < failures.length && faults.length < this.#most; index = next) {
      next = index + 1;
      const failure = failures[index];
      if (failure === undefined || WRAPPERS.has(failure.keyword) || isOfOneItem(failure)) continue;
      if (HOLDERS.has(failure.keyword)) next = endOfInside(failures, index);
      const inside = failures.slice(index + 1, next);
      const isUnion = failure.keyword === "anyOf" || failure.keyword === "oneOf";
      const found = isUnion ? this.#union(failure, inside) : this.#words.faultsOf(failure, inside, this);
      for (const fault of found) faults.push(fault);
    }
    // Fixed values tell more than their type, which a schema may name as well.
    const fixed = new Set(faults.filter(isFixedValue).map(({ where }) => toPointer(where)));
    return faults.filter(({ keyword, where }) => keyword !== "type" || !fixed.has(toPointer(where)));
  }

  #union(failure: PlacedFailure, inside: readonly PlacedFailure[]): readonly Of[] {
    const matches = Number(/\(([0-9]+) matches\)/.exec(failure.error)?.[1] ?? 0);
    if (matches > 1) return [this.#words.several(failure, matches)];
    const branches = [...Map.groupBy(inside, ({ at }) => at[failure.at.length] ?? "").values()]
      .map((branch) => this.faults(branch)).filter((faults) => faults.length > 0);
    const isOfKind = (fault: Of) => isOfValue(fault, failure.where);
    const ofKind = branches.filter((faults) => !faults.some(isOfKind));
    return ofKind.length === 0
      ? [this.#words.combined(failure, branches.flat().filter(isOfKind))]
      : this.#likeliest(failure, ofKind);
  }

  /** Of the alternatives of the right type that whose fixed values are there, then the one with the fewest faults. */
  #likeliest(failure: PlacedFailure, branches: readonly (readonly Of[])[]): readonly Of[] {
    const isTag = (fault: Of) => isOfTag(fault, failure.where);
    const open = branches.filter((faults) => !faults.some(isTag));
    const tags = branches.flatMap((faults) => faults.filter(isTag));
    const [tag] = tags;
    if (open.length === 0 && tag !== undefined) {
      const same = tags.filter(({ where }) => where.at(-1) === tag.where.at(-1));
      return [this.#words.combined({ ...failure, where: tag.where }, same)];
    }
    const best = open.reduce((best, faults) => faults.length < best.length ? faults : best);
    return open.length === 1 ? best : best.map((fault) => this.#words.among?.(fault, open.length) ?? fault);
  }
}

/** These explain the failures that came from inside them. */
const HOLDERS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "contains", "propertyNames", "not"]);

function endOfInside(failures: readonly PlacedFailure[], index: number): number {
  const holder = failures[index]?.at ?? [];
  let end = index + 1;
  for (let next = failures[end]; next !== undefined && isWithin(holder, next.at); next = failures[end]) end++;
  return end;
}

/** An item that is not what `contains` looks for: that alone is no error. */
function isOfOneItem({ at }: PlacedFailure): boolean {
  const isName = (index: number) =>
    ["properties", "patternProperties", "dependentSchemas"].includes(at[index] ?? "");
  return at.some((key, index) => key === "contains" && index < at.length - 1 && !isName(index - 1));
}

function isFixedValue({ keyword }: Fault): boolean {
  return keyword === "const" || keyword === "enum";
}

/** The value itself is of the wrong type, or another one. */
function isOfValue(fault: Fault, place: readonly string[]): boolean {
  return (fault.keyword === "type" || isFixedValue(fault)) && fault.where.length === place.length;
}

/** A fixed value right below is another one, or missing. */
function isOfTag(fault: Fault, place: readonly string[]): boolean {
  return (isFixedValue(fault) || fault.isTag === true) && fault.where.length === place.length + 1;
}

/** The texts of a list keyword such as `required`. */
function namesOf(names: unknown): readonly string[] {
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

/** The names of which a failed `required` or `dependentRequired` found nothing, each with the one that calls for it. */
export function missingNames(
  keyword: string,
  schema: JsonSchema,
  value: unknown,
): readonly { readonly name: string; readonly by?: string }[] {
  const object: object = Object(value);
  const wanted = keyword === "required"
    ? namesOf(schema.required).map((name) => ({ name }))
    : Object.entries(Object(schema.dependentRequired)).filter(([by]) => Object.hasOwn(object, by))
      .flatMap(([by, names]) => namesOf(names).map((name) => ({ name, by })));
  return wanted.filter(({ name }) => !Object.hasOwn(object, name));
}

/** What a keyword wanted and what there was. */
export interface Words {
  readonly expected: string;
  readonly found: string;
  /** Texts one of which may have been meant. */
  readonly near?: readonly string[];
}

/** A failed keyword: the schema that has it, and the value it was about. */
export interface Context {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly root: JsonSchema;
  /** What the validator said. */
  readonly error: string;
}

type Say = (context: Context, wanted: unknown) => Words;

/** The words for a failed keyword about a single value; undefined for a keyword that has none. */
export function wordsFor(keyword: string, context: Context): Words | undefined {
  return SAY.get(keyword)?.(context, context.schema[keyword]);
}

const SAY: ReadonlyMap<string, Say> = new Map<string, Say>([
  ["type", typeWords],
  ["enum", ({ value }, wanted) => choice(Array.isArray(wanted) ? wanted : [], value)],
  ["const", ({ value }, wanted) => choice([wanted], value)],
  ["minimum", bound("at least")],
  ["maximum", bound("at most")],
  ["exclusiveMinimum", bound("more than")],
  ["exclusiveMaximum", bound("less than")],
  ["multipleOf", bound("a multiple of")],
  ["pattern", bound("text matching")],
  ["format", bound("text in the format")],
  ["minLength", counted("at least", "character", lengthOf)],
  ["maxLength", counted("at most", "character", lengthOf)],
  ["minItems", counted("at least", "item", sizeOf)],
  ["maxItems", counted("at most", "item", sizeOf)],
  ["minProperties", counted("at least", "property", sizeOf)],
  ["maxProperties", counted("at most", "property", sizeOf)],
  ["uniqueItems", ({ error }) => ({ expected: "every item once", found: `the same in ${sameItems(error)}` })],
  [
    "not",
    ({ root, value }, wanted) => ({ expected: `anything but ${typeOf(wanted, root)}`, found: shown(value) }),
  ],
  [
    "contains",
    ({ root }, wanted) => ({ expected: `an item that is ${typeOf(wanted, root)}`, found: "none" }),
  ],
  ["minContains", containing("at least")],
  ["maxContains", containing("at most")],
]);

function bound(words: string): Say {
  return ({ value }, wanted) => ({ expected: `${words} ${wanted}`, found: shown(value) });
}

function counted(words: string, noun: string, found: (value: unknown) => string): Say {
  return ({ value }, wanted) => ({ expected: `${words} ${countOf(wanted, noun)}`, found: found(value) });
}

function containing(words: string): Say {
  return ({ schema, root, error }, wanted) => ({
    expected: `${words} ${countOf(wanted, "item")} that is ${typeOf(schema.contains, root)}`,
    found: /([0-9]+) items were found/.exec(error)?.[1] ?? "fewer",
  });
}

/** `1 item`, `2 properties` */
export function countOf(wanted: unknown, noun: string): string {
  return `${wanted} ${wanted === 1 ? noun : `${noun}s`.replace(/ys$/, "ies")}`;
}

function typeWords({ schema, value, root }: Context, wanted: unknown): Words {
  const types: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted];
  const words = types.map((type) => type === "array" ? typeText({ ...schema, type }, root) : String(type));
  return {
    expected: joined(words),
    found: typeof value === "string" ? textInstead(value, types) : shown(value),
  };
}

/** A text that stayed text because it is none of the types. */
function textInstead(text: string, types: readonly unknown[]): string {
  if (isTooLarge(text, types)) return `${text.trim()}, which is beyond ±(2^53 - 1)`;
  const isContainer = types.includes("array") || types.includes("object");
  return isContainer ? shownInsteadOfJson(text) : shown(text);
}

function isTooLarge(text: string, types: readonly unknown[]): boolean {
  const number = text.trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(number) || Math.abs(number) <= Number.MAX_SAFE_INTEGER) return false;
  return types.includes("number") ? isIntegerLiteral(text) : types.includes("integer");
}

function choice(values: readonly unknown[], found: unknown): Words {
  const near = values.filter((value) => typeof value === "string");
  return { expected: oneOf(values), found: shown(found), near };
}

/** Characters are code points, as JSON Schema counts them. */
function lengthOf(value: unknown): string {
  const length = typeof value === "string" ? Array.from(value).length : 0;
  return length === 0 ? "empty text" : `${length} in ${shown(value).replace(/ \([0-9]+ characters\)$/, "")}`;
}

function sizeOf(value: unknown): string {
  const size = typeof value === "object" && value !== null ? Object.keys(value).length : 0;
  return size === 0 ? "none" : String(size);
}

function sameItems(error: string): string {
  const twins = twinsIn(error);
  return twins === undefined ? "two items" : `items ${twins}`;
}

/** The items that the validator found to be the same: `1 and 3`. */
export function twinsIn(error: string): string | undefined {
  return /indexes ([0-9]+ and [0-9]+)/.exec(error)?.[1];
}

/** The type of a schema in words, also of what is no schema. */
export function typeOf(schema: unknown, root: JsonSchema): string {
  return isSchemaNode(schema) ? typeText(schema, root) : "anything";
}
