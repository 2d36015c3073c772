// match() and search() end in JavaScript's own regular expressions, which can take longer than the universe lasts and cannot be
// stopped: a pattern that could is refused, and what is left is known to take a power of the length of a text.

import type { PathPattern } from "./json_path_tree.ts";

const MAX_REPETITIONS = 3;

/** A pattern ready to run, or why it is not: words behind `found`. `isWhole`: all of the text has to match, as for `match`. */
export function readPattern(
  pattern: string,
  { isWhole }: { readonly isWhole: boolean },
): PathPattern | { readonly refused: string } {
  const shape = pattern.replaceAll(/\\./gs, "x").replaceAll(/\[[^\]]*\]/g, "x");
  if (/\)(?:[*+]|\{)/.test(shape)) {
    return { refused: "a pattern that repeats a group, which can run without end" };
  }
  const repetitions = shape.match(/[*+]|\{\d*,\d*\}/g)?.length ?? 0;
  if (repetitions > MAX_REPETITIONS) {
    return {
      refused: `a pattern with ${repetitions} open repetitions, at most ${MAX_REPETITIONS} are run`,
    };
  }
  const expression = compiled(isWhole ? `^(?:${withDots(pattern)})$` : withDots(pattern));
  if (expression === undefined) return { refused: "a pattern that is no regular expression" };
  const again = /\\[1-9k]/.test(pattern) ? 1 : 0; // what was found is looked for once more
  return {
    expression,
    power: Math.max(1, repetitions + (isWhole ? 0 : 1) + again),
    ways: waysThrough(shape),
  };
}

const PART = /\((?:\?(?:<?[=!]|:|<[^>]*>))?|[)|]|(?:[*+?]|\{[^}]*\})\??|./gs;

/** In how many ways a text can be gone through besides its open repetitions: each choice, and each "?", multiplies them. */
function waysThrough(shape: string): number {
  const levels = [{ others: 0, before: 1, part: 1 }];
  for (const [token] of shape.matchAll(PART)) {
    const level = levels.at(-1) ?? { others: 0, before: 1, part: 1 };
    const ways = level.before * level.part;
    if (token.startsWith("(")) levels.push({ others: 0, before: 1, part: 1 });
    else if (token === ")") {
      levels.pop();
      const around = levels.at(-1);
      if (around !== undefined) {
        [around.before, around.part] = [around.before * around.part, level.others + ways];
      }
    } else if (token === "|") [level.others, level.before, level.part] = [level.others + ways, 1, 1];
    else if (token.startsWith("?")) level.part++;
    else if (!/^[*+{]/.test(token)) [level.before, level.part] = [ways, 1];
  }
  const [{ others, before, part } = { others: 0, before: 1, part: 1 }] = levels;
  return Math.min(others + before * part, Number.MAX_SAFE_INTEGER);
}

/** In I-Regexp (RFC 9485, 5.3) a dot is everything but the two ends of a line. */
function withDots(pattern: string): string {
  return pattern.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]|\./gs, (part) => part === "." ? "[^\\n\\r]" : part);
}

function compiled(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "u");
  } catch {
    return undefined;
  }
}
