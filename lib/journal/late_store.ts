// A short run is over before SQLite would be loaded. Until there is a database, every commit writes all rows of the run as one text;
// whoever opens the database next takes it in (run_file.ts).

import { memoryStore } from "./memory_store.ts";
import { putRows, rowsOf, runText } from "./run_file.ts";
import type { RunRows } from "./run_file.ts";
import type { JournalStore, RunStore } from "./store.ts";

/** Where the text of a run is kept until then. */
export interface RunText {
  /** On the disk on return; when it throws, the text of before is there. */
  write(id: string, text: string): void;
  remove(id: string): void;
}

/** A store for one run. */
export interface LateStore extends RunStore {
  /** The database was opened: it has the rows from now on, unless it cannot take them, and is closed with this store. */
  moveTo(database: JournalStore): void;
}

/** A store for a new run, which keeps its text. */
export function lateStore(text: RunText): LateStore {
  let store = memoryStore();
  let id: string | undefined;
  let isMoved = false;
  let isClosed = false;

  const rows = (): RunRows | undefined => id === undefined ? undefined : rowsOf(store, id);

  function commit<Result>(work: () => Result): Result {
    if (isMoved) return store.commit(work);
    const before = rows();
    try {
      const result = work();
      const now = rows();
      if (now !== undefined) text.write(now.row.id, runText(now));
      return result;
    } catch (error) {
      store = memoryStore();
      if (before !== undefined) putRows(store, before);
      throw error;
    }
  }

  return {
    commit,
    run: (run) => store.run(run),
    putRun(row) {
      id = row.id;
      store.putRun(row);
    },
    noteProgress: (run, progress) => store.noteProgress(run, progress),
    noteSeen: (run, sign) => store.noteSeen(run, sign),
    putInput: (run, input) => store.putInput(run, input),
    step: (run, key) => store.step(run, key),
    putStep: (run, row) => store.putStep(run, row),
    pieces: (run, key) => store.pieces(run, key),
    addPieces: (run, row) => store.addPieces(run, row),
    removePieces: (run, key) => store.removePieces(run, key),
    addEvents: (run, events) => store.addEvents(run, events),
    addFile: (run, file) => store.addFile(run, file),
    close() {
      isClosed = true;
      store.close();
    },
    moveTo(database) {
      const known = rows();
      if (isClosed || known === undefined) return database.close();
      try {
        database.commit(() => putRows(database, known));
      } catch { // The text goes on to be all there is.
        return database.close();
      }
      store = database;
      isMoved = true;
      text.remove(known.row.id);
    },
  };
}
