// What is wrong with a gadget, field by field, wherever it was found: in a module of this process, or in the process of its own.

import { didYouMean } from "./nearest.ts";
import { type AnyGadget, type DefinedGadget, GADGET_NAME } from "./gadget.ts";
import { isRecord } from "./json.ts";
import { foundValue, shownJson } from "./shown.ts";

/** An object of which nothing is known. */
export type Fields = { readonly [name: string]: unknown };

/** For each field: what is wrong with its value, or undefined. */
const FIELDS: { readonly [name in keyof AnyGadget]-?: (value: unknown) => string | undefined } = {
  name: (value) =>
    typeof value === "string" && GADGET_NAME.test(value)
      ? undefined
      : `found ${
        foundValue(value)
      }, expected up to 64 letters, digits, "_" and "-", the first a letter or "_"`,
  description: (value) => expected(typeof value === "string", value, "text"),
  input: () => undefined, // for a SchemaCheck
  output: () => undefined,
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

/** What is wrong with a schema, or undefined. */
export type SchemaCheck = (schema: unknown, options: { readonly isInput: boolean }) => string | undefined;

/** What is wrong with the fields of a gadget, one text for each: `timeoutMs: found 0, expected …`. */
export function fieldProblems(gadget: Fields, schemaProblem: SchemaCheck): readonly string[] {
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
    const isInput = field === "input";
    const problem = isInput || field === "output"
      ? schemaProblem(gadget[field], { isInput })
      : problemOf(gadget[field]);
    return problem === undefined
      ? []
      : [problem.startsWith("/") ? `${field}${problem}` : `${field}: ${problem}`];
  });
  return [...unknown, ...wrong];
}

/** `found 5, expected text`, unless it is fine. */
export function expected(isFine: boolean, found: unknown, wanted: string): string | undefined {
  return isFine ? undefined : `found ${foundValue(found)}, expected ${wanted}`;
}

function flagProblem(value: unknown): string | undefined {
  return expected(typeof value === "boolean", value, "true or false");
}

function isCount(value: unknown, most: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most;
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
