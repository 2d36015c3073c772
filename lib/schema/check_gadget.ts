import { foundValue, shown, shownJson } from "./issue.ts";
import { GADGET_NAME } from "../core/gadget.ts";
import type { AnyGadget, DefinedGadget } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import { didYouMean } from "../core/nearest.ts";
import { prepareSchema } from "./prepare_schema.ts";
import { isStandardSchema } from "./standard_schema.ts";

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

type Fields = { readonly [name: string]: unknown };

/** For each field: what is wrong with its value, or undefined. */
const FIELDS: { readonly [name in keyof AnyGadget]-?: (value: unknown) => string | undefined } = {
  name: (value) =>
    typeof value === "string" && GADGET_NAME.test(value)
      ? undefined
      : `found ${
        foundValue(value)
      }, expected up to 64 letters, digits, "_" and "-", the first a letter or "_"`,
  description: (value) => expected(typeof value === "string", value, "text"),
  input: (value) => schemaProblem(value, { isInput: true }),
  output: (value) => schemaProblem(value, { isInput: false }),
  permissions: permissionsProblem,
  examples: examplesProblem,
  timeoutMs: (value) =>
    expected(isCount(value, 2 ** 31 - 1), value, "whole milliseconds from 1 to 2147483647"),
  maxConcurrent: (value) =>
    expected(isCount(value, Number.MAX_SAFE_INTEGER), value, "a whole number, at least 1"),
  exclusive: flagProblem,
  untrusted: flagProblem,
  repeatable: flagProblem,
  idempotent: (value) =>
    expected(
      ["boolean", "function"].includes(typeof value),
      value,
      "true, false or a function (input) => boolean",
    ),
  run: (value) => expected(typeof value === "function", value, "a function (input, context) => result"),
  format: (value) => expected(typeof value === "function", value, "a function (result, call) => text"),
};

/** The fields that a gadget may be written with. */
export const GADGET_FIELDS: readonly string[] = Object.keys(FIELDS);

/** What `defineGadget` adds to a gadget. */
const DEFINED_FIELDS: ReadonlySet<string> = new Set(["kind", "linked", "link"]);

/** Whether `defineGadget` made it, this copy of Orrery's or another. */
export function isDefinedGadget(gadget: unknown): gadget is DefinedGadget {
  return isRecord(gadget) && gadget.kind === "gadget" && typeof gadget.link === "function";
}

/** Whether a gadget may have the field; one that is defined has more of them. */
export function isGadgetField(field: string, gadget: Fields): boolean {
  return GADGET_FIELDS.includes(field) || isDefinedGadget(gadget) && DEFINED_FIELDS.has(field);
}

/** What is wrong with the fields of a gadget, one text for each: `timeoutMs: found 0, expected …`. */
export function gadgetProblems(gadget: Fields): readonly string[] {
  const known = new Map(Object.entries(FIELDS));
  const unknown = Object.keys(gadget).filter((field) => !isGadgetField(field, gadget)).map((field) =>
    `unknown field ${JSON.stringify(field)}.${
      didYouMean(field, known.keys()) || ` Expected ${[...known.keys()].join(", ")}`
    }`
  );
  const wrong = [...known].flatMap(([field, problemOf]) => {
    if (gadget[field] === undefined) {
      return field === "name" ? ["name: missing, expected a name such as FetchPage"] : [];
    }
    const problem = problemOf(gadget[field]);
    return problem === undefined
      ? []
      : [problem.startsWith("/") ? `${field}${problem}` : `${field}: ${problem}`];
  });
  return [...unknown, ...wrong];
}

function expected(isFine: boolean, found: unknown, wanted: string): string | undefined {
  return isFine ? undefined : `found ${foundValue(found)}, expected ${wanted}`;
}

function flagProblem(value: unknown): string | undefined {
  return expected(typeof value === "boolean", value, "true or false");
}

function isCount(value: unknown, most: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most;
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

const PERMISSION_KINDS: readonly string[] = ["read", "write", "net", "run", "env", "sys"];

function permissionsProblem(value: unknown): string | undefined {
  if (!isRecord(value)) return expected(false, value, `an object such as { net: ["example.com:443"] }`);
  for (const [kind, wanted] of Object.entries(value)) {
    if (kind === "ffi") return "/ffi: cannot be asked for";
    if (!PERMISSION_KINDS.includes(kind)) {
      const near = didYouMean(kind, PERMISSION_KINDS);
      return `/${kind}: unknown permission, expected one of ${PERMISSION_KINDS.join(", ")}.${near}`;
    }
    const isList = Array.isArray(wanted) && wanted.every((item) => typeof item === "string" && item !== "");
    if (wanted !== undefined && wanted !== true && !isList) {
      return `/${kind}: found ${foundValue(wanted)}, expected true or a list of texts`;
    }
  }
  return undefined;
}

function examplesProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return expected(false, value, `a list such as [{ input: { … }, comment: "…" }]`);
  const examples: readonly unknown[] = value;
  const wrong = examples.findIndex((example) => !isExample(example));
  return wrong < 0
    ? undefined
    : `/${wrong}: found ${shownJson(examples[wrong])}, expected { input, comment? }, with input an object`;
}

function isExample(example: unknown): boolean {
  if (!isRecord(example) || !isRecord(example.input)) return false;
  return example.comment === undefined || typeof example.comment === "string";
}
