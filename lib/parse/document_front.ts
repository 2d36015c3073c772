import { withoutByteOrderMark } from "../core/file_text.ts";
import { type DocumentLines, parameterLine } from "./document/lines.ts";
import type { LineProblem } from "./yaml/front_matter.ts";

const OPENING = /^---[ \t]*$/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*$/;

/** The line that closes the front matter of a document; undefined where it has none (documents.md 2.3). */
export function frontMatterClose(lines: DocumentLines): number | undefined {
  if (lines.count === 0 || !OPENING.test(lines.content(0))) return undefined;
  let close = 1;
  while (close < lines.count && !CLOSING.test(lines.content(close))) close++;
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
  if (start > 0 || !OPENING.test(opening) || /\r(?!\n)/.test(head)) {
    return { ...place, message: `${MUST_BEGIN}, found ${shown(text.slice(0, start) + head)}; ${AS_TEXT}` };
  }
  if (closing === undefined || !CLOSING.test(closing)) {
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

export const NOT_CLOSED = `front matter is not closed with "---"`;
const MUST_BEGIN = `front matter must begin with a line that is "---", the first one of the file`;
const NO_KEYS = `front matter must be keys from its first line on, as in "title: x"`;
const AS_TEXT = `where this is text, put two lines of "---" before it`;

/** Quoted, as a program would write it, so that what is not seen can be. */
function shown(text = ""): string {
  const start = JSON.stringify(text.slice(0, 40));
  return start.replaceAll(/\p{Cf}/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
