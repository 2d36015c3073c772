import type { Schema } from "../core/gadget.ts";
import type { Checked, Issue } from "./issue.ts";
import { plainInput } from "./plain_input.ts";

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
