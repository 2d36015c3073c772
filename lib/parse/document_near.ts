// The rule of documents.md 1.4, which is stricter than that of core/nearest.ts: what it finds can make a line an error.

import { editDistance } from "../core/nearest.ts";

const FARTHEST = 2;

/** Of a longer word not more is looked at: it is near to no name. */
const LONGEST = 200;

/** The known word nearest to a misspelt one, the first of equally near ones; undefined when none is near. */
export function nearWord(word: string, known: Iterable<string>): string | undefined {
  const from = word.slice(0, LONGEST).toLowerCase();
  let best: string | undefined;
  let bestDistance = FARTHEST + 1;
  for (const name of known) {
    if (Math.abs(from.length - name.length) >= bestDistance) continue;
    const distance = editDistance(from, name.toLowerCase(), bestDistance);
    if (distance < bestDistance && distance < name.length) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** ` (did you mean "x"?)` with its leading blank, or the empty text. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const near = nearWord(word, known);
  return near === undefined ? "" : ` (did you mean "${near}"?)`;
}
