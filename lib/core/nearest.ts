/**
 * The known name a misspelt one most likely meant, or undefined when none is close: at most a third of its
 * letters may differ, counted as edits (insert, delete, replace, swap of neighbours), case ignored; else one that it is the beginning of.
 */
export function nearestName(wanted: string, known: Iterable<string>): string | undefined {
  const from = fold(wanted);
  let best: string | undefined;
  const names = [...known];
  let bestDistance = Math.max(1, Math.floor(from.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(from, fold(name), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best ?? shortenedName(wanted, names);
}

/** The first known name that is cut short: `desc` for `description`. */
export function shortenedName(wanted: string, known: Iterable<string>): string | undefined {
  const from = fold(wanted);
  return from.length < 4 ? undefined : [...known].find((name) => fold(name).startsWith(from));
}

/** ` Did you mean "x"?` with its leading blank, or the empty text. */
export function didYouMean(wanted: string, known: Iterable<string>): string {
  const near = nearestName(wanted, known);
  return near === undefined ? "" : ` Did you mean "${near}"?`;
}

/** ` (did you mean "x"?)` with its leading blank; the empty text where nothing is near. */
export function orMeant(near: string | undefined): string {
  return near === undefined ? "" : ` (did you mean ${JSON.stringify(near)}?)`;
}

/** Lower case without `_` and `-`: names that differ in these only are the same to a reader. */
function fold(name: string): string {
  return name.slice(0, 200).toLowerCase().replaceAll(/[_-]/g, "");
}

/**
 * Inserted, deleted and changed letters, and swaps of two neighbours (optimal string alignment), unless there are none (Levenshtein); gives
 * `limit` as soon as it cannot be lower.
 */
export function editDistance(
  a: string | readonly string[],
  b: string | readonly string[],
  limit: number,
  { hasSwaps = true }: { readonly hasSwaps?: boolean } = {},
): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + (same ? 0 : 1));
      if (hasSwaps && i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, at(before, j - 2) + 1);
      }
      next.push(cost);
    }
    if (Math.min(...next) >= limit) return limit;
    [before, row] = [row, next];
  }
  return Math.min(limit, at(row, b.length));
}

const at = (row: readonly number[], index: number): number => row[index] ?? Infinity;

const MOST_NAMES = 3;

/**
 * `. Did you mean "a", "b"?`, or the empty text: what follows a message about a name that is not known (prompts.md 11).
 */
export function didYouMeanNames(wanted: string, known: Iterable<string>): string {
  const near = nearestNames(wanted, known);
  return near.length === 0 ? "" : `. Did you mean ${near.map((name) => `"${name}"`).join(", ")}?`;
}

/**
 * The known names that a misspelt one may mean, three at most: those within a Levenshtein distance of
 * max(2, 0.3 of its length), nearest first, ties by code unit; then those of the same last `/` segment.
 */
export function nearestNames(wanted: string, known: Iterable<string>): readonly string[] {
  const from = [...wanted];
  const most = Math.max(2, Math.floor(0.3 * from.length));
  const last = lastSegment(wanted);
  const near: { readonly name: string; readonly distance: number }[] = [];
  const alike: string[] = [];
  for (const name of new Set(known)) {
    const distance = editDistance(from, [...name], most + 1, { hasSwaps: false });
    if (distance <= most) near.push({ name, distance });
    else if (lastSegment(name) === last) alike.push(name);
  }
  near.sort((a, b) => a.distance - b.distance || byCodeUnit(a.name, b.name));
  return [...near.map(({ name }) => name), ...alike.sort(byCodeUnit)].slice(0, MOST_NAMES);
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function lastSegment(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}
