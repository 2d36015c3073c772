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
    const distance = distanceUpTo(most, from, name);
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

/** The Levenshtein distance in code points; any number above `most` when it is more than that. */
function distanceUpTo(most: number, from: readonly string[], name: string): number {
  const to = [...name];
  if (Math.abs(from.length - to.length) > most) return most + 1;
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (const [i, char] of from.entries()) {
    const next = [i + 1];
    for (const [j, other] of to.entries()) {
      const replaced = at(row, j) + (char === other ? 0 : 1);
      next.push(Math.min(at(row, j + 1) + 1, at(next, j) + 1, replaced));
    }
    if (Math.min(...next) > most) return most + 1;
    row = next;
  }
  return at(row, to.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Infinity;
