// V8's own RegExp can take time exponential in the length of a line: (a+)+$ on thirty letters hangs the process, and nothing can
// stop it. So patterns from outside run on RE2, whose time is linear in the text.
import { RE2JS } from "re2js";

/** Where a pattern was found. Offsets count UTF-16 units from the start of the text. */
export interface PatternMatch {
  readonly lineStart: number;
  /** The first offset after the line, its line break not counted. */
  readonly lineEnd: number;
  /** Where in the line the leftmost match begins, from 0. */
  readonly column: number;
}

/** A compiled pattern. `^` and `$` are the ends of a line, and a match never goes over a line break. */
export interface Pattern {
  /** The first line at or after `from`, which is the start of a line, that has a match. */
  maybeFind(text: string, from: number): PatternMatch | undefined;
}

const MAX_SOURCE_LENGTH = 2000;
/** Characters that are looked at before the time is looked at again. */
const PIECE = 16_384;
const MAX_INSTRUCTIONS = 2000;
/** Instructions times the characters of one line: the most costly ones take half a minute, and nothing can stop them. */
const MAX_LINE_COST = 1e9;
const TOO_BIG = "it is too big; make the numbers in {} smaller";

/**
 * Compiles a regular expression to a search that takes linear time.
 *
 * @param options `onSlow` is called now and then; it may throw to end the search
 * @throws {Error} when it cannot be read, has look-around or back-references, or is too big.
 */
export function compilePattern(
  source: string,
  { ignoreCase = false, onSlow }: { readonly ignoreCase?: boolean; readonly onSlow?: () => void } = {},
): Pattern {
  const pattern = compile(source, RE2JS.MULTILINE | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0));
  const maxLine = MAX_LINE_COST / pattern.programSize();
  const endOfLine = (text: string, from: number) => (text.indexOf("\n", from) + 1 || text.length + 1) - 1;
  const maybeFindIn = (text: string, from: number, to: number): PatternMatch | undefined => {
    for (let lineStart = from; lineStart <= to;) {
      const lineEnd = endOfLine(text, lineStart);
      const matcher = pattern.matcher(text.slice(lineStart, lineEnd));
      if (matcher.find()) return { lineStart, lineEnd, column: matcher.start() };
      lineStart = lineEnd + 1;
    }
    return undefined;
  };
  return {
    maybeFind(text, from) {
      while (from < text.length) {
        onSlow?.();
        const last = text.lastIndexOf("\n", from + PIECE);
        const to = last > from ? last : endOfLine(text, from);
        if (to - from > maxLine) {
          throw refused(
            `it has ${pattern.programSize()} steps, too many for a line of ${to - from} characters`,
          );
        }
        // Most pieces have no match, and one test of all their lines is several times as fast as one of each.
        const found = pattern.test(text.slice(from, to)) ? maybeFindIn(text, from, to) : undefined;
        if (found !== undefined) return found;
        from = to + 1;
      }
      return undefined;
    },
  };
}

function compile(source: string, flags: number): RE2JS {
  if (source.length > MAX_SOURCE_LENGTH) {
    throw refused(`${source.length} characters, at most ${MAX_SOURCE_LENGTH} are allowed`);
  }
  try {
    new RegExp(source);
  } catch (error) {
    throw new Error(`Cannot read the regular expression: ${reasonOf(error)}`);
  }
  if (/\\[1-9]|\\k</.test(source.replaceAll("\\\\", ""))) {
    throw refused("a back-reference cannot be searched for in linear time. Leave it out");
  }
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(RE2JS.translateRegExp(source), flags);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason.includes("repeat count")) throw refused(TOO_BIG);
    throw refused(`${reason}. Look-around cannot be searched for in linear time; leave it out`);
  }
  if (pattern.programSize() > MAX_INSTRUCTIONS) throw refused(TOO_BIG);
  return pattern;
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^Invalid regular expression: |^error parsing regexp: /, "");
}

function refused(why: string): Error {
  return new Error(`Cannot search with this regular expression: ${why}`);
}

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
