import type { JsonSchema, Schema } from "../core/gadget.ts";
import { coercePrepared, fillDefaults } from "./coerce.ts";
import { explainFailures } from "./explain_failures.ts";
import { MAX_PROBLEMS } from "./finding.ts";
import type { Checked, Issue } from "./issue.ts";
import { JsonValidator } from "./json_validator.ts";
import { measure, TextValue, untypedTree } from "./text_value.ts";
import { prepareSchema } from "./prepare_schema.ts";
import type { PreparedSchema } from "./prepare_schema.ts";
import { isStandardSchema } from "../core/gadget.ts";
import { encodeSegment, isRecord } from "../core/json.ts";
import { validateStandard } from "./validate_standard.ts";

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
