// The rule of documents.md 1.4, which is stricter than that of core/nearest.ts: what it finds can make a line an error.

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
    const distance = editDistance(from, name.toLowerCase());
    if (distance < bestDistance && distance < name.length) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** ` (did you mean "x"?)` with its leading blank, or the empty text. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const near = nearWord(word, known);
  return near === undefined ? "" : ` (did you mean "${near}"?)`;
}

/** Inserted, deleted and changed letters, and swaps of two neighbours (optimal string alignment); Infinity when there are too many. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const change = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const cost = Math.min(
        at(row, j) + 1,
        at(next, j - 1) + 1,
        change,
        isSwap ? at(before, j - 2) + 1 : Infinity,
      );
      next.push(cost);
      least = Math.min(least, cost);
    }
    if (least > FARTHEST) return Infinity;
    [before, row] = [row, next];
  }
  return at(row, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Infinity;
