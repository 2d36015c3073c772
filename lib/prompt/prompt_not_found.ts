import { didYouMeanNames } from "../core/did_you_mean_names.ts";

const MOST_LISTED = 20;

/** `prompt "P" not found`, and what may have been meant, or what there is (prompts.md 11). */
export function promptNotFound(path: string, known: readonly string[]): string {
  return `prompt "${path}" not found${whatThereIs(path, known)}`;
}

function whatThereIs(path: string, known: readonly string[]): string {
  if (known.length === 0) return ". The registry is empty";
  const near = didYouMeanNames(path, known);
  if (near !== "") return near;
  const listed = [...known].sort().slice(0, MOST_LISTED);
  const more = known.length > MOST_LISTED ? ` and ${known.length - MOST_LISTED} more` : "";
  return `. Registered: ${listed.join(", ")}${more}`;
}
