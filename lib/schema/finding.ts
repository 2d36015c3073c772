import { nearestName } from "../core/nearest.ts";
import { valueAt } from "./failure_place.ts";
import { toPointer } from "./issue.ts";

/** Of one value: what is wrong beyond them is neither looked for nor explained. */
export const MAX_PROBLEMS = 100;

/** Something wrong at a place of a value, not yet a sentence. */
export interface Finding {
  readonly where: readonly string[];
  readonly keyword: string;
  /** What is said instead of `expected …, found …`. */
  readonly text?: string;
  readonly expected: string;
  /** Absent for what is missing. */
  readonly found?: string;
  /** The value tells the alternatives of a union apart: it is fixed in each. */
  readonly isTag?: boolean;
  /** Added as it is: did you mean. */
  readonly hint?: string;
}

/** The sentence of a finding, without its place. */
export function findingText({ where, text, expected, found, hint = "" }: Finding): string {
  if (text !== undefined) return text + hint;
  const wanted = expected === "anything" ? "" : `expected ${expected}`;
  if (found === undefined) return `missing${wanted === "" ? "" : `, ${wanted}`}${hint}`;
  return `${wanted}${howToWrite(expected, found, where)}, found ${found}${hint}`;
}

/**
 * The findings in the order in which the value has their places; what is missing comes after what is there.
 */
export function inOrderOf(value: unknown, findings: readonly Finding[]): readonly Finding[] {
  const places = new Map<unknown, ReadonlyMap<string, number>>();
  const rankIn = (holder: unknown, key: string): number | undefined => {
    if (Array.isArray(holder)) return Number(key);
    let ranks = places.get(holder);
    if (ranks === undefined) {
      ranks = new Map(Object.keys(Object(holder)).map((name, rank) => [name, rank]));
      places.set(holder, ranks); // once for each object: there may be as many findings as keys
    }
    return ranks.get(key);
  };
  const ranksOf = (path: readonly string[]): readonly number[] =>
    path.map((key, level) => rankIn(valueAt(value, path.slice(0, level)), key) ?? Number.MAX_SAFE_INTEGER);
  return findings.map((finding) => ({ finding, ranks: ranksOf(finding.where) }))
    .sort((a, b) => compareRanks(a.ranks, b.ranks)).map(({ finding }) => finding);
}

/** The nearest of the names; very short ones are near to everything, so only their case may differ. */
export function nearOne(wanted: string, names: readonly string[]): string | undefined {
  const word = wanted.trim();
  const long = names.filter((name) => Math.min(name.length, word.length) > 2);
  return names.find((name) => name.toLowerCase() === word.toLowerCase()) ?? nearestName(word, long);
}

/** The hint of a finding for a name that may have been meant. */
export function didYouMean(near: string | undefined): { readonly hint?: string } {
  return near === undefined ? {} : { hint: `. Did you mean "${near}"?` };
}

/** For a text where there should be a boolean, an array or an object: how such a value is written. */
function howToWrite(expected: string, found: string, where: readonly string[]): string {
  if (!found.startsWith('"') && found !== "empty text") return "";
  if (expected === "boolean") return " (true or false)";
  const place = toPointer(where);
  if (/^array\b/.test(expected)) return ` (as JSON, or its items as ${place}/0, ${place}/1)`;
  return expected === "object" ? ` (as JSON, or its parts as ${place}/NAME)` : "";
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
