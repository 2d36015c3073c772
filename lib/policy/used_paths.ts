// Files that were used, as somebody would grant them: a few as they are, and of many the folders that they are in. A path that is granted
// brings everything below it, so one that lies below another says nothing more.
import { dirname } from "node:path";
import { holdsPath } from "./path_rule.ts";

/** How often paths were used, by path: absolute and real. */
export type PathCounts = Map<string, number>;

/** Counts a path, with what is known of others: the one that holds it counts it, and it holds what lies below. */
export function countPath(counts: PathCounts, path: string, count: number): void {
  for (const known of counts.keys()) {
    if (holdsPath(known, path)) return void counts.set(known, (counts.get(known) ?? 0) + count);
  }
  const below = [...counts].filter(([known]) => holdsPath(path, known));
  below.forEach(([known]) => counts.delete(known));
  counts.set(path, below.reduce((sum, [, each]) => sum + each, count));
}

/**
 * Puts folders in the place of what lies in them until no more than `most` are left: first the folder that most of them are in themselves.
 *
 * @param mayBe whether a folder may stand for what is in it: none that holds more than was granted
 */
export function foldPaths(
  counts: PathCounts,
  { most, mayBe }: { readonly most: number; readonly mayBe: (folder: string) => boolean },
): void {
  while (counts.size > most) {
    const folder = fullestFolder([...counts.keys()], mayBe);
    if (folder === undefined) return;
    countPath(counts, folder, 0);
  }
}

/** The folder that most of the paths are in; of several that with the longest name, since it holds the least. */
function fullestFolder(
  paths: readonly string[],
  mayBe: (folder: string) => boolean,
): string | undefined {
  const own = new Map<string, number>();
  for (const path of paths) {
    const folder = dirname(path);
    if (folder !== path && mayBe(folder)) own.set(folder, (own.get(folder) ?? 0) + 1);
  }
  const ranked = [...own].sort(([a, ofA], [b, ofB]) => ofB - ofA || b.length - a.length || (a < b ? -1 : 1));
  return ranked[0]?.[0];
}
