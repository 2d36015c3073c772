import type { JsonSchema } from "../core/gadget.ts";
import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { isRecord } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import {
  type FrontMatterFields,
  type LineProblem,
  readFrontMatter,
  splitFrontMatter,
} from "../parse/front_matter.ts";
import type { HandlebarsBodies } from "./handlebars_body.ts";
import { prepareAnyType } from "./prepare_any_type.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A `*.prompt` file, as plain data. */
export interface DotpromptFile {
  readonly name?: string;
  readonly tools: readonly string[];
  /** Also what has no other place: `dotprompt`, with the model and its settings. */
  readonly metadata: Fields;
  readonly format: JsonSchema | null;
  readonly input: DotpromptInput;
  /** By key: the line of the file that it stands in. */
  readonly lines: Readonly<Record<string, number>>;
  readonly body: string;
  /** When there are any, nothing else counts. */
  readonly problems: readonly LineProblem[];
}

/** What the arguments have to be. */
export interface DotpromptInput {
  readonly schema?: JsonSchema;
  /** Lies under the arguments. */
  readonly default?: Fields;
}

/** Reads a `*.prompt` file (prompts.md 12). Nothing throws: what is wrong is told with its line. */
export async function readDotpromptFile(text: string, bodies: HandlebarsBodies): Promise<DotpromptFile> {
  const split = splitFrontMatter(text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"));
  if ("problem" in split) return broken([split.problem]);
  const front = await readFrontMatter(split.yaml);
  if ("problems" in front) return broken(front.problems);
  const wrongFields = fieldProblems(front);
  if (wrongFields.length > 0) return broken(wrongFields);
  const read = await readByPackage(front, split);
  if ("problems" in read) return read;
  const bodyLine = split.bodyLine + leadingLines(split.body, read.body);
  const problems = bodies.problems(read.body).map(({ line, message }) => ({
    line: line + bodyLine - 1,
    message,
  }));
  return problems.length > 0 ? broken(problems) : { ...read, lines: front.lines, problems };
}

function broken(problems: readonly LineProblem[]): DotpromptFile {
  return { tools: [], metadata: {}, format: null, input: {}, lines: {}, body: "", problems };
}

function leadingLines(raw: string, body: string): number {
  return raw.slice(0, raw.indexOf(body)).split("\n").length - 1;
}

/** By key, with `.` for a key inside another: whether a value will do, and what is expected instead. */
const KEYS: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>> = {
  name: [isText, "text"],
  description: [(value) => typeof value === "string", "text"],
  model: [isText, "text"],
  config: [isRecord, "a mapping"],
  version: [isScalar, "text"],
  variant: [isScalar, "text"],
  input: [isRecord, "a mapping with schema and default"],
  output: [isRecord, "a mapping with schema and format"],
  tools: [(value) => Array.isArray(value) && value.every(isText), "a list of names"],
  metadata: [isRecord, "a mapping"],
};

const INSIDE: Readonly<Record<string, readonly string[]>> = {
  input: ["schema", "default"],
  output: ["schema", "format"],
};

function fieldProblems({ fields, lineOf }: FrontMatterFields): readonly LineProblem[] {
  return Object.entries(fields).flatMap(([key, value]) => {
    const rule = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    const line = lineOf([key]);
    if (rule === undefined) {
      return key.includes(".") ? [] : [{ line, message: unsupported(key, Object.keys(KEYS)) }];
    }
    const [isFine, wanted] = rule;
    if (!isFine(value)) return [{ line, message: `${key} must be ${wanted}` }];
    const known = INSIDE[key];
    if (known === undefined || !isRecord(value)) return [];
    return Object.entries(value).flatMap(([inner, part]) => {
      const message = insideProblem(`${key}.${inner}`, part, known.map((each) => `${key}.${each}`));
      return message === undefined ? [] : [{ line: lineOf([key, inner]), message }];
    });
  });
}

function insideProblem(key: string, value: unknown, known: readonly string[]): string | undefined {
  if (!known.includes(key)) return unsupported(key, known);
  if (key === "output.format" && value !== "json" && value !== "text") {
    return `unsupported output.format ${JSON.stringify(value)}: use json or text`;
  }
  return key === "input.default" && !isRecord(value) ? "input.default must be a mapping" : undefined;
}

function unsupported(key: string, known: readonly string[]): string {
  return `unsupported key ${JSON.stringify(key)}${didYouMeanNames(key, known)}`;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isScalar(value: unknown): boolean {
  return isText(value) || typeof value === "number";
}

/**
 * The values as the package reads them: with schemas in full, and keys with a dot under `ext`. It gets them as JSON, which it cannot
 * misread, since it says nothing of a front matter that it cannot read.
 */
async function readByPackage(
  { fields, lineOf }: FrontMatterFields,
  { yaml, body }: { readonly yaml: string | undefined; readonly body: string },
): Promise<Omit<DotpromptFile, "lines" | "problems"> | DotpromptFile> {
  const { Dotprompt, picoschema } = unwrapped(await import("dotprompt"));
  const source = yaml === undefined ? body : `---\n${JSON.stringify(fields)}\n---\n${body}`;
  const { template, ext = {}, ...read } = new Dotprompt().parse(source);
  const schemas = { input: read.input?.schema, output: read.output?.schema };
  const problems: LineProblem[] = [];
  const schemaOf = async (of: "input" | "output"): Promise<JsonSchema | undefined> => {
    if (schemas[of] === undefined) return undefined;
    try {
      return usable(plain(await picoschema(schemas[of])));
    } catch (thrown) {
      const message = messageOf(thrown).replace(/^Picoschema: /, "");
      problems.push({ line: lineOf([of, "schema"]), message: `${of}.schema: ${message}` });
      return undefined;
    }
  };
  const [input, output] = [await schemaOf("input"), await schemaOf("output")];
  if (problems.length > 0) return broken(problems);
  const defaults = read.input?.default;
  return {
    ...(read.name !== undefined && { name: read.name }),
    tools: read.tools ?? [],
    metadata: metadataOf(fields, ext),
    format: read.output?.format === "text" ? null : output ?? (read.output?.format === "json" ? {} : null),
    input: { ...(input && { schema: input }), ...(defaults && { default: defaults }) },
    body: template,
  };
}

type Package = typeof import("dotprompt");

/** It is CommonJS: in a bundle, such as the binary, it is a default export and nothing else. */
function unwrapped(module: Package & { readonly default?: Package }): Package {
  return module.default ?? module;
}

/** What is undefined goes away; `any` is no type of a JSON Schema. */
function plain(schema: unknown): unknown {
  const json: unknown = JSON.parse(JSON.stringify(schema ?? {}));
  if (!isRecord(json) || json.type !== "any") return json;
  const { type: _any, ...rest } = json;
  return rest;
}

function usable(schema: unknown): JsonSchema {
  if (!isRecord(schema)) throw new Error(`found ${JSON.stringify(schema)}, expected a schema`);
  const prepared = prepareAnyType(schema);
  if ("broken" in prepared) throw new Error(`the schema is broken${prepared.broken}`);
  return schema;
}

function metadataOf(fields: Fields, ext: Fields): Fields {
  const { metadata, description, model, config, version, variant } = fields;
  const own = { model, config, version, variant, ...(Object.keys(ext).length > 0 && { ext }) };
  const dotprompt = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return {
    ...(isRecord(metadata) && metadata),
    ...(description !== undefined && { description }),
    ...(Object.keys(dotprompt).length > 0 && { dotprompt }),
  };
}
