import type { Journal } from "../core/journal.ts";
import { journalOver } from "./journal_over.ts";
import { openStore } from "./open_store.ts";
import type { SqliteJournalOptions } from "./open_store.ts";

export type { SqliteJournalOptions };

/**
 * A journal in an SQLite file, which is made when it is not there; its folder has to be. Several processes may use it at once.
 *
 * @throws {JournalError} when the file cannot be opened, is none of a journal, or is of a newer version.
 */
export function sqliteJournal(path: string, options: SqliteJournalOptions): Journal {
  return journalOver(openStore(path, options), options);
}
