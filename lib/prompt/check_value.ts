import {
  decodeSegment,
  isStandardSchema,
  type JsonSchema,
  type ParseIssue,
  type Schema,
  type StandardSchema,
} from "../core/core.ts";
import type { Issue } from "../schema/issue.ts";
import { type PreparedSchema, prepareSchema, SCHEMA_TYPES } from "../schema/prepare_schema.ts";
import { measure } from "../schema/text_value.ts";

/** What a schema makes of a JSON value, its defaults filled in, or everything that it has against it. */
export type CheckedValue = { readonly value: unknown } | { readonly issues: readonly ParseIssue[] };

/** Checks a JSON value by a schema. What the validation function of a Standard Schema throws goes through. */
export async function checkValue(schema: Schema, value: unknown): Promise<CheckedValue> {
  if (isStandardSchema(schema)) return await checkStandard(schema, value);
  // The validator is a package: it is loaded with the first value that is checked, not with every prompt that is defined.
  const { checkJson }: typeof import("./check_prepared.ts") = await import("./check_prepared.ts" as string);
  return checkJson(schema, value);
}

async function checkStandard(schema: StandardSchema, value: unknown): Promise<CheckedValue> {
  const { problem } = measure(value);
  if (problem !== undefined) return { issues: [{ path: [], message: `cannot be read: ${problem}` }] };
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { value: result.value };
  const issues = result.issues.map(({ path = [], message }) => ({ path: path.map(keyOf), message }));
  return { issues };
}

function keyOf(part: PropertyKey | { readonly key: PropertyKey }): string | number {
  const key = typeof part === "object" ? part.key : part;
  return typeof key === "symbol" ? String(key) : key;
}

const MAX_LINES = 20;

/** One line `- path: message` for each issue, at most 20, then how many more there are (prompts.md 3). */
export function issueLines(issues: readonly ParseIssue[]): string {
  const lines = issues.slice(0, MAX_LINES).map(({ path, message }) =>
    `- ${pathText(path)}: ${message.replaceAll(/\s*[\r\n]\s*/g, " ")}`
  );
  const left = issues.length - lines.length;
  return [...lines, ...(left > 0 ? [`- and ${left} more`] : [])].join("\n");
}

/** As a program would write it: `a.b[0]["odd key"]`; `(root)` for the top. */
export function pathText(path: ParseIssue["path"]): string {
  if (path.length === 0) return "(root)";
  return path.map((key, index) => {
    if (typeof key === "number") return `[${key}]`;
    if (!/^[\p{L}_$][\p{L}\p{M}\p{N}_$]*$/u.test(key)) return `[${JSON.stringify(key)}]`;
    return index === 0 ? key : `.${key}`;
  }).join("");
}

const prepared = new WeakMap<JsonSchema, PreparedSchema | BrokenText>();

/** A schema that cannot be used. */
interface BrokenText {
  /** Where and why, as the end of a sentence. */
  readonly broken: string;
  /** The way to it. */
  readonly at: readonly string[];
}

/**
 * Makes a JSON Schema ready for the validator, once for each schema object. Without a `type` it takes values of every type, as the
 * standard has it, and not only objects, as where parameters of calls are described. Never throws.
 */
export function prepareAnyType(schema: JsonSchema): PreparedSchema | BrokenText {
  const known = prepared.get(schema);
  if (known !== undefined) return known;
  const result = prepareSchema(schema.type === undefined ? { ...schema, type: SCHEMA_TYPES } : schema);
  const ready = "broken" in result ? brokenText(result.broken) : result;
  prepared.set(schema, ready);
  return ready;
}

function brokenText({ pointer, message }: Issue): BrokenText {
  const at = pointer.split("/").map(decodeSegment);
  return pointer === "" ? { broken: `: ${message}`, at: [] } : { broken: ` at "${pointer}": ${message}`, at };
}
