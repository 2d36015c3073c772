// What a module exports, read once: a getter or a Proxy may give something else each time it is asked.

import { expected, fieldProblems, type Fields, GADGET_FIELDS } from "../../core/gadget_fields.ts";
import type { GadgetDescription } from "../../core/gadget_message.ts";
import { type Json, toJson } from "../../core/json.ts";
import { foundValue, shown } from "../../core/shown.ts";
import { thrownError } from "./thrown.ts";

/** The default export is no gadget; a line for each thing that is wrong, without the name of the file. */
class GadgetProblem extends Error {
  override readonly name = "GadgetProblem";
}

/** A function of the gadget's own. */
export type GadgetFunction = (...input: readonly unknown[]) => unknown;

/** A gadget as it was found. */
export interface FoundGadget {
  readonly name: string;
  /** What `run` and `format` are called on. */
  readonly self: object;
  readonly run: GadgetFunction | undefined;
  readonly format: GadgetFunction | undefined;
  /** Its own check of the input. */
  readonly schema: OwnSchema | undefined;
  /** What Orrery is told. */
  readonly description: GadgetDescription;
}

/** Reads the default export of a module. @throws {GadgetProblem}, and what a getter of it throws */
export function describeGadget(exported: unknown): FoundGadget {
  const self = gadgetObject(exported);
  const fields = fieldsOf(self);
  const problems = fieldProblems(fields, schemaProblem);
  if (problems.length > 0) throw new GadgetProblem(problems.join("\n"));
  const { name, run, format, input, output } = fields;
  const schema = ownSchema(input, "input");
  const told: Record<string, Json> = {};
  const tell = (field: string, value: unknown): void => {
    try {
      if (value !== undefined) told[field] = toJson(value);
    } catch (error) {
      throw new GadgetProblem(`${field}: ${thrownError(error).message}`);
    }
  };
  for (const field of PLAIN_FIELDS) tell(field, fields[field]);
  tell("input", schema === undefined ? input : schema.offered);
  const outputSchema = ownSchema(output, "output");
  tell("output", outputSchema === undefined ? output : outputSchema.offered);
  tell("idempotent", typeof fields.idempotent === "function" ? false : fields.idempotent);
  const description: unknown = {
    ...told,
    isLinked: isFunction(run),
    hasFormat: isFunction(format),
    isValidating: schema !== undefined,
    warnings: warningsOf(fields),
  };
  return {
    name: typeof name === "string" ? name : "",
    self,
    run: isFunction(run) ? run : undefined,
    format: isFunction(format) ? format : undefined,
    schema,
    description: description as GadgetDescription, // its fields have just been checked; Orrery checks them again
  };
}

/** The fields that are told as they are. */
const PLAIN_FIELDS = [
  "name",
  "description",
  "permissions",
  "examples",
  "timeoutMs",
  "maxConcurrent",
  "exclusive",
  "untrusted",
  "repeatable",
];

function gadgetObject(exported: unknown): object {
  if (typeof exported === "object" && exported !== null && !Array.isArray(exported)) return exported;
  throw new GadgetProblem(
    exported === undefined
      ? `it has no default export, expected "export default { name: …, run(input) { … } }"; the name of a file that only helps others begins with _`
      : `found ${
        typeof exported === "function" ? "a function" : shown(exported)
      }, expected a gadget: an object with name, description, input and run`,
  );
}

/** All fields as they are now: those of a gadget wherever they come from, others where they are its own. */
function fieldsOf(self: object): Fields {
  const names = new Set([...Object.keys(self), ...GADGET_FIELDS]);
  const read = [...names].map((name) => [name, Reflect.get(self, name)] as const);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

/** What can be said of a schema without reading it; Orrery does that. */
function schemaProblem(schema: unknown): string | undefined {
  const isSchema = typeof schema === "object" && schema !== null && !Array.isArray(schema);
  if (isSchema || ownSchema(schema, "input") !== undefined) return undefined;
  return expected(false, schema, "a JSON Schema or a Standard Schema");
}

function warningsOf({ name, description, idempotent }: Fields): readonly string[] {
  const isDescribed = typeof description === "string" && description.trim() !== "";
  return [
    ...isDescribed
      ? []
      : [`gadget ${foundValue(name)} has no description: a model cannot tell what it is for`],
    ...typeof idempotent === "function"
      ? [
        "idempotent is a function, which cannot be asked outside of the gadget's process: it counts as false",
      ]
      : [],
  ];
}

function isFunction(value: unknown): value is GadgetFunction {
  return typeof value === "function";
}

/** A schema of the gadget's, which only its own library understands (https://standardschema.dev): what it says of a value. */
export interface OwnSchema {
  /** The JSON Schema that the library offers. Absent where it has types that no JSON Schema can say, such as dates. */
  readonly offered: Json | undefined;
  /** The value as the library made it, or what is wrong with it, a line each. */
  readonly validate: (value: unknown) => Promise<{ readonly value: unknown } | { readonly issues: string }>;
}

/** The Standard Schema that a value is; undefined for every other one. */
function ownSchema(schema: unknown, side: "input" | "output"): OwnSchema | undefined {
  const standard = inside(schema, "~standard");
  const validate = inside(standard, "validate");
  if (!isFunction(validate)) return undefined;
  return {
    offered: offeredSchema(inside(standard, "jsonSchema"), side),
    validate: (value) => checked(() => validate.call(standard, value)),
  };
}

function offeredSchema(offered: unknown, side: "input" | "output"): Json | undefined {
  try {
    const make = inside(offered, side);
    return isFunction(make) ? toJson(make.call(offered, { target: "draft-2020-12" })) : undefined;
  } catch {
    return undefined;
  }
}

async function checked(
  validate: () => unknown,
): Promise<{ readonly value: unknown } | { readonly issues: string }> {
  try {
    const result = await validate();
    if (typeof result !== "object" || result === null) throw new TypeError("it gave no result");
    const issues = inside(result, "issues");
    return issues === undefined ? { value: inside(result, "value") } : { issues: issuesText(issues) };
  } catch (error) {
    const said = JSON.stringify(thrownError(error).message);
    return { issues: `The gadget's schema is broken: it threw ${said}` };
  }
}

/** One issue a line, each behind its pointer (calls.md 7). */
function issuesText(issues: unknown): string {
  const lines = (Array.isArray(issues) ? issues : []).flatMap((issue: unknown) => {
    if (typeof issue !== "object" || issue === null) return [];
    const pointer = pointerOf(inside(issue, "path"));
    const message = "message" in issue ? String(issue.message) : "is wrong";
    return [pointer === "" ? message : `${pointer}: ${message}`];
  });
  return lines.length === 0 ? "The gadget's schema says that the input is wrong" : lines.join("\n");
}

/** A JSON pointer without its leading `/` (RFC 6901). */
function pointerOf(path: unknown): string {
  const parts: readonly unknown[] = Array.isArray(path) ? path : [];
  return parts.map((part) => {
    const key = typeof part === "object" && part !== null && "key" in part ? part.key : part;
    return String(key).replaceAll("~", "~0").replaceAll("/", "~1");
  }).join("/");
}

function inside(value: unknown, name: string): unknown {
  const isObject = typeof value === "object" || typeof value === "function";
  return isObject && value !== null ? Reflect.get(value, name) : undefined;
}
