import { didYouMeanNames, nearestNames } from "../core/did_you_mean_names.ts";

const MOST_LISTED = 20;
const NONE: ReadonlyMap<string, string> = new Map();

/**
 * `prompt "P" not found`, and what may have been meant, or what there is (prompts.md 11).
 *
 * @param broken those that are there and cannot be used, each with the place that says why: `prompts/a.prompt.md:4`
 */
export function promptNotFound(path: string, known: readonly string[], broken = NONE): string {
  return `prompt "${path}" not found${whatThereIs(path, known, broken)}`;
}

function whatThereIs(path: string, known: readonly string[], broken: ReadonlyMap<string, string>): string {
  const near = didYouMeanPrompts(path, known, broken);
  if (near !== "") return near;
  if (known.length === 0) return broken.size === 0 ? ". The registry is empty" : NONE_USABLE;
  const listed = [...known].sort().slice(0, MOST_LISTED);
  const more = known.length > MOST_LISTED ? ` and ${known.length - MOST_LISTED} more` : "";
  return `. Registered: ${listed.join(", ")}${more}`;
}

const NONE_USABLE = ". None of the prompts there are can be used";

/** As `didYouMeanNames`; one that cannot be used is named where none that can is nearer. */
function didYouMeanPrompts(
  path: string,
  known: readonly string[],
  broken: ReadonlyMap<string, string>,
): string {
  const near = didYouMeanNames(path, known);
  const [nearest = ""] = nearestNames(path, [...known, ...broken.keys()]);
  const place = known.includes(nearest) ? undefined : broken.get(nearest);
  if (place === undefined) return near;
  const first = near === "" ? ". Did you mean " : `${near.slice(0, -1)}, or `;
  return `${first}"${nearest}", which cannot be used (see ${place})?`;
}
