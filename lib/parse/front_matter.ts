import { ProblemsError } from "../core/problems_error.ts";
import { isRecord } from "../core/json.ts";
import type { SourceError } from "../core/source_error.ts";
import { parseYaml } from "./yaml.ts";

/** Something wrong with a file, without its name. */
export interface LineProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** A text that may begin with YAML between two `---` lines. */
export interface FrontMatter {
  /** The YAML; undefined when the text begins with something else. */
  readonly yaml: string | undefined;
  /** All that comes after the closing line, or the whole text. */
  readonly body: string;
  /** The line of the file that the body begins in. */
  readonly bodyLine: number;
}

const OPENING = /^---[ \t]*(?:\n|$)/;
const CLOSING = /^---[ \t]*$/m;
const NOT_CLOSED: LineProblem = { line: 1, message: `front matter is not closed with "---"` };

/** Takes a text apart. Line breaks are LF. */
export function splitFrontMatter(text: string): FrontMatter | { readonly problem: LineProblem } {
  const opening = OPENING.exec(text)?.[0];
  if (opening === undefined) return { yaml: undefined, body: text, bodyLine: 1 };
  const rest = text.slice(opening.length);
  const closing = CLOSING.exec(rest);
  if (closing === null) return { problem: NOT_CLOSED };
  const yaml = rest.slice(0, closing.index);
  return {
    yaml,
    body: rest.slice(closing.index + closing[0].length).replace(/^\n/, ""),
    bodyLine: yaml.split("\n").length + 2,
  };
}

/** What a front matter says. */
export interface FrontMatterFields {
  readonly fields: Readonly<Record<string, unknown>>;
  /** By key: the line of the file that it stands in. */
  readonly lines: Readonly<Record<string, number>>;
  /** The line of the key at a path. */
  lineOf(path: readonly string[]): number;
}

/** Reads the YAML of a front matter, which begins in line 2 of its file. */
export async function readFrontMatter(
  yaml: string | undefined,
): Promise<FrontMatterFields | { readonly problems: readonly LineProblem[] }> {
  if (yaml === undefined || yaml.trim() === "") return NO_FIELDS;
  try {
    const { value, at } = await parseYaml(`\n${yaml}`);
    if (value === null) return NO_FIELDS;
    if (!isRecord(value)) return { problems: [{ line: at([])?.line ?? 2, message: NOT_MAPPING }] };
    const lineOf = (path: readonly string[]) => at(path, "key")?.line ?? 1;
    const lines = Object.fromEntries(Object.keys(value).map((key) => [key, lineOf([key])]));
    return { fields: value, lines, lineOf };
  } catch (thrown) {
    if (thrown instanceof ProblemsError) return { problems: thrown.problems.map(lineProblem) };
    throw thrown;
  }
}

const NO_FIELDS: FrontMatterFields = { fields: {}, lines: {}, lineOf: () => 1 };
const NOT_MAPPING = "front matter must be a mapping of keys to values";

/** A problem of YAML in the form of these files: what to do is part of the message. */
export function lineProblem({ message, hint, span }: SourceError): LineProblem {
  return { line: span?.line ?? 1, message: hint === undefined ? message : `${message}. ${hint}` };
}
