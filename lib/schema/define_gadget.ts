import {
  type AnyGadget,
  type DefinedGadget,
  didYouMeanNames,
  expected,
  fieldProblems,
  type Fields,
  frozenCopy,
  type Gadget,
  GADGET_FIELDS,
  GADGET_NAME,
  type GadgetCall,
  type GadgetContext,
  isGadgetField,
  isPlainObject,
  isRecord,
  isStandardSchema,
  jsonSchemaOf,
  PromptError,
  type Schema,
  shown,
  shownJson,
} from "../core/core.ts";
import type { InputOf } from "./input_type.ts";
import { prepareSchema } from "./prepare_schema.ts";

/** A gadget as it is written: the type of `run`'s input follows from `input`, the type of what `format` gets from `run`. */
export interface GadgetDefinition<
  S extends Schema,
  Input = InputOf<S>,
  Name extends string = string,
  Result = unknown,
> extends Omit<Gadget<Input>, "name" | "input" | "run" | "format"> {
  readonly name: Name;
  /** A JSON Schema, or a Standard Schema such as Zod's, of an object. Without one the gadget takes no arguments. */
  readonly input?: S;
  /**
   * Gives any JSON value, or text as it comes (an async iterable). Without `run` the gadget is declared only, and linked later.
   */
  run?(input: Input, context: GadgetContext): Result | Promise<Result>;
  /** The text a model reads instead of the result. */
  format?(result: Result extends AsyncIterable<unknown> ? string : Result, call: GadgetCall): string;
}

/** What a gadget takes that says nothing of it. */
const NO_ARGUMENTS = frozenCopy({ type: "object", properties: {}, additionalProperties: false });

/**
 * Defines a gadget, with types (gadgets.md 1): `run` gets its input as the schema says, a JSON Schema literal
 * included. What is given is checked; the gadget is a frozen copy.
 *
 * ```ts
 * import { defineGadget } from "orrery";
 *
 * const repeat = defineGadget({
 *   name: "Repeat",
 *   description: "Repeats a text.",
 *   input: {
 *     type: "object",
 *     properties: { text: { type: "string" }, times: { type: "integer", default: 2 } },
 *     required: ["text"],
 *   },
 *   run: ({ text, times }) => text.repeat(times),
 * });
 * console.log(repeat.name, repeat.linked, Object.isFrozen(repeat)); // => Repeat true true
 *
 * const note = defineGadget({ name: "SaveNote", description: "Keeps a note." }); // declared: a model may see it
 * console.log(note.linked, note.link(() => "kept").linked); // => false true
 * ```
 *
 * @throws {PromptError} `define`, when a field is wrong or unknown: the message names the gadget and the field, and says
 * what was found and what was expected.
 */
export function defineGadget<
  const Name extends string,
  const S extends Schema = Readonly<Record<never, unknown>>,
  Result = unknown,
>(gadget: GadgetDefinition<S, InputOf<S>, Name, Result>): DefinedGadget<Name, InputOf<S>> {
  const defined: unknown = definedGadget(gadget);
  return defined as DefinedGadget<Name, InputOf<S>>; // every field has just been checked
}

/**
 * A gadget of which no more is known, defined: frozen, and with what is left out filled in.
 *
 * @throws {PromptError} `define`
 */
export function definedGadget(definition: unknown): DefinedGadget {
  const problem = definitionProblem(definition);
  if (problem !== undefined) throw new PromptError(problem, { code: "define" });
  const { input = NO_ARGUMENTS, output, ...fields } = fieldsOf(definition);
  const gadget: unknown = Object.freeze({
    description: "",
    permissions: Object.freeze({}),
    ...frozenCopy(fields),
    input: frozenSchema(input),
    ...(output !== undefined && { output: frozenSchema(output) }),
    kind: "gadget",
    linked: fields.run !== undefined,
    link: (run: unknown) => linkedGadget(gadget, run),
  });
  return gadget as DefinedGadget; // its fields are those of the definition, which has been checked, and the ones above
}

/** What of a definition is there; the methods of a class stay those of its instance. */
function fieldsOf(definition: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(definition)) return {};
  const isPlain = isPlainObject(definition);
  const fields: Record<string, unknown> = {};
  for (const field of GADGET_FIELDS) {
    const value = definition[field];
    if (value === undefined) continue;
    fields[field] = typeof value === "function" && !isPlain ? value.bind(definition) : value;
  }
  return fields;
}

/** A Standard Schema is kept as it is: it may be told by what it is, and it may be a function. */
function frozenSchema(schema: unknown): unknown {
  return isStandardSchema(schema) ? schema : frozenCopy(schema);
}

function linkedGadget(gadget: unknown, run: unknown): DefinedGadget {
  const fields = fieldsOf(gadget);
  if (typeof run === "function") return definedGadget({ ...fields, run });
  throw new PromptError(`gadget ${JSON.stringify(fields.name)}: cannot link ${shown(run)}: not a function`, {
    code: "define",
  });
}

function definitionProblem(definition: unknown): string | undefined {
  if (!isRecord(definition)) {
    return `defineGadget takes an object with name, description, input and run, found ${shown(definition)}`;
  }
  const { name } = definition;
  if (typeof name !== "string" || !GADGET_NAME.test(name)) return nameProblem(name);
  const unknown = Object.keys(definition).find((field) => !isGadgetField(field, definition));
  const problems = unknown !== undefined
    ? [`unknown key ${JSON.stringify(unknown)}${didYouMeanNames(unknown, GADGET_FIELDS)}`]
    : isObjectInput(definition.input)
    ? gadgetProblems(definition)
    : ["input must describe an object"];
  if (problems.length === 0) return undefined;
  return problems.map((problem) => `gadget "${name}": ${problem}`).join("\n");
}

function nameProblem(name: unknown): string {
  if (typeof name !== "string") return `gadget name must be text such as FetchPage, found ${shown(name)}`;
  const form = /^\d|^-/.test(name) ? "[A-Za-z_][A-Za-z0-9_-]{0,63}" : "[A-Za-z0-9_-]{1,64}";
  return `gadget name ${JSON.stringify(name)} must match ${form}`;
}

/** False only for a schema that says it is of something else; what is no schema at all is told with the other problems. */
function isObjectInput(input: unknown): boolean {
  if (!isStandardSchema(input) && !isRecord(input)) return true;
  const { type = "object" } = jsonSchemaOf(input) ?? {};
  return Array.isArray(type) ? type.includes("object") : type === "object" || typeof type !== "string";
}

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
function gadgetProblems(gadget: Fields): readonly string[] {
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
