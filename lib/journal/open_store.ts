import type { RunOwner } from "../core/journal.ts";
import { journalSettings } from "./new_run.ts";
import type { JournalOptions, JournalStore } from "./store.ts";
import { takeIn } from "./late_store.ts";
import type { RunTexts } from "./late_store.ts";
import { sqliteStore } from "./sqlite_store.ts";

/** As {@linkcode JournalOptions}; other processes have to be told who owns a run. */
export interface SqliteJournalOptions extends JournalOptions {
  readonly owner: RunOwner;
  /** Runs that were over before they had a database: it takes them in. Default: none. */
  readonly texts?: RunTexts;
}

/** The rows of a journal in an SQLite file. @throws {JournalError} when it cannot be opened, is none of a journal, or is of a newer version */
export function openStore(path: string, { texts, ...options }: SqliteJournalOptions): JournalStore {
  const store = sqliteStore(path);
  try {
    if (texts !== undefined) takeIn(store, texts, journalSettings(options));
    return store;
  } catch (error) {
    store.close();
    throw error;
  }
}
