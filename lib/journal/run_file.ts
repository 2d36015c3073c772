// All rows of one run as a text: what is kept of a run that was over before a database was opened for it.

import type { FileRow, JournalSettings, JournalStore, PiecesRow, RunRow, StepRow } from "./store.ts";
import { isHeld } from "./new_run.ts";
import { stepPieces } from "./open_run.ts";

/** What stores have of one run. */
export interface RunRows {
  readonly row: RunRow;
  readonly input: string;
  readonly files: readonly FileRow[];
  readonly steps: readonly StepRow[];
  readonly pieces: readonly PiecesRow[];
  readonly events: readonly string[];
}

/** Texts of runs by id, wherever they are. */
export interface RunTexts {
  list(): readonly { readonly id: string; readonly text: string }[];
  remove(id: string): void;
}

/** Version 1 had what a model had said before its end as one piece in the row of the step. */
const VERSION = 2;

type RowsOfVersion1 = Omit<RunRows, "pieces" | "steps"> & {
  readonly steps: readonly (StepRow & { readonly prefix?: string })[];
};

/** The rows of a run that the store has. */
export function rowsOf(store: JournalStore, id: string): RunRows | undefined {
  const row = store.run(id);
  if (row === undefined) return undefined;
  const steps = [...store.steps(id)];
  return {
    row,
    input: store.input(id),
    files: [...store.files(id)],
    steps,
    pieces: steps.flatMap((step) =>
      stepPieces(store, { id, row: step }).map((pieces) => ({ key: step.key, pieces }))
    ),
    events: [...store.events(id)],
  };
}

/** Gives rows to a store that has none of the run; inside a commit. */
export function putRows(store: JournalStore, { row, input, files, steps, pieces, events }: RunRows): void {
  store.putRun(row);
  store.putInput(row.id, input);
  for (const file of files) store.addFile(row.id, file);
  for (const step of steps) store.putStep(row.id, step);
  for (const each of pieces) store.addPieces(row.id, each);
  for (const list of events) store.addEvents(row.id, list);
}

/** The rows as a text. */
export function runText(rows: RunRows): string {
  return JSON.stringify({ version: VERSION, ...rows });
}

/** Moves the runs that are kept as texts to the database, but for those whose process goes on; another process may do the same. */
export function takeIn(store: JournalStore, texts: RunTexts, settings: JournalSettings): void {
  const found = texts.list().flatMap(({ text }) => maybeRows(text) ?? []);
  const free = found.filter(({ row: { lease } }) => lease === undefined || !isHeld(lease, settings));
  if (free.length === 0) return;
  store.commit(() => {
    for (const rows of free) if (store.run(rows.row.id) === undefined) putRows(store, rows);
  });
  for (const { row } of free) texts.remove(row.id);
}

/** Undefined for what a newer version, or nobody of this house, has written: it stays where it is. */
function maybeRows(text: string): RunRows | undefined {
  try {
    const { version, ...rows }: RunRows & { readonly version: unknown } = JSON.parse(text);
    return version === VERSION ? rows : version === 1 ? fromVersion1(rows) : undefined;
  } catch {
    return undefined;
  }
}

function fromVersion1(rows: RowsOfVersion1): RunRows {
  const pieces = rows.steps.flatMap(({ key, prefix }) =>
    prefix === undefined ? [] : [{ key, pieces: `[${prefix}]` }]
  );
  return { ...rows, pieces };
}
