import type { Journal, RunOwner } from "../core/journal.ts";
import { journalOver } from "./journal_over.ts";
import type { JournalOptions } from "./journal_options.ts";
import { sqliteStore } from "./sqlite_store.ts";

/** As {@linkcode JournalOptions}; other processes have to be told who owns a run. */
export interface SqliteJournalOptions extends JournalOptions {
  readonly owner: RunOwner;
}

/**
 * A journal in an SQLite file, which is made when it is not there; its folder has to be. Several processes may use it at once.
 *
 * @throws {JournalError} when the file cannot be opened, is none of a journal, or is of a newer version.
 */
export function sqliteJournal(path: string, options: SqliteJournalOptions): Journal {
  return journalOver(sqliteStore(path), options);
}
