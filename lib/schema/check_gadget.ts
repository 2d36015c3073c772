import { type AnyGadget, GADGET_NAME, isStandardSchema } from "../core/gadget.ts";
import { expected, fieldProblems, type Fields } from "../core/gadget_fields.ts";
import { isRecord } from "../core/json.ts";
import { shown, shownJson } from "../core/shown.ts";
import { prepareSchema } from "./prepare_schema.ts";

/**
 * A gadget that came from a module nobody has checked.
 *
 * @param where what the message begins with: the module's file as the user named it.
 * @throws {TypeError} with one line for each thing that is wrong: the gadget, the field, what was found, what
 * was expected.
 */
export function checkGadget(value: unknown, where: string): AnyGadget {
  if (!isRecord(value)) {
    const found = value === undefined ? "nothing" : typeof value === "function" ? "a function" : shown(value);
    throw new TypeError(
      `${where}: found ${found}, expected a gadget: an object with name, description, input and run`,
    );
  }
  const problems = gadgetProblems(value);
  if (problems.length > 0) {
    const name = typeof value.name === "string" && GADGET_NAME.test(value.name)
      ? `gadget "${value.name}": `
      : "";
    throw new TypeError(problems.map((problem) => `${where}: ${name}${problem}`).join("\n"));
  }
  return value as unknown as AnyGadget; // every field has just been checked
}

/** What is allowed but seldom meant: without a description no model knows what a gadget is for. */
export function gadgetWarnings(gadget: AnyGadget): readonly string[] {
  const hasDescription = gadget.description !== undefined && gadget.description.trim() !== "";
  return hasDescription
    ? []
    : [`gadget "${gadget.name}" has no description: a model cannot tell what it is for`];
}

/** What is wrong with the fields of a gadget, one text for each: `timeoutMs: found 0, expected …`. */
export function gadgetProblems(gadget: Fields): readonly string[] {
  return fieldProblems(gadget, schemaProblem);
}

function schemaProblem(schema: unknown, { isInput }: { readonly isInput: boolean }): string | undefined {
  if (isStandardSchema(schema)) return undefined;
  if (!isRecord(schema)) return expected(false, schema, "a JSON Schema or a Standard Schema");
  const prepared = prepareSchema(schema);
  if ("broken" in prepared) {
    const { pointer, message } = prepared.broken;
    return pointer === "" ? message : `/${pointer}: ${message}`;
  }
  const types: readonly unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type ?? "object"];
  if (!isInput || types.includes("object")) return undefined;
  return `/type: found ${
    shownJson(schema.type)
  }, expected "object": the parameters of a call are always an object`;
}
