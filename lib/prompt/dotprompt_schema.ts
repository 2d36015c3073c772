import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { frozenCopy } from "../core/frozen_copy.ts";
import type { JsonSchema } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { shown } from "../schema/issue.ts";
import { yamlFound } from "../parse/check_fields.ts";
import { prepareAnyType } from "./prepare_any_type.ts";

/** A mistake in a schema. */
interface SchemaProblem {
  /** The way into the schema. */
  readonly path: readonly string[];
  /** As the end of a sentence about the schema. */
  readonly message: string;
}

/** A schema as JSON Schema, or what is wrong with it: of a JSON Schema the first, of Picoschema each property. */
export type DotpromptSchema = { readonly schema: JsonSchema } | {
  readonly problems: readonly SchemaProblem[];
};

/** Schemas that were read, by what is written: the files of a project have many in common. */
const read = new Map<string, DotpromptSchema>();
const MOST_KEPT = 1000;

/** What a schema says: what a prompt takes, which is always an object, or what its answer is. */
export type SchemaOf = "input" | "output";

/** Reads the schema of a `*.prompt` file, which may be Picoschema. */
export async function dotpromptSchema(
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
