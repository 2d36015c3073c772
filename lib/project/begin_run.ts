import type { RunStart } from "../core/journal.ts";
import { lateStore } from "../journal/late_store.ts";
import { singleRun } from "../journal/single_run.ts";
import type { SingleRun } from "../journal/single_run.ts";
import { HEADER_BYTES, isJournalHeader } from "../journal/sqlite_header.ts";
import type { JournalStore } from "../journal/store.ts";
import type { JournalPlace } from "./journal_place.ts";

/** One of so many runs opens the database at once, so that it takes in the others also where nobody looks at them. */
const RUNS_AN_OPENING = 64;

/**
 * Begins a run in the journal of a project. Where there is one, its database is opened when the run turns out to be no short one.
 *
 * @throws {JournalError} when there is something else in its place, or nothing can be kept there
 */
export async function beginRun(start: RunStart, { path, options }: JournalPlace): Promise<SingleRun> {
  const { texts } = options;
  const open = async (): Promise<JournalStore> => {
    const { openStore }: typeof import("../journal/open_store.ts") = await import(
      "../journal/open_store.ts" as string
    );
    return openStore(path, options);
  };
  const isLate = isJournalHeader(texts.header(HEADER_BYTES)) && Math.random() * RUNS_AN_OPENING >= 1;
  if (!isLate) return singleRun(start, { ...options, store: await open() });
  const store = lateStore(texts);
  return singleRun(start, {
    ...options,
    store,
    // What cannot be opened now is for whoever opens it next; the run is kept as it is.
    onKept: () => void open().then((database) => store.moveTo(database), () => undefined),
  });
}
