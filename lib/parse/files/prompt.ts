import { didYouMeanNames, isRecord, shortenedName } from "../../core/core.ts";
import { checkFields, type FieldRule, isText } from "../yaml/check_fields.ts";
import { type LineProblem, type Place, readFrontMatter, splitFrontMatter } from "../yaml/front_matter.ts";

/** A `*.prompt.md` file, as plain data: its front matter, and the text under it. */
export interface PromptFile {
  /** What of the front matter can be used. */
  readonly fields: PromptFileFields;
  /** The places of the keys that lead to other prompts. */
  readonly places: { readonly [key in "name" | "extends"]?: Place };
  /** False when the name, if it has one, cannot be read. */
  readonly isNamed: boolean;
  /** The template: without line breaks at its ends. */
  readonly body: string;
  /** The line of the file that the template begins in. */
  readonly bodyLine: number;
  /** What is wrong with the front matter; with any, there is no prompt. */
  readonly problems: readonly LineProblem[];
}

type Fields = Readonly<Record<string, unknown>>;

/** What the front matter of a prompt may say; the parts of a value are checked where the prompt is made. */
export interface PromptFileFields {
  readonly name?: string;
  readonly description?: string;
  /** The key of another prompt. */
  readonly extends?: string;
  readonly tags?: Fields | null;
  /** A JSON Schema, or `./file.ts#Export`. */
  readonly format?: Fields | string | null;
  /** Names, or `./file.ts#export`; null stands for what is neither. */
  readonly tools?: readonly (string | null)[];
  readonly mcp?: readonly unknown[];
  readonly addons?: Fields;
  readonly handler?: Fields;
  readonly metadata?: Fields;
}

/** Reads a `*.prompt.md` file (prompts.md 12). Nothing throws: what is wrong is told with its place. */
export async function readPromptFile(text: string): Promise<PromptFile> {
  const split = splitFrontMatter(text);
  const nothing = { fields: {}, places: {}, isNamed: false, body: "", bodyLine: 1 };
  if ("problem" in split) return { ...nothing, problems: [split.problem] };
  const leading = /^\n*/.exec(split.body)?.[0].length ?? 0;
  const body = {
    body: withoutLastLines(split.body.slice(leading)),
    bodyLine: split.bodyLine + leading,
  };
  const front = await readFrontMatter(split.yaml);
  const { fields, problems } = checkFields(front, { rules: RULES, unknown: unknownKey });
  const isWhole = front.problems.length === 0;
  return {
    fields, // every key has just been checked
    places: {
      ...(fields.name !== undefined && { name: front.placeOf(["name"]) }),
      ...(fields.extends !== undefined && { extends: front.placeOf(["extends"]) }),
    },
    isNamed: isWhole && Object.hasOwn(fields, "name") === Object.hasOwn(front.fields, "name"),
    ...body,
    problems: [...front.problems, ...problems],
  };
}

/** A pattern would try again at each line break inside the text. */
function withoutLastLines(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end--;
  return text.slice(0, end);
}

function unknownKey(key: string): string {
  const short = shortenedName(key, RULES.keys());
  const near = didYouMeanNames(key, RULES.keys()) ||
    (short === undefined ? "" : `. Did you mean "${short}"?`);
  const hint = near === "" && OF_DOTPROMPT.includes(key)
    ? ": files that end in .prompt have it, not .prompt.md"
    : near;
  return `unknown key ${JSON.stringify(key)}${hint}`;
}

const OF_DOTPROMPT: readonly string[] = ["model", "config", "input", "output", "version", "variant"];

const BY_KEY: { readonly [key in keyof PromptFileFields]-?: FieldRule } = {
  name: { isFine: isText, wanted: "text" },
  description: { isFine: (value) => typeof value === "string", wanted: "text" },
  extends: { isFine: isText, wanted: "the path of another prompt" },
  tags: {
    isFine: (value) => value === null || isRecord(value),
    wanted: "a mapping such as { requiredXmlTags: [answer] }",
  },
  format: {
    isFine: (value) => value === null || isRecord(value) || isReference(value),
    wanted: "a JSON Schema or ./file.ts#Export",
  },
  tools: { isFine: Array.isArray, isFinePart: isTool, wanted: "a list of names or ./file.ts#export" },
  mcp: { isFine: Array.isArray, wanted: "a list" },
  addons: { isFine: isRecord, wanted: "a mapping" },
  handler: { isFine: isRecord, isFinePart: isText, wanted: "a mapping of texts" },
  metadata: { isFine: isRecord, wanted: "a mapping" },
};

const RULES: ReadonlyMap<string, FieldRule> = new Map(Object.entries(BY_KEY));

/** A name; what begins as a path has to say what of the file is meant. */
function isTool(value: unknown): value is string {
  return isText(value) && (isReference(value) || !/^\.{1,2}\//.test(value));
}

/** `./file.ts#export`: something that a module exports. */
export function isReference(value: unknown): value is string {
  return typeof value === "string" && /^[^#]+#[^#]+$/.test(value);
}
