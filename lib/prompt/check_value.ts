import type { JsonSchema, Schema, StandardSchema } from "../core/gadget.ts";
import type { ParseIssue } from "../core/prompt_error.ts";
import { measure } from "../schema/text_value.ts";
import { isStandardSchema } from "../core/gadget.ts";
import { prepareAnyType } from "./prepare_any_type.ts";

/** What a schema makes of a JSON value, its defaults filled in, or everything that it has against it. */
export type CheckedValue = { readonly value: unknown } | { readonly issues: readonly ParseIssue[] };

/** Checks a JSON value by a schema. What the validation function of a Standard Schema throws goes through. */
export async function checkValue(schema: Schema, value: unknown): Promise<CheckedValue> {
  const { size, problem } = measure(value);
  if (problem !== undefined) return { issues: [{ path: [], message: `cannot be read: ${problem}` }] };
  return isStandardSchema(schema)
    ? await checkStandard(schema, value)
    : await checkJson(schema, { value, size });
}

async function checkStandard(schema: StandardSchema, value: unknown): Promise<CheckedValue> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { value: result.value };
  const issues = result.issues.map(({ path = [], message }) => ({ path: path.map(keyOf), message }));
  return { issues };
}

function keyOf(part: PropertyKey | { readonly key: PropertyKey }): string | number {
  const key = typeof part === "object" ? part.key : part;
  return typeof key === "symbol" ? String(key) : key;
}

async function checkJson(
  schema: JsonSchema,
  { value, size }: { readonly value: unknown; readonly size: number },
): Promise<CheckedValue> {
  const prepared = prepareAnyType(schema);
  if ("broken" in prepared) {
    return { issues: [{ path: [], message: `cannot be checked: the schema is broken${prepared.broken}` }] };
  }
  // The validator is a package: it is loaded with the first value that is checked, not with every prompt that is defined.
  const { checkPrepared }: typeof import("./check_prepared.ts") = await import(
    "./check_prepared.ts" as string
  );
  return checkPrepared(prepared, { value, size });
}
