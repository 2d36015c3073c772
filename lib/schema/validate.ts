import {
  encodeSegment,
  isRecord,
  isStandardSchema,
  type JsonSchema,
  jsonSchemaOf,
  messageOf,
  type Schema,
  type StandardIssue,
  type StandardSchema,
} from "../core/core.ts";
import { coerce, coercePrepared, fillDefaults } from "./coerce.ts";
import { explainFailures, MAX_PROBLEMS } from "./explain_failures.ts";
import { valueAt } from "./failure.ts";
import { type Checked, type Issue, shown, toPointer } from "./issue.ts";
import { JsonValidator } from "./json_validator.ts";
import { numberOf } from "./leaf_value.ts";
import { type PreparedSchema, prepareSchema } from "./prepare_schema.ts";
import {
  mapChildren,
  measure,
  readJsonText,
  TextValue,
  trimBlanks,
  untypedTree,
  untypedValue,
} from "./text_value.ts";

export type { Checked, Issue } from "./issue.ts";

const MAX_ISSUES = 20;

/**
 * Types the leaves of a call's parameters by the gadget's schema and checks them (calls.md 3 and 7). Without
 * a schema all leaves are read as untyped values, and everything is valid.
 *
 * With a JSON Schema, properties that are missing get the schema's `default`, at any depth in objects that
 * are there. A Standard Schema fills in its own. The answer is a promise only when a Standard Schema gives
 * one. A schema that is broken gives an issue that says where; nothing throws.
 */
export function validateInput(schema: Schema | undefined, tree: unknown): Checked | Promise<Checked> {
  const { size, problem } = measure(tree);
  if (problem !== undefined) {
    return failed([{ pointer: "", message: `cannot read the parameters: ${problem}` }]);
  }
  if (schema === undefined) return { ok: true, value: untypedTree(tree) };
  if (!isStandardSchema(schema)) return validateJson(schema, tree, size);
  const checked = validateStandard(schema, tree);
  return checked instanceof Promise ? checked.then(shortened) : shortened(checked);
}

function validateJson(schema: JsonSchema, tree: unknown, size: number): Checked {
  const prepared = prepareSchema(schema);
  if ("broken" in prepared) return failed([{ pointer: "", message: brokenText(prepared.broken) }]);
  try {
    return validatePrepared(prepared, withoutMany(tree, prepared.root), size);
  } catch (error) {
    if (error instanceof RangeError) {
      return failed([{ pointer: "", message: "cannot be checked: nested too deep" }]);
    }
    throw error;
  }
}

function validatePrepared(prepared: PreparedSchema, tree: unknown, size: number): Checked {
  const validator = new JsonValidator(prepared, { size });
  const typed = coercePrepared(tree, validator);
  const value = prepared.hasDefaults ? fillDefaults(typed, validator) : typed;
  const failures = validator.failuresOf(value);
  return failures.length === 0
    ? { ok: true, value }
    : failed(explainFailures(failures, value, prepared.root));
}

/** Of names that the schema does not allow, only as many as there can be problems: the value is refused for those. */
function withoutMany(tree: unknown, schema: JsonSchema): unknown {
  const { properties = {}, additionalProperties, patternProperties } = schema;
  if (additionalProperties !== false || patternProperties !== undefined) return tree;
  if (!isRecord(tree) || tree instanceof TextValue || !isRecord(properties)) return tree;
  const names = Object.keys(tree);
  let left = MAX_PROBLEMS;
  return names.length <= Object.keys(properties).length + left ? tree : Object.fromEntries(
    names.filter((name) => Object.hasOwn(properties, name) || left-- > 0)
      .map((name) => [name, tree[name]]),
  );
}

function brokenText({ pointer, message }: Issue): string {
  return `The gadget's schema is broken${pointer === "" ? "" : ` at "${pointer}"`}: ${message}`;
}

function failed(issues: readonly Issue[]): Checked {
  return shortened({ ok: false, issues });
}

function shortened(checked: Checked): Checked {
  if (checked.ok || checked.issues.length <= MAX_ISSUES) return checked;
  const left = Math.min(checked.issues.length, MAX_PROBLEMS) - MAX_ISSUES;
  const few = checked.issues.length < MAX_PROBLEMS ? "" : "at least ";
  const more = { pointer: "", message: `and ${few}${left} more problem${left === 1 ? "" : "s"} like these` };
  return { ok: false, issues: [...checked.issues.slice(0, MAX_ISSUES), more] };
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
  const checked = await validateInput(schema, tree);
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

// A Standard Schema is opaque: without its JSON Schema, what type an argument's text should have can only be
// found out by trying. Every leaf has a list of readings; as long as the library finds something wrong at a
// leaf, its next reading is tried.

/**
 * Types the leaves of a tree by a Standard Schema and checks them; a promise only when the library gives one.
 */
function validateStandard(schema: StandardSchema, tree: unknown): Checked | Promise<Checked> {
  const json = jsonSchemaOf(schema);
  if (json === undefined || "broken" in prepareSchema(json)) return tryReadings(schema, tree);
  const value = coerce(tree, json);
  return then(validate(schema, value), (result) => checkedOf(result, value));
}

type Path = readonly string[];

/** A text, and how it is read now. */
interface Leaf {
  readonly readings: readonly unknown[];
  chosen: number;
}

function tryReadings(
  schema: StandardSchema,
  tree: unknown,
  leaves = new Map<TextValue, Leaf>(),
): Checked | Promise<Checked> {
  const read = (node: unknown): unknown => {
    if (typeof node !== "object" || node === null) return node;
    if (!(node instanceof TextValue)) return mapChildren(node, read);
    const leaf = leaves.get(node) ?? { readings: readingsOf(node.text), chosen: 0 };
    leaves.set(node, leaf);
    return leaf.readings[leaf.chosen];
  };
  const value = read(tree);
  return then(validate(schema, value), (result) => {
    if (result.issues === undefined) return { ok: true, value: result.value };
    const { around, inside } = leavesAt(tree, result.issues, leaves);
    const open = [...around, ...inside].filter(({ readings, chosen }) => chosen < readings.length - 1);
    for (const leaf of open) leaf.chosen++;
    if (open.length > 0) return tryReadings(schema, tree, leaves);
    // What is wrong in every reading goes back to the first, which gives the clearest issue. One that was rightly read as JSON, and only
    // parts of it are wrong, stays so.
    const wrong = around.filter(({ chosen }) => chosen > 0);
    if (wrong.length === 0) return checkedOf(result, value);
    for (const leaf of wrong) leaf.chosen = 0;
    const last = read(tree);
    return then(validate(schema, last), (again) => checkedOf(again, last));
  });
}

/** The leaves that issues are about: what they are at or around, such as a union, and what they are inside of, as it was read as JSON. */
function leavesAt(
  tree: unknown,
  issues: readonly StandardIssue[],
  leaves: ReadonlyMap<TextValue, Leaf>,
): { readonly around: readonly Leaf[]; readonly inside: readonly Leaf[] } {
  const paths = issues.map(pathOf);
  const ends = new Set(paths.map((path) => JSON.stringify(path)));
  const ways = new Set(paths.flatMap((path) => path.map((_, at) => JSON.stringify(path.slice(0, at)))));
  const [around, inside]: [Leaf[], Leaf[]] = [[], []];
  const visit = (node: unknown, path: Path, isWithin: boolean): void => {
    const place = JSON.stringify(path);
    const isAround = isWithin || ends.has(place);
    const leaf = node instanceof TextValue ? leaves.get(node) : undefined;
    if (leaf !== undefined) {
      if (isAround) around.push(leaf);
      else if (ways.has(place)) inside.push(leaf);
    } else if (typeof node === "object" && node !== null) {
      for (const [key, child] of Object.entries(node)) visit(child, [...path, key], isAround);
    }
  };
  visit(tree, [], false);
  return { around, inside };
}

/** Without a schema's word, then as text, then as everything a schema could have made of it. */
function readingsOf(text: string): readonly unknown[] {
  const word = trimBlanks(text);
  const readings: unknown[] = [untypedValue(text), text];
  const number = numberOf(text);
  if (number !== undefined) readings.push(number);
  if (word === "null") readings.push(null);
  const json = readJsonText(text);
  if ("value" in json) readings.push(json.value);
  return [...new Set(readings)];
}

type Result =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

function validate(schema: StandardSchema, value: unknown): Result | Promise<Result> {
  try {
    const result = schema["~standard"].validate(value);
    return result instanceof Promise ? result.catch(thrown) : result;
  } catch (error) {
    return thrown(error);
  }
}

function thrown(error: unknown): Result {
  return {
    issues: [{ message: `The gadget's schema is broken: it threw ${JSON.stringify(messageOf(error))}` }],
  };
}

function checkedOf(result: Result, value: unknown): Checked {
  if (result.issues === undefined) return { ok: true, value: result.value };
  const issues = new Map<string, Issue>();
  for (const issue of result.issues) {
    const path = pathOf(issue);
    const told = { pointer: toPointer(path), message: messageWithFound(issue.message, path, value) };
    issues.set(`${told.pointer}\n${told.message}`, told);
  }
  return { ok: false, issues: [...issues.values()] };
}

/** The library's own words, since they may be the author's, with what was found when that is short. */
function messageWithFound(message: string, path: Path, value: unknown): string {
  if (path.length === 0) return message;
  const found = valueAt(value, path);
  if (found === undefined) return `missing (${message})`;
  const words = shown(found);
  return typeof found === "object" || message.includes(words) ? message : `${message} (found ${words})`;
}

function pathOf({ path = [] }: StandardIssue): Path {
  return path.map((part) => String(typeof part === "object" ? part.key : part));
}

function then<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
