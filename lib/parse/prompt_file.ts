import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { isRecord } from "../core/json.ts";
import {
  type FrontMatterFields,
  type LineProblem,
  readFrontMatter,
  splitFrontMatter,
} from "./front_matter.ts";

export type { LineProblem };

/** A `*.prompt.md` file, as plain data: its front matter, and the text under it. */
export interface PromptFile {
  readonly fields: PromptFileFields;
  /** By key: the line of the file that it stands in. */
  readonly lines: Readonly<Record<string, number>>;
  /** The template: without line breaks at its ends. */
  readonly body: string;
  /** The line of the file that the template begins in. */
  readonly bodyLine: number;
  /** When there are any, nothing else counts. */
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
  /** Names, or `./file.ts#export`. */
  readonly tools?: readonly string[];
  readonly mcp?: readonly unknown[];
  readonly addons?: Fields;
  readonly handler?: Fields;
  readonly metadata?: Fields;
}

/** Reads a `*.prompt.md` file (prompts.md 12). Nothing throws: what is wrong is told with its line. */
export async function readPromptFile(text: string): Promise<PromptFile> {
  const split = splitFrontMatter(text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"));
  if ("problem" in split) return broken([split.problem]);
  const front = await readFrontMatter(split.yaml);
  if ("problems" in front) return broken(front.problems);
  const problems = fieldProblems(front);
  if (problems.length > 0) return broken(problems);
  const leading = /^\n*/.exec(split.body)?.[0].length ?? 0;
  return {
    fields: front.fields, // every key has just been checked
    lines: front.lines,
    body: split.body.slice(leading).replace(/\n+$/, ""),
    bodyLine: split.bodyLine + leading,
    problems,
  };
}

function broken(problems: readonly LineProblem[]): PromptFile {
  return { fields: {}, lines: {}, body: "", bodyLine: 1, problems };
}

/** By key: whether a value will do, and what is expected instead. */
const KEYS: { readonly [key in keyof PromptFileFields]-?: readonly [(value: unknown) => boolean, string] } = {
  name: [isText, "text"],
  description: [(value) => typeof value === "string", "text"],
  extends: [isText, "the path of another prompt"],
  tags: [(value) => value === null || isRecord(value), "a mapping such as { requiredXmlTags: [answer] }"],
  format: [
    (value) => value === null || isRecord(value) || isReference(value),
    "a JSON Schema or ./file.ts#Export",
  ],
  tools: [(value) => Array.isArray(value) && value.every(isText), "a list of names or ./file.ts#export"],
  mcp: [Array.isArray, "a list"],
  addons: [isRecord, "a mapping"],
  handler: [(value) => isRecord(value) && Object.values(value).every(isText), "a mapping of texts"],
  metadata: [isRecord, "a mapping"],
};

function fieldProblems({ fields, lines }: FrontMatterFields): readonly LineProblem[] {
  const known = new Map(Object.entries(KEYS));
  return Object.entries(fields).flatMap(([key, value]) => {
    const rule = known.get(key);
    const line = lines[key] ?? 1;
    if (rule === undefined) {
      return [{ line, message: `unknown key ${JSON.stringify(key)}${didYouMeanNames(key, known.keys())}` }];
    }
    const [isFine, wanted] = rule;
    return isFine(value) ? [] : [{ line, message: `${key} must be ${wanted}` }];
  });
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** `./file.ts#export`: something that a module exports. */
export function isReference(value: unknown): value is string {
  return typeof value === "string" && /^[^#]+#[^#]+$/.test(value);
}
