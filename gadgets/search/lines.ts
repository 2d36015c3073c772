import type { Pattern, PatternMatch } from "./pattern.ts";

/** A line that matches. */
export interface LineMatch {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Where the first match in the line begins: from 1, in UTF-16 units of the whole line. */
  readonly column: number;
  /** The line; a long one is cut, with `…` where something is missing. */
  readonly text: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

const MAX_LINE = 300;
/** How much of a long line is shown before the match. */
const LEAD = 80;

/** The lines of a text that match, in order. Line breaks are LF. */
export function* searchText(
  text: string,
  { file, pattern, context }: {
    readonly file: string;
    readonly pattern: Pick<Pattern, "maybeFind">;
    readonly context: number;
  },
): Generator<LineMatch> {
  let line = 1;
  let countedTo = 0;
  for (let from = 0; from < text.length;) {
    const match = pattern.maybeFind(text, from);
    if (match === undefined) return;
    for (
      let at = text.indexOf("\n", countedTo);
      at >= 0 && at < match.lineStart;
      at = text.indexOf("\n", at + 1)
    ) line++;
    countedTo = match.lineStart;
    const shown = cutAround(text.slice(match.lineStart, match.lineEnd), match.column);
    const around = context === 0
      ? {}
      : { before: linesBefore(text, match, context), after: linesAfter(text, match, context) };
    yield { file, line, column: match.column + 1, text: shown, ...around };
    from = match.lineEnd + 1;
  }
}

/** A search for a text as it is, much faster than any automaton. */
export function literalPattern(wanted: string): Pick<Pattern, "maybeFind"> {
  return {
    maybeFind(text, from) {
      const at = text.indexOf(wanted, from);
      if (at < 0) return undefined;
      const lineStart = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
      const lineFeed = text.indexOf("\n", at);
      return { lineStart, lineEnd: lineFeed < 0 ? text.length : lineFeed, column: at - lineStart };
    },
  };
}

function cutAround(line: string, column: number): string {
  if (line.length <= MAX_LINE) return line;
  const start = Math.max(0, Math.min(column - LEAD, line.length - MAX_LINE));
  const end = Math.min(line.length, start + MAX_LINE);
  const middle = line.slice(start, end).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
  return `${start > 0 ? "…" : ""}${middle}${end < line.length ? "…" : ""}`;
}

function linesBefore(text: string, match: PatternMatch, count: number): string[] {
  const lines: string[] = [];
  let end = match.lineStart - 1;
  while (end >= 0 && lines.length < count) {
    const start = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
    lines.unshift(cutAround(text.slice(start, end), 0));
    end = start - 1;
  }
  return lines;
}

function linesAfter(text: string, match: PatternMatch, count: number): string[] {
  const lines: string[] = [];
  let start = match.lineEnd + 1;
  while (start < text.length && lines.length < count) {
    const lineFeed = text.indexOf("\n", start);
    const end = lineFeed < 0 ? text.length : lineFeed;
    lines.push(cutAround(text.slice(start, end), 0));
    start = end + 1;
  }
  return lines;
}
