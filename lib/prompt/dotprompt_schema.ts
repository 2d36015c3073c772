import { frozenCopy } from "../core/frozen_copy.ts";
import type { JsonSchema } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { prepareAnyType } from "./prepare_any_type.ts";
import { type SchemaProblem, schemaProblems } from "./schema_problems.ts";

/** A schema as JSON Schema, or what is wrong with it. */
export type DotpromptSchema = { readonly schema: JsonSchema } | {
  readonly problems: readonly SchemaProblem[];
};

/** Schemas that were read, by what is written: the files of a project have many in common. */
const read = new Map<string, DotpromptSchema>();
const MOST_KEPT = 1000;

/** Reads the schema of a `*.prompt` file, which may be Picoschema. */
export async function dotpromptSchema(written: unknown): Promise<DotpromptSchema> {
  const text = JSON.stringify(written);
  const known = read.get(text);
  if (known !== undefined) return known;
  const result = await converted(JSON.parse(text)); // the package writes into lists that it is given
  if (read.size >= MOST_KEPT) read.clear();
  read.set(text, result);
  return result;
}

async function converted(written: unknown): Promise<DotpromptSchema> {
  const { picoschema } = unwrapped(await import("dotprompt"));
  const pico = isPico(written) ? await picoProblems(written, [], picoschema) : [];
  if (pico.length > 0) return { problems: pico };
  try {
    const schema = plain(await picoschema(written));
    if (!isRecord(schema)) throw new Error(`found ${JSON.stringify(schema)}, expected a schema`);
    if (!("broken" in prepareAnyType(schema))) return { schema: frozenCopy(schema) };
    return {
      problems: schemaProblems(schema).map(({ path, message }) => ({ path, message: BROKEN + message })),
    };
  } catch (thrown) {
    return { problems: [{ path: [], message: wordsOf(thrown) }] };
  }
}

const BROKEN = "the schema is broken";

type Package = typeof import("dotprompt");

/** It is CommonJS: in a bundle, such as the binary, it is a default export and nothing else. */
function unwrapped(module: Package & { readonly default?: Package }): Package {
  return module.default ?? module;
}

function wordsOf(thrown: unknown): string {
  return messageOf(thrown).replace(/^Picoschema: /, "");
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

/** Each property that is wrong: the package throws the first, and takes some that mean nothing. */
async function picoProblems(
  written: Readonly<Record<string, unknown>>,
  path: readonly string[],
  picoschema: Package["picoschema"],
): Promise<readonly SchemaProblem[]> {
  const problems: SchemaProblem[] = [];
  for (const [key, value] of Object.entries(written)) {
    const at = [...path, key];
    const message = await propertyProblem(key, isRecord(value) ? {} : value, picoschema);
    if (message !== undefined) problems.push({ path: at, message });
    if (isRecord(value)) problems.push(...await picoProblems(value, at, picoschema));
  }
  return problems;
}

async function propertyProblem(
  key: string,
  value: unknown,
  picoschema: Package["picoschema"],
): Promise<string | undefined> {
  const isEnum = /\(enum[,)]/.test(key);
  if (/^__proto__\??(?:\(|$)/.test(key)) return `a property cannot be called "__proto__"`;
  if (isEnum && !Array.isArray(value)) return `${JSON.stringify(key)} must be a list of values`;
  if (!isEnum && (value === null || Array.isArray(value))) {
    return `${JSON.stringify(key)} must be a type or a mapping, found ${
      value === null ? "nothing" : "a list"
    }`;
  }
  try {
    // Inside another property it is never taken for a JSON Schema.
    const prepared = prepareAnyType(
      Object(plain(await picoschema({ x: { [key]: structuredClone(value) } }))),
    );
    return "broken" in prepared
      ? `${BROKEN}${prepared.broken.replace('at "properties/x/', 'at "')}`
      : undefined;
  } catch (thrown) {
    return wordsOf(thrown);
  }
}
