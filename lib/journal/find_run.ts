import { RunNotFoundError } from "../core/journal.ts";
import { nearestName } from "../core/nearest.ts";
import { typedRunId } from "./new_run.ts";
import type { JournalStore, RunRow } from "./store.ts";

const MIN_BEGINNING = 4;
const MAX_LISTED = 8;

/** The run of an id, or of a beginning of an id that only it has. @throws {RunNotFoundError} */
export function findRun(store: JournalStore, typed: string): RunRow {
  const row = store.run(typed) ?? byBeginning(store, typed) ?? byBeginning(store, typedRunId(typed));
  if (row !== undefined) return row;
  throw new RunNotFoundError(`There is no run "${typed}"${whatThereIs(store, typed)}`);
}

function byBeginning(store: JournalStore, beginning: string): RunRow | undefined {
  if (beginning.length < MIN_BEGINNING) return undefined;
  const ids = store.idsWith(beginning);
  if (ids.length <= 1) return ids[0] === undefined ? undefined : store.run(ids[0]);
  const more = ids.length > MAX_LISTED ? ` and ${ids.length - MAX_LISTED} more` : "";
  throw new RunNotFoundError(
    `${ids.length} runs begin with "${beginning}": ${
      ids.slice(0, MAX_LISTED).join(", ")
    }${more}. Give more of the id`,
  );
}

function whatThereIs(store: JournalStore, typed: string): string {
  const ids = store.idsWith("");
  if (ids.length === 0) return ": none is kept here yet";
  const near = nearestName(typed, ids);
  if (near !== undefined) return `. Did you mean "${near}"?`;
  return typed.length < MIN_BEGINNING
    ? `; a beginning of an id needs at least ${MIN_BEGINNING} characters`
    : `; "orrery runs" lists those there are`;
}
