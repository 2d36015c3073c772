import type { Journal, Secrets } from "../core/core.ts";
import { journalPath, runFiles } from "../host/files/journal_files.ts";
import { isProcessAlive, thisProcess } from "../host/process.ts";
import { sqliteJournal } from "../journal/sqlite_journal.ts";

/**
 * Opens the journal of a project, `.orrery/orrery.db` of its root; it is made when it is not there.
 *
 * @throws {JournalError} that says why it cannot be kept there, and what to do
 *
 * ```ts
 * import { openJournal } from "orrery";
 *
 * const root = Deno.makeTempDirSync();
 * using journal = openJournal(root);
 * console.log(journal.list().length); // => 0
 * ```
 */
export function openJournal(root: string, options: { readonly secrets?: Secrets } = {}): Journal {
  const path = journalPath(root);
  return sqliteJournal(path, {
    ...options,
    texts: runFiles(path),
    owner: thisProcess(),
    isAlive: isProcessAlive,
    every(ms, work) {
      const timer = setInterval(work, ms);
      return () => clearInterval(timer);
    },
  });
}
