import type { JsonSchema } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import {
  type FrontMatterFields,
  type LineProblem,
  type Place,
  readFrontMatter,
  splitFrontMatter,
} from "../parse/front_matter.ts";
import { printableNumber } from "../parse/yaml_tree.ts";
import { measure } from "../schema/text_value.ts";
import { checkPrepared } from "./check_prepared.ts";
import { dotpromptFields } from "./dotprompt_fields.ts";
import { dotpromptSchema } from "./dotprompt_schema.ts";
import type { HandlebarsBodies } from "./handlebars_body.ts";
import { pathText } from "./issue_lines.ts";
import { prepareAnyType } from "./prepare_any_type.ts";

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
  const prepared = prepareAnyType(open);
  const { size, problem } = measure(field.default);
  if ("broken" in prepared || problem !== undefined) return [];
  const checked = checkPrepared(prepared, { value: field.default, size });
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
  const { metadata, description, model, config, version, variant } = fields;
  const ext = nestedFields(fields);
  const own = { model, config, version, variant, ...(Object.keys(ext).length > 0 && { ext }) };
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
