import { didYouMeanNames, type Effort, EFFORT_RULE, effortFrom, isRecord } from "../../core/core.ts";
import { checkFields, type FieldRule, isText, yamlFound } from "../../parse/yaml/check_fields.ts";
import type { FrontMatterFields, LineProblem } from "../../parse/yaml/front_matter.ts";
import type { AnyPrompt } from "../prompt.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What of the front matter of a `*.prompt` file can be used; keys with a dot are among it. */
export interface DotpromptFields extends Fields {
  readonly name?: string;
  /** Null stands for what is no name. */
  readonly tools?: readonly (string | null)[];
  readonly input?: Fields;
  readonly output?: Fields;
}

const RULES: ReadonlyMap<string, FieldRule> = new Map<string, FieldRule>([
  ["name", { isFine: isText, wanted: "text" }],
  ["description", { isFine: (value) => typeof value === "string", wanted: "text" }],
  ["model", { isFine: isText, wanted: "text" }],
  ["effort", EFFORT_RULE],
  ["config", { isFine: isRecord, wanted: "a mapping" }],
  ["version", { isFine: isScalar, wanted: "text" }],
  ["variant", { isFine: isScalar, wanted: "text" }],
  ["input", { isFine: isRecord, wanted: "a mapping with schema and default" }],
  ["output", { isFine: isRecord, wanted: "a mapping with schema and format" }],
  ["tools", { isFine: Array.isArray, isFinePart: isText, wanted: "a list of names" }],
  ["metadata", { isFine: isRecord, wanted: "a mapping" }],
]);

const INSIDE: Readonly<Record<"input" | "output", readonly string[]>> = {
  input: ["schema", "default"],
  output: ["schema", "format"],
};

/** Checks the front matter of a `*.prompt` file (prompts.md 12), but for its schemas. */
export function dotpromptFields(
  front: FrontMatterFields,
): { readonly fields: DotpromptFields; readonly problems: readonly LineProblem[] } {
  const { fields, problems } = checkFields(front, {
    rules: RULES,
    unknown: (key) => key.includes(".") ? undefined : unsupported(key, RULES.keys()),
  });
  const dotted = Object.entries(front.fields).filter(([key]) => key.includes("."));
  return {
    fields: { ...fields, ...Object.fromEntries(dotted) }, // every key has just been checked
    problems: [
      ...problems,
      ...insideProblems("input", fields, front),
      ...insideProblems("output", fields, front),
    ],
  };
}

function insideProblems(
  of: "input" | "output",
  fields: Fields,
  { placeOf }: FrontMatterFields,
): readonly LineProblem[] {
  const field = fields[of];
  if (!isRecord(field)) return [];
  const known = INSIDE[of].map((key) => `${of}.${key}`);
  return Object.entries(field).flatMap(([key, value]) => {
    const message = insideProblem(`${of}.${key}`, value, known);
    return message === undefined ? [] : [{ ...placeOf([of, key]), message }];
  });
}

function insideProblem(key: string, value: unknown, known: readonly string[]): string | undefined {
  if (!known.includes(key)) return unsupported(key, known);
  if (key === "output.format" && value !== "json" && value !== "text") {
    return `unsupported output.format ${JSON.stringify(value)}: use json or text`;
  }
  return key === "input.default" && !isRecord(value)
    ? `input.default must be a mapping, found ${yamlFound(value)}`
    : undefined;
}

function unsupported(key: string, known: Iterable<string>): string {
  return `unsupported key ${JSON.stringify(key)}${didYouMeanNames(key, known)}`;
}

function isScalar(value: unknown): boolean {
  return isText(value) || typeof value === "number";
}

/** What a `*.prompt` file says of its model (prompts.md 12). */
interface DotpromptSettings {
  readonly model?: string;
  readonly effort?: Effort;
  /** Temperature and the like, in the names of dotprompt. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** With which model a prompt is asked where no agent says it; a prompt of another kind of file says nothing. */
export function dotpromptSettings({ metadata }: Pick<AnyPrompt, "metadata">): DotpromptSettings {
  const { model, effort, config } = isRecord(metadata.dotprompt) ? metadata.dotprompt : {};
  return {
    ...(typeof model === "string" && { model }),
    effort: effortFrom(effort),
    config: isRecord(config) ? config : {},
  };
}
