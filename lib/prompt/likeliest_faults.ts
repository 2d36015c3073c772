import { combinedFault } from "./fault.ts";
import type { Fault } from "./fault.ts";

/**
 * What is wrong with the alternative that was most likely meant: the one of the right type, then the one whose fixed values are there,
 * then the one with the fewest faults. `branches`: the faults of each alternative, none of them empty; `where`: the place of the union.
 */
export function likeliestFaults(
  branches: readonly (readonly Fault[])[],
  where: readonly string[],
): readonly Fault[] {
  const ofType = branches.filter((faults) => !faults.some((fault) => isOfValue(fault, where)));
  if (ofType.length === 0) {
    return [combinedFault(where, branches.flat().filter((fault) => isOfValue(fault, where)))];
  }
  const tagged = ofType.filter((faults) => !faults.some((fault) => isOfTag(fault, where)));
  if (tagged.length === 0) return tagFaults(ofType, where);
  return tagged.reduce((best, faults) => faults.length < best.length ? faults : best);
}

/** No alternative has the tag that is there: what the tag may be is all that can be said. */
function tagFaults(branches: readonly (readonly Fault[])[], where: readonly string[]): readonly Fault[] {
  const tags = branches.flatMap((faults) => faults.filter((fault) => isOfTag(fault, where)));
  const [first] = tags;
  if (first === undefined || first.kind === "missing") return first === undefined ? [] : [first];
  const same = tags.filter((fault) => fault.where.at(-1) === first.where.at(-1));
  return [combinedFault(first.where, same)];
}

/** The value itself is of another type, or another one. */
function isOfValue({ kind, where }: Fault, place: readonly string[]): boolean {
  return (kind === "type" || kind === "choice") && where.length === place.length;
}

/** A fixed value right below is another one, or missing. */
function isOfTag(fault: Fault, place: readonly string[]): boolean {
  const isTag = fault.kind === "choice" || (fault.kind === "missing" && fault.isTag);
  return isTag && fault.where.length === place.length + 1;
}
