// What a journal has of the names that somebody typed.
import { nearestName, RunNotFoundError, StepNotFoundError } from "../core/core.ts";
import type { JournalStore, RunRow } from "./store.ts";

const MIN_BEGINNING = 4;
const MAX_LISTED = 8;

/** The run of an id, or of a beginning of an id that only it has. @throws {RunNotFoundError} */
export function findRun(store: JournalStore, typed: string): RunRow {
  const row = store.run(typed) ?? byBeginning(store, typed) ?? byBeginning(store, typedRunId(typed));
  if (row !== undefined) return row;
  throw new RunNotFoundError(`There is no run "${typed}"${runsThere(store, typed)}`);
}

function byBeginning(store: JournalStore, beginning: string): RunRow | undefined {
  if (beginning.length < MIN_BEGINNING) return undefined;
  const ids = store.idsWith(beginning);
  if (ids.length <= 1) return ids[0] === undefined ? undefined : store.run(ids[0]);
  throw new RunNotFoundError(
    `${ids.length} runs begin with "${beginning}": ${listed(ids)}. Give more of the id`,
  );
}

/** What was meant by an id as somebody typed it: capitals, and the letters that ids do not have. */
function typedRunId(text: string): string {
  return text.trim().toLowerCase().replaceAll("o", "0").replaceAll(/[il]/g, "1");
}

function runsThere(store: JournalStore, typed: string): string {
  const ids = store.idsWith("");
  if (ids.length === 0) return ": none is kept here yet";
  const near = nearestName(typed, ids);
  if (near !== undefined) return `. Did you mean "${near}"?`;
  return typed.length < MIN_BEGINNING
    ? `; a beginning of an id needs at least ${MIN_BEGINNING} characters`
    : `; "orrery runs" lists those there are`;
}

/** The error for a key that a run does not have; it names the nearest, else some of those there are. */
export function noSuchStep(
  store: JournalStore,
  { id, key }: { readonly id: string; readonly key: string },
): StepNotFoundError {
  const keys = store.steps(id).map((step) => step.key);
  return new StepNotFoundError(`Run "${id}" has no step "${key}"${stepsThere(key, keys)}`);
}

function stepsThere(key: string, keys: readonly string[]): string {
  const near = nearestName(key, keys);
  if (near !== undefined) return `. Did you mean "${near}"?`;
  if (keys.length === 0) return ": none was begun";
  return `: it has ${listed(keys)}`;
}

function listed(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return names.slice(0, MAX_LISTED).join(", ") + more;
}
