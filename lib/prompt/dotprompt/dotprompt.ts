import { didYouMeanNames, frozenCopy, isRecord, type JsonSchema, messageOf } from "../../core/core.ts";
import { yamlFound } from "../../parse/yaml/check_fields.ts";
import {
  type FrontMatterFields,
  type LineProblem,
  type Place,
  readFrontMatter,
  splitFrontMatter,
} from "../../parse/yaml/front_matter.ts";
import { printableNumber } from "../../parse/yaml/tree.ts";
import { shown } from "../../schema/issue.ts";
import { checkJson } from "../check_prepared.ts";
import { issueLines, pathText, prepareAnyType } from "../check_value.ts";
import type { Renderer } from "../prompt.ts";
import { RenderError } from "../value_text.ts";
import { dotpromptFields } from "./fields.ts";
import type { HandlebarsBodies } from "./handlebars.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A `*.prompt` file, as plain data. */
export interface DotpromptFile {
  readonly name?: string;
  readonly namePlace?: Place;
  /** False when the name, if it has one, cannot be read. */
  readonly isNamed: boolean;
  /** Null stands for what is no name. */
  readonly tools: readonly (string | null)[];
  /** Also what has no other place: `dotprompt`, with the model and its settings. */
  readonly metadata: Fields;
  readonly format: JsonSchema | null;
  readonly input: DotpromptInput;
  readonly body: string;
  /** What is wrong with the file; with any, there is no prompt. */
  readonly problems: readonly LineProblem[];
}

/** What the arguments have to be. */
export interface DotpromptInput {
  readonly schema?: JsonSchema;
  /** Lies under the arguments. */
  readonly default?: Fields;
}

const NOTHING = { isNamed: false, tools: [], metadata: {}, format: null, input: {}, body: "" };

/** Reads a `*.prompt` file (prompts.md 12). Nothing throws: what is wrong is told with its place. */
export async function readDotpromptFile(text: string, bodies: HandlebarsBodies): Promise<DotpromptFile> {
  const split = splitFrontMatter(text);
  if ("problem" in split) return { ...NOTHING, problems: [split.problem] };
  const { yaml, body: raw, bodyLine } = split;
  const body = yaml === undefined ? raw : raw.trim(); // as the package `dotprompt` has it
  const ofBody = bodies.problems(body).map(placedIn(raw, { body, bodyLine }));
  const front = await readFrontMatter(yaml);
  const { fields, problems } = dotpromptFields(front);
  const input = await schemaIn(fields.input, { of: "input", front });
  const output = await schemaIn(fields.output, { of: "output", front });
  return {
    ...(fields.name !== undefined && { name: fields.name, namePlace: front.placeOf(["name"]) }),
    isNamed: front.problems.length === 0 &&
      Object.hasOwn(fields, "name") === Object.hasOwn(front.fields, "name"),
    tools: fields.tools ?? [],
    metadata: metadataOf(fields),
    format: formatOf(fields.output, output.schema),
    input: {
      schema: input.schema,
      ...(isRecord(fields.input?.default) && {
        default: input.schema === undefined ? printable(fields.input.default, front) : fields.input.default,
      }),
    },
    body,
    problems: [
      ...front.problems,
      ...problems,
      ...input.problems,
      ...defaultProblems(fields.input, { schema: input.schema, front }),
      ...output.problems,
      ...ofBody,
    ],
  };
}

/** Where no schema says what they are, numbers are there to be printed: as they are written. */
function printable(defaults: Fields, { written }: FrontMatterFields): Fields {
  return Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      typeof value === "number"
        ? printableNumber(value, written(["input", "default", name]) ?? String(value))
        : value,
    ]),
  );
}

/** A problem of the body, as one of the file: blanks in front of the body count there. */
function placedIn(
  raw: string,
  { body, bodyLine }: { readonly body: string; readonly bodyLine: number },
): (problem: LineProblem) => LineProblem {
  const before = raw.slice(0, raw.indexOf(body)).split("\n");
  const line = bodyLine + before.length - 2;
  const indent = before.at(-1)?.length ?? 0;
  return (problem) => ({
    line: problem.line + line,
    column: (problem.column ?? 1) + (problem.line === 1 ? indent : 0),
    message: problem.message,
  });
}

interface FoundSchema {
  readonly schema?: JsonSchema;
  readonly problems: readonly LineProblem[];
}

async function schemaIn(
  field: Fields | undefined,
  { of, front }: { readonly of: "input" | "output"; readonly front: FrontMatterFields },
): Promise<FoundSchema> {
  if (field?.schema === undefined) return { problems: [] };
  const read = await dotpromptSchema(field.schema, { of });
  if ("schema" in read) return { ...read, problems: [] };
  return {
    problems: read.problems.map(({ path, message }) => ({
      ...front.placeOf([of, "schema", ...path]),
      message: `${of}.schema${message}`,
    })),
  };
}

/** The defaults need not be all, but each has to fit: whoever asks the prompt could not mend one that does not. */
function defaultProblems(
  field: Fields | undefined,
  { schema, front }: { readonly schema: JsonSchema | undefined; readonly front: FrontMatterFields },
): readonly LineProblem[] {
  if (schema === undefined || !isRecord(field?.default)) return [];
  const { required: _all, ...open } = schema;
  const checked = checkJson(open, field.default);
  return "value" in checked ? [] : checked.issues.map(({ path, message }) => ({
    ...front.placeOf(["input", "default", ...path]),
    message: `input.default: ${pathText(path)}: ${message}`,
  }));
}

function formatOf(output: Fields | undefined, schema: JsonSchema | undefined): JsonSchema | null {
  if (output?.format === "text") return null;
  return schema ?? (output?.format === "json" ? {} : null);
}

function metadataOf(fields: Fields): Fields {
  const { metadata, description, model, effort, config, version, variant } = fields;
  const ext = nestedFields(fields);
  const own = { model, effort, config, version, variant, ...(Object.keys(ext).length > 0 && { ext }) };
  const dotprompt = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return {
    ...(isRecord(metadata) && metadata),
    ...(description !== undefined && { description }),
    ...(Object.keys(dotprompt).length > 0 && { dotprompt }),
  };
}

/** Keys with a dot: `a.b.c` is `c` in `a.b`. Names such as `__proto__` are names like any other, which the package makes a hole of. */
function nestedFields(fields: Fields): Fields {
  const spaces = new Map<string, Map<string, unknown>>();
  for (const [key, value] of Object.entries(fields)) {
    const dot = key.lastIndexOf(".");
    if (dot === -1) continue;
    const space = key.slice(0, dot);
    const inside = spaces.get(space) ?? new Map<string, unknown>();
    spaces.set(space, inside.set(key.slice(dot + 1), value));
  }
  return Object.fromEntries([...spaces].map(([space, inside]) => [space, Object.fromEntries(inside)]));
}

/** A mistake in a schema. */
interface SchemaProblem {
  /** The way into the schema. */
  readonly path: readonly string[];
  /** As the end of a sentence about the schema. */
  readonly message: string;
}

/** A schema as JSON Schema, or what is wrong with it: of a JSON Schema the first, of Picoschema each property. */
type DotpromptSchema = { readonly schema: JsonSchema } | {
  readonly problems: readonly SchemaProblem[];
};

/** Schemas that were read, by what is written: the files of a project have many in common. */
const read = new Map<string, DotpromptSchema>();
const MOST_KEPT = 1000;

/** What a schema says: what a prompt takes, which is always an object, or what its answer is. */
type SchemaOf = "input" | "output";

/** Reads the schema of a `*.prompt` file, which may be Picoschema. */
async function dotpromptSchema(
  written: unknown,
  { of }: { readonly of: SchemaOf },
): Promise<DotpromptSchema> {
  const text = JSON.stringify(written, numbersAsText);
  const key = `${of} ${text}`;
  const known = read.get(key);
  if (known !== undefined) return known;
  const result = await converted(JSON.parse(text), of); // the package writes into lists that it is given
  if (read.size >= MOST_KEPT) read.clear();
  read.set(key, result);
  return result;
}

/** Those that JSON has not. */
function numbersAsText(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

async function converted(written: unknown, of: SchemaOf): Promise<DotpromptSchema> {
  const { picoschema } = unwrapped(await import("dotprompt"));
  const whole = wholeProblem(written, of);
  if (whole !== undefined) return { problems: [whole] };
  const problems = isPico(written) ? await picoProblems(written, [], picoschema) : [];
  if (problems.length > 0) return { problems };
  try {
    const schema = plain(await picoschema(written));
    if (!isRecord(schema)) throw new Error(`found ${shown(schema)}, expected a schema`);
    const prepared = prepareAnyType(schema);
    if ("broken" in prepared) {
      return { problems: [{ path: prepared.at, message: `: ${BROKEN}${prepared.broken}` }] };
    }
    return of === "output" || takesObjects(schema)
      ? { schema: frozenCopy(schema) }
      : { problems: [noObject(schema)] };
  } catch (thrown) {
    return { problems: [{ path: [], message: `: ${wordsOf(thrown)}` }] };
  }
}

const BROKEN = "the schema is broken";

/** What is neither a mapping nor, for an answer, a type; undefined for the others. */
function wholeProblem(written: unknown, of: SchemaOf): SchemaProblem | undefined {
  const isType = of === "output" && typeof written === "string" && written !== "";
  if (isRecord(written) || isType) return undefined;
  const wanted = of === "output" ? "a type or a mapping of names to types" : "a mapping of names to types";
  return {
    path: [],
    message: ` must be ${wanted} (Picoschema), or a JSON Schema, found ${yamlFound(written)}`,
  };
}

function takesObjects({ type = "object" }: JsonSchema): boolean {
  return type === "object" || Array.isArray(type) && type.includes("object");
}

function noObject({ type }: JsonSchema): SchemaProblem {
  const found = `found a JSON Schema of the type ${JSON.stringify(type)}`;
  return { path: ["type"], message: ` must describe an object, since arguments have names, ${found}` };
}

type Package = typeof import("dotprompt");

/** It is CommonJS: in a bundle, such as the binary, it is a default export and nothing else. */
function unwrapped(module: Package & { readonly default?: Package }): Package {
  return module.default ?? module;
}

function wordsOf(thrown: unknown): string {
  const words = messageOf(thrown).replace(/^Picoschema: /, "");
  const type = /^unsupported scalar type '([^]*)'\.$/.exec(words)?.[1];
  return type === undefined ? words : typeProblem(type);
}

const SCALARS: readonly string[] = ["any", "boolean", "integer", "null", "number", "string"];

function typeProblem(type: string): string {
  const expected = `unknown type ${shown(type)}, expected any, boolean, integer, null, number or string`;
  return type === "object" || type === "array"
    ? `${expected}; write "name(${type})" for ${type === "array" ? "a list of a type" : "a mapping"}`
    : `${expected}${didYouMeanNames(type, SCALARS)}`;
}

/** What is undefined goes away; `any` is no type of a JSON Schema. */
function plain(schema: unknown): unknown {
  const json: unknown = JSON.parse(JSON.stringify(schema ?? {}));
  if (!isRecord(json) || json.type !== "any") return json;
  const { type: _any, ...rest } = json;
  return rest;
}

/** What the package takes for a JSON Schema as it is. */
const JSON_TYPES: readonly unknown[] = [
  "any",
  "boolean",
  "integer",
  "null",
  "number",
  "string",
  "object",
  "array",
];

function isPico(written: unknown): written is Readonly<Record<string, unknown>> {
  return isRecord(written) && !JSON_TYPES.includes(written.type) && typeof written.properties !== "object";
}

/** Each property that is wrong: the package does not say where the first is, and takes some that mean nothing. */
async function picoProblems(
  written: Readonly<Record<string, unknown>>,
  path: readonly string[],
  picoschema: Package["picoschema"],
): Promise<readonly SchemaProblem[]> {
  const problems: SchemaProblem[] = [];
  const names = new Map<string, string>();
  for (const [key, value] of Object.entries(written)) {
    const at = [...path, key];
    const name = key.replace(/\(.*/s, "").replace(/\?$/, "");
    const first = key === "(*)" ? undefined : names.get(name);
    names.set(name, key);
    const message = first !== undefined
      ? `: ${shown(first)} is that property already`
      : await propertyProblem(key, isRecord(value) ? {} : value, picoschema);
    if (message !== undefined) problems.push({ path: at, message: `: ${shown(at.join("."))}${message}` });
    if (isRecord(value)) problems.push(...await picoProblems(value, at, picoschema));
  }
  return problems;
}

/** As the end of a sentence that begins with the key. */
async function propertyProblem(
  key: string,
  value: unknown,
  picoschema: Package["picoschema"],
): Promise<string | undefined> {
  const isEnum = /\(enum[,)]/.test(key);
  if (/^__proto__\??(?:\(|$)/.test(key)) return ` cannot be the name of a property`;
  if (isEnum && !Array.isArray(value)) return " must be a list of values";
  if (!isEnum && typeof value !== "string" && !isRecord(value)) {
    return ` must be a type or a mapping, found ${yamlFound(value)}`;
  }
  if (key.includes("(") && !key.endsWith(")")) return `: what begins with "(" must end with ")"`;
  const paren = /\(([^,)]*)/.exec(key)?.[1]?.trim();
  if (paren !== undefined && !PARENTHESES.includes(paren)) {
    return `: unknown type "(${paren})", expected (object), (array) or (enum)`;
  }
  try {
    // Inside another property it is never taken for a JSON Schema.
    const prepared = prepareAnyType(
      Object(plain(await picoschema({ x: { [key]: structuredClone(value) } }))),
    );
    return "broken" in prepared
      ? `: ${BROKEN}${prepared.broken.replace('at "properties/x/', 'at "')}`
      : undefined;
  } catch (thrown) {
    return `: ${wordsOf(thrown)}`;
  }
}

const PARENTHESES: readonly string[] = ["object", "array", "enum", "*"];

/** Renders the body of a `*.prompt` file: the arguments over its defaults, checked by its schema (prompts.md 12). */
export function dotpromptRenderer(input: DotpromptInput, bodies: HandlebarsBodies): Renderer {
  const { schema, default: defaults = {} } = input;
  return {
    render(body, args) {
      const given = Object.entries(args).filter(([, value]) => value !== undefined);
      const values = { ...defaults, ...Object.fromEntries(given) };
      const checked = schema === undefined ? { value: values } : checkJson(schema, values);
      if ("issues" in checked) throw new RenderError(`bad arguments:\n${issueLines(checked.issues)}`);
      return bodies.render(body, isRecord(checked.value) ? checked.value : {});
    },
  };
}
