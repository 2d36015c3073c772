import { nearestName } from "../core/nearest.ts";

/** ` (did you mean "x"?)` with its leading blank, or the empty text. */
export function didYouMean(wanted: string, known: Iterable<string>): string {
  const near = nearestName(wanted, known);
  return near === undefined ? "" : ` (did you mean ${JSON.stringify(near)}?)`;
}
