import type { Journal } from "../core/journal.ts";
import type { Secrets } from "../core/secrets.ts";
import { journalPath } from "../host/journal_folder.ts";
import { isProcessAlive, thisProcess } from "../host/process_alive.ts";
import { sqliteJournal } from "../journal/sqlite_journal.ts";

/**
 * Opens the journal of a project, `.orrery/orrery.db` of its root; it is made when it is not there.
 *
 * @throws {JournalError} that says why it cannot be kept there, and what to do
 */
export function openJournal(root: string, options: { readonly secrets?: Secrets } = {}): Journal {
  return sqliteJournal(journalPath(root), {
    ...options,
    owner: thisProcess(),
    isAlive: isProcessAlive,
    every(ms, work) {
      const timer = setInterval(work, ms);
      return () => clearInterval(timer);
    },
  });
}
