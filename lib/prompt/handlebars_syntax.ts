// The library's parser stops at the first mistake. To tell all of them, each tag of the text is read alone: one that cannot be read is
// told and blanked out, and what is wrong then is wrong with the blocks.

import { byPlace } from "../core/by_place.ts";
import { spanAt } from "../core/span_at.ts";
import { messageOf } from "../core/source_error.ts";
import { FILE_START, type LineProblem, type Place } from "../parse/front_matter.ts";
import { treeProblems } from "./handlebars_problems.ts";
import { type HandlebarsTag, handlebarsTags } from "./handlebars_tags.ts";

/** Why a body could not be parsed, and how it is. */
export interface SyntaxOptions {
  readonly thrown: unknown;
  readonly parse: (body: string) => unknown;
}

/** After so many mistakes the rest of a body is not looked at. */
const MOST = 20;

/** What is wrong with a body that cannot be parsed. */
export function syntaxProblems(body: string, { thrown, parse }: SyntaxOptions): readonly LineProblem[] {
  // The library calls itself for each level: that says nothing of the tags.
  if (thrown instanceof RangeError) return [{ ...FILE_START, message: CANNOT + wordsOf(thrown) }];
  const found = new Map<string, LineProblem>();
  const keep = (problem: LineProblem) =>
    found.set(`${problem.line}:${problem.column} ${problem.message}`, problem);
  let rest = body;
  for (const tag of handlebarsTags(body)) {
    if (found.size >= MOST) break;
    const problems = tagProblems(tag, { body, parse });
    problems.forEach(keep);
    if (problems.some(isOfSyntax)) rest = withoutTag(rest, tag);
  }
  const isFirst = rest === body;
  for (let tries = 0; tries < MOST && found.size < MOST; tries++) {
    const error = isFirst && tries === 0 ? thrown : errorOf(() => parse(rest));
    if (error === undefined) break;
    const { problem, tag } = blockProblem(error, rest);
    keep(problem);
    if (tag === undefined) break;
    rest = withoutTag(rest, tag);
  }
  return [...found.values()].sort(byPlace);
}

function errorOf(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

const CANNOT = "cannot read the Handlebars of the body: ";

function isOfSyntax({ message }: LineProblem): boolean {
  return message.startsWith(CANNOT);
}

/** What is wrong with a tag whatever stands around it. */
function tagProblems(
  { start, alone }: HandlebarsTag,
  { body, parse }: { readonly body: string; readonly parse: (body: string) => unknown },
): readonly LineProblem[] {
  if (alone === undefined) return [];
  const found = problemsAlone(alone, parse);
  if (found.length === 0) return [];
  const { line, column } = spanAt(body, start);
  return found.map((problem) => ({
    line: line + problem.line - 1,
    column: (problem.column ?? 1) + (problem.line === 1 ? column - 1 : 0),
    message: problem.message,
  }));
}

function problemsAlone(text: string, parse: (body: string) => unknown): readonly LineProblem[] {
  try {
    return treeProblems(parse(text));
  } catch (thrown) {
    return [{ ...FILE_START, message: CANNOT + wordsOf(thrown) }];
  }
}

/** A tag that is not there any more, but for the lines it takes; the beginning of a block stays one. */
function withoutTag(body: string, { start, end, block }: HandlebarsTag): string {
  const tag = body.slice(start, end);
  const blank = tag.replaceAll(/[^\n]/g, " ");
  const opening = block === undefined ? "" : `{{#${block} x`;
  const kept = block === undefined || opening.length + 2 > tag.length
    ? blank
    : `${opening}${blank.slice(opening.length, -2)}}}`;
  return body.slice(0, start) + kept + body.slice(end);
}

/** What the tags make of each other; the tag is one that can be left out, to read on. */
function blockProblem(
  thrown: unknown,
  body: string,
): { readonly problem: LineProblem; readonly tag?: HandlebarsTag } {
  const message = messageOf(thrown);
  const said = CANNOT + wordsOf(thrown);
  if (/, got 'EOF'$/.test(message)) {
    const { line, column } = spanAt(body, body.length);
    return { problem: { line, column, message: said } };
  }
  const place = / - (\d+):(\d+)$/.exec(message);
  const [line, column] = place === null
    ? [Number(/^(?:Parse|Lexical) error on line (\d+)/.exec(message)?.[1] ?? 1), 1]
    : [Number(place[1]), Number(place[2]) + 1];
  const offset = offsetAt(body, { line, column });
  const tag = handlebarsTags(body).find(({ start, end, isInside }) =>
    place === null ? isInside && end > offset : start <= offset && offset < end
  );
  if (tag === undefined) return { problem: { line, column, message: said } };
  const start = spanAt(body, tag.start);
  const problem = { line: start.line, column: start.column, message: said };
  return place === null ? { problem, tag } : { problem };
}

function offsetAt(body: string, { line, column }: Place): number {
  let start = 0;
  for (let at = 1; at < line; at++) start = body.indexOf("\n", start) + 1;
  return start + column - 1;
}

/** What the library calls these. */
const TOKENS: Readonly<Record<string, string>> = {
  OPEN: '"{{"',
  CLOSE: '"}}"',
  OPEN_UNESCAPED: '"{{{"',
  CLOSE_UNESCAPED: '"}}}"',
  OPEN_SEXPR: '"("',
  CLOSE_SEXPR: '")"',
  OPEN_ENDBLOCK: '"{{/"',
  INVERSE: '"{{else}}"',
  OPEN_INVERSE_CHAIN: '"{{else"',
  EQUALS: '"="',
  SEP: '"/"',
};

/** `Parse error on line 3:` and a picture, or `if doesn't match each - 3:3`. */
function wordsOf(thrown: unknown): string {
  if (thrown instanceof RangeError) return "there are too many levels inside each other";
  const message = messageOf(thrown);
  const token = /, got '(.*)'$/.exec(message)?.[1];
  if (token === "EOF") return "a block is not closed";
  if (token !== undefined) return `${TOKENS[token] ?? "something"} is not expected here`;
  return message.replace(/ - \d+:\d+$/, "").replace(/ on line \d+\. /, ": ").split("\n", 1)[0] ?? "";
}
