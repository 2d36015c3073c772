import { isRecord, type SourceError, withoutByteOrderMark } from "../../core/core.ts";
import { type DocumentLines, parameterLine } from "../document/lines.ts";
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

const DASH_LINE = /^---[ \t]*$/;
const CLOSING_LINE = /^(?:---|\.\.\.)[ \t]*$/;

/** The line that closes the front matter of a document; undefined where it has none (documents.md 2.3). */
export function frontMatterClose(lines: DocumentLines): number | undefined {
  if (lines.count === 0 || !DASH_LINE.test(lines.content(0))) return undefined;
  let close = 1;
  while (close < lines.count && !CLOSING_LINE.test(lines.content(close))) close++;
  return close < lines.count && looksLikeYaml(lines, close) ? close : undefined;
}

/** Two lines of dashes around prose are no front matter: its first line that is not empty tells. */
function looksLikeYaml(lines: DocumentLines, close: number): boolean {
  const first = lines.filled(1);
  if (first >= close) return true;
  const line = lines.content(first);
  return line.startsWith("#") || parameterLine(line) !== undefined;
}

const FILLED = /[^\s\p{Cf}]/u;
const UNSEEN = /[\s\p{Cf}]+|<!--|-->|%[A-Z][^\r\n]*/uy;
const DASHES = /(-{3,}[^\r\n]*)(?:\r\n?|\n|$)/y;
const LIKELY_END = /^(?:[ \t\p{Cf}]*(?:-{3,}|\.{3})[ \t\p{Cf}]*|@[a-z]+[ \t]*)$/mu;
const LIKELY_KEY = /^[ \t\p{Cf}{-]*(["']?)[\p{L}_][\p{L}\p{Nd}\p{Cf}_-]*\1[ \t]*:(?=[\s{["']|$)/mu;

/**
 * What is wrong with a text that has no front matter and looks as if it were meant to have one: dashes, with nothing before them that is
 * seen, and keys below. Undefined: it is text (documents.md 2.3). Here a lone CR ends a line.
 */
export function nearFrontMatter(written: string): LineProblem | undefined {
  const text = withoutByteOrderMark(written);
  const start = behindUnseen(text);
  DASHES.lastIndex = start;
  const [head, opening = ""] = DASHES.exec(text) ?? [];
  if (head === undefined) return undefined;
  const below = text.slice(start + head.length);
  const end = LIKELY_END.exec(below);
  const closing = end?.[0].startsWith("@") === false ? end[0] : undefined;
  const filled = below.search(FILLED);
  const from = Math.max(below.lastIndexOf("\n", filled), below.lastIndexOf("\r", filled)) + 1;
  const [first] = below.slice(from).split(/[\r\n]/, 1);
  if (!LIKELY_KEY.test(closing === undefined ? first ?? "" : below.slice(0, end?.index))) return undefined;
  const above = text.slice(0, start).split("\n");
  const place = { line: above.length, column: (above.at(-1)?.length ?? 0) + 1 };
  if (start > 0 || !DASH_LINE.test(opening) || /\r(?!\n)/.test(head)) {
    return { ...place, message: `${MUST_BEGIN}, found ${shown(text.slice(0, start) + head)}; ${AS_TEXT}` };
  }
  if (closing === undefined || !CLOSING_LINE.test(closing)) {
    return { ...place, message: `${NOT_CLOSED}; ${AS_TEXT}` };
  }
  const line = place.line + below.slice(0, from).split("\n").length;
  return { line, column: 1, message: `${NO_KEYS}, found ${shown(first)}; ${AS_TEXT}` };
}

/** Where what can be seen begins, but for comments and directives. */
function behindUnseen(text: string): number {
  let at = 0;
  for (;;) {
    UNSEEN.lastIndex = at;
    const [found] = UNSEEN.exec(text) ?? [];
    if (found === undefined) return at;
    const end = found === "<!--" ? text.indexOf("-->", at) : at + found.length;
    if (end < 0) return text.length;
    at = end;
  }
}

const NOT_CLOSED = `front matter is not closed with "---"`;
const MUST_BEGIN = `front matter must begin with a line that is "---", the first one of the file`;
const NO_KEYS = `front matter must be keys from its first line on, as in "title: x"`;
const AS_TEXT = `where this is text, put two lines of "---" before it`;

/** Quoted, as a program would write it, so that what is not seen can be. */
function shown(text = ""): string {
  const start = JSON.stringify(text.slice(0, 40));
  return start.replaceAll(/\p{Cf}/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
