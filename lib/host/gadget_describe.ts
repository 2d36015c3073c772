// What a module exports, read once: a getter or a Proxy may give something else each time it is asked.

import { expected, fieldProblems, type Fields, GADGET_FIELDS } from "../core/gadget_fields.ts";
import { foundValue, shown } from "../core/shown.ts";
import { jsonText } from "./gadget_json.ts";
import { bare, getProperty, isArray, isBlank, keysOf, quote } from "./gadget_primordials.ts";
import { type OwnSchema, ownSchema } from "./gadget_schema.ts";
import { thrownError } from "./gadget_thrown.ts";

/** The default export is no gadget; a line for each thing that is wrong, without the name of the file. */
export class GadgetProblem extends Error {
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
  /** JSON of its `GadgetDescription`. */
  readonly description: string;
}

/** Reads the default export of a module. @throws {GadgetProblem}, and what a getter of it throws */
export function describeGadget(exported: unknown): FoundGadget {
  const self = gadgetObject(exported);
  const fields = fieldsOf(self);
  const problems = fieldProblems(fields, schemaProblem);
  if (problems.length > 0) throw new GadgetProblem(problems.join("\n"));
  const { name, run, format, input, output } = fields;
  const schema = ownSchema(input, "input");
  const description = new Description();
  for (let at = 0; at < PLAIN_FIELDS.length; at++) {
    const field = PLAIN_FIELDS[at] ?? "";
    description.tell(field, fields[field]);
  }
  description.tellSchema("input", input, schema);
  description.tellSchema("output", output, ownSchema(output, "output"));
  description.tell("idempotent", typeof fields.idempotent === "function" ? false : fields.idempotent);
  description.tell("isLinked", isFunction(run));
  description.tell("hasFormat", isFunction(format));
  description.tell("isValidating", schema !== undefined);
  return {
    name: typeof name === "string" ? name : "",
    self,
    run: isFunction(run) ? run : undefined,
    format: isFunction(format) ? format : undefined,
    schema,
    description: description.text(warningsOf(fields)),
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
  if (typeof exported === "object" && exported !== null && !isArray(exported)) return exported;
  throw new GadgetProblem(
    exported === undefined
      ? `it has no default export, expected "export default { name: …, run(input) { … } }"`
      : `found ${
        typeof exported === "function" ? "a function" : shown(exported)
      }, expected a gadget: an object with name, description, input and run`,
  );
}

/** All fields as they are now: those of a gadget wherever they come from, others where they are its own. */
function fieldsOf(self: object): Fields {
  const fields: Record<string, unknown> = bare({});
  const own = keysOf(self);
  for (let at = 0; at < own.length; at++) fields[own[at] ?? ""] = getProperty(self, own[at] ?? "");
  for (let at = 0; at < GADGET_FIELDS.length; at++) {
    const field = GADGET_FIELDS[at] ?? "";
    if (!(field in fields)) fields[field] = getProperty(self, field);
    if (fields[field] === undefined) delete fields[field];
  }
  return fields;
}

/** What can be said of a schema without reading it; Orrery does that. */
function schemaProblem(schema: unknown): string | undefined {
  const isSchema = typeof schema === "object" && schema !== null && !isArray(schema);
  if (isSchema || ownSchema(schema, "input") !== undefined) return undefined;
  return expected(false, schema, "a JSON Schema or a Standard Schema");
}

function warningsOf({ name, description, idempotent }: Fields): string {
  let text = "";
  const warn = (warning: string): void => {
    text += `${text === "" ? "" : ","}${quote(warning)}`;
  };
  if (typeof description !== "string" || isBlank(description)) {
    warn(`gadget ${foundValue(name)} has no description: a model cannot tell what it is for`);
  }
  if (typeof idempotent === "function") {
    warn(
      "idempotent is a function, which cannot be asked outside of the gadget's process: it counts as false",
    );
  }
  return `[${text}]`;
}

/** The JSON of a description, field by field. */
class Description {
  #text = "";

  tell(field: string, value: unknown): void {
    if (value === undefined) return;
    try {
      this.#add(field, jsonText(value));
    } catch (error) {
      throw new GadgetProblem(`${field}: ${thrownError(error).message}`);
    }
  }

  tellSchema(field: string, value: unknown, schema: OwnSchema | undefined): void {
    if (schema === undefined) this.tell(field, value);
    else if (schema.offered !== undefined) this.#add(field, schema.offered);
  }

  text(warnings: string): string {
    return `{${this.#text},"warnings":${warnings}}`;
  }

  #add(field: string, json: string): void {
    this.#text += `${this.#text === "" ? "" : ","}"${field}":${json}`;
  }
}

function isFunction(value: unknown): value is GadgetFunction {
  return typeof value === "function";
}
