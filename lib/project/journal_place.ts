import type { Secrets } from "../core/secrets.ts";
import { journalPath } from "../host/journal_folder.ts";
import { isProcessAlive, thisProcess } from "../host/process_alive.ts";
import { runFiles } from "../host/run_files.ts";
import type { RunFiles } from "../host/run_files.ts";
import type { SqliteJournalOptions } from "../journal/open_store.ts";

/** Where the journal of a project is, and how this process uses it. */
export interface JournalPlace {
  /** `.orrery/orrery.db` of the project's root; its folder is there. */
  readonly path: string;
  readonly options: SqliteJournalOptions & { readonly texts: RunFiles };
}

/** The journal's place in a project. @throws {JournalError} that says why nothing can be kept there, and what to do */
export function journalPlace(root: string, options: { readonly secrets?: Secrets }): JournalPlace {
  const path = journalPath(root);
  return {
    path,
    options: {
      ...options,
      texts: runFiles(path),
      owner: thisProcess(),
      isAlive: isProcessAlive,
      every(ms, work) {
        const timer = setInterval(work, ms);
        return () => clearInterval(timer);
      },
    },
  };
}
