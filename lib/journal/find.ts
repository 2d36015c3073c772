// What a journal has of the names that somebody typed.
import { nearestName, RunNotFoundError, StepNotFoundError } from "../core/core.ts";
import type { JournalStore, RunRow } from "./store.ts";

const MIN_BEGINNING = 4;
const MAX_LISTED = 8;

/** The run of an id, or of a beginning of an id that only it has. @throws {RunNotFoundError} */
export function findRun(store: JournalStore, typed: string): RunRow {
  const row = store.run(typed) ??
    store.run(beginningOf(typed, (beginning) => store.idsWith(beginning)) ?? "");
  if (row !== undefined) return row;
  throw new RunNotFoundError(`There is no run "${typed}"${runsThere(store, typed)}`);
}

/**
 * The id that begins as somebody typed it; undefined where none does.
 *
 * @param idsWith gives the ids that begin so
 * @throws {RunNotFoundError} where several do
 */
export function beginningOf(
  typed: string,
  idsWith: (beginning: string) => readonly string[],
): string | undefined {
  for (const beginning of [typed, typedRunId(typed)]) {
    const runs = beginning.length < MIN_BEGINNING ? [] : idsWith(beginning);
    if (runs.length === 1) return runs[0];
    if (runs.length === 0) continue;
    const message = `${runs.length} runs begin with "${beginning}": ${listed(runs)}. Give more of the id`;
    throw new RunNotFoundError(message, { runs });
  }
  return undefined;
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
