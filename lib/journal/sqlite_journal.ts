import type { Journal, RunOwner } from "../core/core.ts";
import { journalOver } from "./journal_over.ts";
import { isHeld, journalSettings } from "./new_run.ts";
import { sqliteStore } from "./sqlite_store.ts";
import type {
  FileRow,
  JournalOptions,
  JournalSettings,
  JournalStore,
  PiecesRow,
  RunRow,
  StepRow,
} from "./store.ts";

/** As {@linkcode JournalOptions}; other processes have to be told who owns a run. */
export interface SqliteJournalOptions extends JournalOptions {
  readonly owner: RunOwner;
  /** Runs that earlier versions kept in files of their own: they are taken in. Default: none. */
  readonly texts?: RunTexts;
}

/**
 * A journal in an SQLite file, which is made when it is not there; its folder has to be. Several processes may use it at once.
 *
 * @throws {JournalError} when the file cannot be opened, is none of a journal, or is of a newer version.
 */
export function sqliteJournal(path: string, { texts, ...options }: SqliteJournalOptions): Journal {
  const store = sqliteStore(path);
  try {
    if (texts !== undefined) takeIn(store, texts, journalSettings(options));
  } catch (error) {
    store.close();
    throw error;
  }
  return journalOver(store, options);
}

/** Texts of runs that earlier versions have left, wherever they are. */
export interface RunTexts {
  list(): readonly { readonly id: string; readonly text: string }[];
  remove(id: string): void;
}

/** What the text of a run holds. */
interface RunRows {
  readonly row: RunRow;
  readonly input: string;
  readonly files: readonly FileRow[];
  readonly steps: readonly StepRow[];
  readonly pieces: readonly PiecesRow[];
  readonly events: readonly string[];
}

/** Moves the runs that are kept as texts to the database, but for those whose process goes on; another process may do the same. */
function takeIn(store: JournalStore, texts: RunTexts, settings: JournalSettings): void {
  const free = texts.list().flatMap(({ text }) => maybeRows(text) ?? []).filter(({ row: { lease } }) =>
    lease === undefined || !isHeld(lease, settings)
  );
  if (free.length === 0) return;
  store.commit(() => {
    for (const rows of free) if (store.run(rows.row.id) === undefined) putRows(store, rows);
  });
  for (const { row } of free) texts.remove(row.id);
}

function putRows(store: JournalStore, { row, input, files, steps, pieces, events }: RunRows): void {
  store.putRun(row);
  store.putInput(row.id, input);
  for (const file of files) store.addFile(row.id, file);
  for (const step of steps) store.putStep(row.id, step);
  for (const each of pieces) store.addPieces(row.id, each);
  for (const list of events) store.addEvents(row.id, list);
}

/** Undefined for what a newer version, or nobody of this house, has written: it stays where it is. */
function maybeRows(text: string): RunRows | undefined {
  try {
    const { version, ...rows }: RunRows & { readonly version: unknown } = JSON.parse(text);
    return version === 2 ? rows : version === 1 ? fromVersion1(rows) : undefined;
  } catch {
    return undefined;
  }
}

/** It had what a model had said before its end as one piece in the row of the step. */
function fromVersion1(
  rows: Omit<RunRows, "steps"> & {
    readonly steps: readonly (StepRow & { readonly prefix?: string })[];
  },
): RunRows {
  const pieces = rows.steps.flatMap(({ key, prefix }) =>
    prefix === undefined ? [] : [{ key, pieces: `[${prefix}]` }]
  );
  return { ...rows, pieces };
}
