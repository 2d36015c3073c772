import type { FoundRow } from "./passage_index.ts";

/** How much the first places count more than those behind them (Cormack, Clarke and Büttcher 2009, reciprocal rank fusion). */
const SOFTNESS = 60;

/** Several rankings of the same passages as one, the best first; whose scores are on different scales, only their order counts. */
export function fusedRanks(rankings: readonly (readonly FoundRow[])[]): readonly FoundRow[] {
  const scores = new Map<number, number>();
  for (const ranking of rankings) {
    for (const [index, { row }] of ranking.entries()) {
      scores.set(row, (scores.get(row) ?? 0) + 1 / (SOFTNESS + index + 1));
    }
  }
  return [...scores].map(([row, score]) => ({ row, score })).sort((a, b) => b.score - a.score);
}
