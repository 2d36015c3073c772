import { withoutByteOrderMark } from "../../core/file_text.ts";
import { isRecord } from "../../core/json.ts";
import type { SourceError } from "../../core/source_error.ts";
import { nearFrontMatter, NOT_CLOSED } from "../document_front.ts";
import { readableYaml } from "./yaml.ts";

/** A place in a file; line and column count from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Something wrong with a file, without its name. */
export interface LineProblem {
  /** From 1. */
  readonly line: number;
  /** From 1; absent where only the line is known. */
  readonly column?: number;
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

/** Where a file begins: the place of what has no place of its own. */
export const FILE_START: Place = { line: 1, column: 1 };

const OPENING = /^---[ \t]*(?:\n|$)/;
const CLOSING = /^---[ \t]*$/m;

/** Takes a text apart, as it is in its file: a byte order mark is dropped, and line breaks become LF. */
export function splitFrontMatter(written: string): FrontMatter | { readonly problem: LineProblem } {
  const text = withoutByteOrderMark(written).replaceAll("\r\n", "\n");
  const opening = OPENING.exec(text)?.[0];
  if (opening === undefined) {
    const problem = nearFrontMatter(text);
    return problem === undefined ? { yaml: undefined, body: text, bodyLine: 1 } : { problem };
  }
  const rest = text.slice(opening.length);
  const closing = CLOSING.exec(rest);
  if (closing === null) return { problem: { ...FILE_START, message: NOT_CLOSED } };
  const yaml = rest.slice(0, closing.index);
  return {
    yaml,
    body: rest.slice(closing.index + closing[0].length).replace(/^\n/, ""),
    bodyLine: yaml.split("\n").length + 2,
  };
}

/** The way to a part of a front matter: keys, and indexes of lists. */
export type FieldPath = readonly (string | number)[];

/** What a front matter says. */
export interface FrontMatterFields {
  readonly fields: Readonly<Record<string, unknown>>;
  /** The place of the key at a path; where the file begins, when nothing is there. */
  placeOf(path: FieldPath): Place;
  /** A scalar as it is written; undefined for other values. */
  written(path: FieldPath): string | undefined;
}

/** What can be read of a front matter, and what is wrong with its YAML. */
export interface ReadFrontMatter extends FrontMatterFields {
  /** With any, the fields are those that have none. */
  readonly problems: readonly LineProblem[];
}

/** Reads the YAML of a front matter, which begins in line 2 of its file. */
export async function readFrontMatter(yaml: string | undefined): Promise<ReadFrontMatter> {
  if (yaml === undefined || yaml.trim() === "") return NO_FIELDS;
  const { value, at, written, problems: found } = await readableYaml(`\n${yaml}`);
  const problems = found.map(lineProblem);
  if (!isRecord(value)) {
    const isFine = value === null || problems.length > 0;
    return { ...NO_FIELDS, problems: isFine ? problems : [{ ...placed(at([])), message: NOT_MAPPING }] };
  }
  return {
    fields: value,
    placeOf: (path) => path.length === 0 ? FILE_START : placed(at(path, "key")),
    written,
    problems,
  };
}

const NO_FIELDS: ReadFrontMatter = {
  fields: {},
  placeOf: () => FILE_START,
  written: () => undefined,
  problems: [],
};
const NOT_MAPPING = "front matter must be a mapping of keys to values";

/** A problem of YAML in the form of these files: what to do is part of the message. */
export function lineProblem({ message, hint, span }: SourceError): LineProblem {
  return { ...placed(span), message: hint === undefined ? message : `${message}. ${hint}` };
}

/** A place alone; where the file begins, when it is not known. */
export function placed({ line, column }: Place = FILE_START): Place {
  return { line, column };
}
