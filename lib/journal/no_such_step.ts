import { StepNotFoundError } from "../core/journal.ts";
import { nearestName } from "../core/nearest.ts";
import type { JournalStore } from "./store.ts";

/** The error for a key that a run does not have; it names the nearest, else some of those there are. */
export function noSuchStep(
  store: JournalStore,
  { id, key }: { readonly id: string; readonly key: string },
): StepNotFoundError {
  const keys = store.steps(id).map((step) => step.key);
  return new StepNotFoundError(`Run "${id}" has no step "${key}"${whatThereIs(key, keys)}`);
}

const MAX_LISTED = 8;

function whatThereIs(key: string, keys: readonly string[]): string {
  const near = nearestName(key, keys);
  if (near !== undefined) return `. Did you mean "${near}"?`;
  if (keys.length === 0) return ": none was begun";
  const more = keys.length > MAX_LISTED ? ` and ${keys.length - MAX_LISTED} more` : "";
  return `: it has ${keys.slice(0, MAX_LISTED).join(", ")}${more}`;
}
