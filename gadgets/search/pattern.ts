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
