// What a module exports, read once: a getter or a Proxy may give something else each time it is asked.

import { expected, fieldProblems, type Fields, GADGET_FIELDS } from "../../core/gadget_fields.ts";
import { foundValue, shown } from "../../core/shown.ts";
import { jsonText } from "./json.ts";
import {
  apply,
  bare,
  getProperty,
  isArray,
  isBlank,
  keysOf,
  OwnTypeError,
  quote,
  toText,
} from "./primordials.ts";
import { thrownError } from "./thrown.ts";

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
      ? `it has no default export, expected "export default { name: …, run(input) { … } }"; the name of a file that only helps others begins with _`
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

/** A schema of the gadget's, which only its own library understands (https://standardschema.dev): what it says of a value. */
export interface OwnSchema {
  /** The JSON Schema that the library offers, as JSON. Absent where it has types that no JSON Schema can say, such as dates. */
  readonly offered: string | undefined;
  /** The value as the library made it, or what is wrong with it, a line each. */
  readonly validate: (value: unknown) => Promise<{ readonly value: unknown } | { readonly issues: string }>;
}

/** The Standard Schema that a value is; undefined for every other one. */
export function ownSchema(schema: unknown, side: "input" | "output"): OwnSchema | undefined {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return undefined;
  if (!("~standard" in schema)) return undefined;
  const standard = schema["~standard"];
  if (typeof standard !== "object" || standard === null || !("validate" in standard)) return undefined;
  const { validate } = standard;
  if (!isFunction(validate)) return undefined;
  return {
    offered: offeredText(standard, side),
    validate: (value) => checked(() => apply(validate, standard, [value])),
  };
}

function offeredText(standard: object, side: "input" | "output"): string | undefined {
  try {
    const offered = "jsonSchema" in standard ? standard.jsonSchema : undefined;
    const make: unknown = typeof offered === "object" && offered !== null
      ? getProperty(offered, side)
      : undefined;
    return isFunction(make) ? jsonText(apply(make, offered, [{ target: "draft-2020-12" }])) : undefined;
  } catch {
    return undefined;
  }
}

async function checked(
  validate: () => unknown,
): Promise<{ readonly value: unknown } | { readonly issues: string }> {
  try {
    const result = await validate();
    if (typeof result !== "object" || result === null) throw new OwnTypeError("it gave no result");
    const issues = "issues" in result ? result.issues : undefined;
    if (issues !== undefined) return bare({ issues: issuesText(issues) });
    return bare({ value: "value" in result ? result.value : undefined });
  } catch (error) {
    return bare({ issues: `The gadget's schema is broken: it threw ${quote(thrownError(error).message)}` });
  }
}

/** One issue a line, each behind its pointer (calls.md 7). */
function issuesText(issues: unknown): string {
  if (!isArray(issues)) return "The gadget's schema says that the input is wrong";
  let text = "";
  for (let at = 0; at < issues.length; at++) {
    const issue: unknown = issues[at];
    if (typeof issue !== "object" || issue === null) continue;
    const message = "message" in issue ? toText(issue.message) : "is wrong";
    const pointer = "path" in issue ? pointerOf(issue.path) : "";
    text += `${text === "" ? "" : "\n"}${pointer === "" ? "" : `${pointer}: `}${message}`;
  }
  return text === "" ? "The gadget's schema says that the input is wrong" : text;
}

const { replaceAll } = String.prototype;

/** A JSON pointer without its leading `/` (RFC 6901). */
function pointerOf(path: unknown): string {
  if (!isArray(path)) return "";
  let text = "";
  for (let at = 0; at < path.length; at++) {
    const part: unknown = path[at];
    const key = toText(typeof part === "object" && part !== null && "key" in part ? part.key : part);
    const encoded = apply(replaceAll, apply(replaceAll, key, ["~", "~0"]), ["/", "~1"]);
    text += `${at === 0 ? "" : "/"}${encoded}`;
  }
  return text;
}
