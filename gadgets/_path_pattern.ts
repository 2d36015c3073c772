// JSONPath's match() and search() end in JavaScript's own regular expressions, which can take longer than the universe lasts
// and cannot be stopped: a pattern that could is refused before it runs.

/** A pattern of a path that is not run, and why. */
export interface RefusedPattern {
  /** Where its call begins in the path, from 0. */
  readonly offset: number;
  readonly why: string;
}

const TEXT = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/gs;
const MAX_REPETITIONS = 3;

/** The path with everything in quotes blanked out, its length kept. */
export function withoutTexts(path: string): string {
  return path.replaceAll(TEXT, (text) => " ".repeat(text.length));
}

/** The first call of `match` or `search` whose pattern is not written out, or could run without end. */
export function refusedPattern(path: string): RefusedPattern | undefined {
  const masked = withoutTexts(path);
  for (const { 0: call, 1: name = "", index } of masked.matchAll(/\b(match|search)\(/g)) {
    const pattern = patternAfter(path, masked, index + call.length);
    const why = pattern === undefined
      ? `a pattern of ${name} that is not written out, expected text in quotes`
      : dangerOf(pattern);
    if (why !== undefined) return { offset: index, why };
  }
  return undefined;
}

/** The second argument of a call whose arguments begin at an offset, when it is text in quotes. */
function patternAfter(path: string, masked: string, start: number): string | undefined {
  let depth = 1;
  let comma: number | undefined;
  for (let at = start; at < masked.length && depth > 0; at++) {
    const character = masked[at];
    if (character === "(" || character === "[") depth++;
    if (character === ")" || character === "]") depth--;
    if (character === "," && depth === 1) comma = at;
    if (depth > 0 || comma === undefined) continue;
    const written = path.slice(comma + 1, at).trim();
    return /^(["']).*\1$/s.test(written) ? written.slice(1, -1).replaceAll("\\\\", "\\") : undefined;
  }
  return undefined;
}

function dangerOf(pattern: string): string | undefined {
  const shape = pattern.replaceAll(/\\./gs, "x").replaceAll(/\[[^\]]*\]/g, "x");
  if (/\)(?:[*+]|\{)/.test(shape)) return "a pattern that repeats a group, which can run without end";
  const repetitions = shape.match(/[*+]|\{\d*,\d*\}/g)?.length ?? 0;
  return repetitions > MAX_REPETITIONS
    ? `a pattern with ${repetitions} open repetitions, at most ${MAX_REPETITIONS} are run`
    : undefined;
}
