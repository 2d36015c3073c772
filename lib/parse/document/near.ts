// The rule of documents.md 1.4, which is stricter than that of core/nearest.ts: what it finds can make a line an error.

import { editDistance } from "../../core/core.ts";

/** How many edits a word may be away. */
export const FARTHEST = 2;

/** Letters of a name that many a word is two edits away from. */
const SHORT = 4;

/** Of a longer word not more is looked at: it is near to no name. */
const LONGEST = 200;

/**
 * The known word nearest to a misspelt one, the first of equally near ones; undefined when none is near.
 *
 * @param ofShort how far away it may be of a name with up to four letters: 1, unless what is found is only a hint
 */
export function nearWord(word: string, known: Iterable<string>, ofShort = 1): string | undefined {
  const from = word.slice(0, LONGEST).toLowerCase();
  let best: string | undefined;
  let bestDistance = FARTHEST + 1;
  for (const name of known) {
    const limit = name.length > SHORT ? bestDistance : Math.min(bestDistance, ofShort + 1);
    if (Math.abs(from.length - name.length) >= limit) continue;
    const distance = editDistance(from, name.toLowerCase(), limit);
    if (distance < limit && distance < name.length) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** ` (did you mean "x"?)` with its leading blank, or the empty text. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const near = nearWord(word, known, FARTHEST);
  return near === undefined ? "" : ` (did you mean "${near}"?)`;
}
