import { RunEndedError } from "../core/journal.ts";
import type { Journal, JournalStatus, RunJournal, RunStart, RunSummary } from "../core/journal.ts";
import { findRun } from "./find_run.ts";
import { forkRun } from "./fork_run.ts";
import { assertFree, journalSettings, newLease, newRun, newRunId, SIGN_EVERY_MS } from "./new_run.ts";
import type { NewRunOptions } from "./new_run.ts";
import type { JournalOptions, JournalSettings, JournalStore, RunRow } from "./store.ts";
import { noSuchStep } from "./no_such_step.ts";
import { OpenRun, stepPieces, stepRecord, takenError } from "./open_run.ts";
import type { OwnedRow } from "./open_run.ts";
import { runEvents, runStart, runSummary } from "./run_rows.ts";

/** The journal that keeps its rows in a store; what is true of every journal is here. */
export function journalOver(store: JournalStore, options: JournalOptions = {}): Journal {
  return new StoreJournal(store, journalSettings(options));
}

class StoreJournal implements Journal {
  readonly #store: JournalStore;
  readonly #settings: JournalSettings;
  readonly #open = new Set<OpenRun>();
  #stopSigns: (() => void) | undefined;

  constructor(store: JournalStore, settings: JournalSettings) {
    this.#store = store;
    this.#settings = settings;
  }

  create(start: RunStart, { isDeferred = false }: { readonly isDeferred?: boolean } = {}): RunJournal {
    const run: OpenRun = newRun(start, this.#around(() => run));
    if (start.id !== undefined && this.#store.run(run.id) !== undefined) throw takenError(run.id);
    this.#open.add(run);
    if (!isDeferred) run.commit();
    return run;
  }

  open(id: string): RunJournal {
    const { row, resumedFrom } = this.#store.commit(() => {
      const row = findRun(this.#store, id);
      if (row.status === "done" || row.status === "failed") throw endedError(row);
      const lease = newLease(row, this.#settings);
      const mine: OwnedRow = { ...row, status: "running", updatedAt: this.#settings.now(), lease };
      this.#store.putRun(mine);
      return { row: mine, resumedFrom: row.status };
    });
    this.#giveSigns();
    const run: OpenRun = new OpenRun({
      ...this.#around(() => run),
      row,
      run: runStart(this.#store, row),
      events: runEvents(this.#store, row.id),
      resumedFrom,
      isNew: false,
    });
    this.#open.add(run);
    return run;
  }

  list(options: { readonly limit?: number; readonly status?: JournalStatus } = {}): readonly RunSummary[] {
    return this.#store.runs(options).map((row) => runSummary(row, this.#settings));
  }

  read(id: string): ReturnType<Journal["read"]> {
    return this.#store.look(() => {
      const row = findRun(this.#store, id);
      return {
        summary: runSummary(row, this.#settings),
        run: runStart(this.#store, row),
        steps: this.#store.steps(row.id).map((step) =>
          stepRecord(step, stepPieces(this.#store, { id: row.id, row: step }))
        ),
        events: runEvents(this.#store, row.id),
      };
    });
  }

  fork(id: string, { from }: { readonly from: string }): string {
    return this.#store.commit(() => {
      const source = findRun(this.#store, id);
      const fork = newRunId(this.#settings.now());
      forkRun(this.#store, { source, from: this.#settings.mask(from), id: fork, now: this.#settings.now() });
      return fork;
    });
  }

  remove(id: string): void {
    this.#store.commit(() => {
      const row = findRun(this.#store, id);
      assertFree(row, this.#settings);
      this.#store.removeRun(row.id);
    });
    this.#store.reclaim();
  }

  [Symbol.dispose](): void {
    const problems: unknown[] = [];
    for (const run of [...this.#open]) {
      try {
        run.release("stopped");
      } catch (problem) {
        problems.push(problem);
      }
    }
    this.#stopSigns?.();
    this.#store.close();
    if (problems.length > 0) throw problems[0];
  }

  #around(run: () => OpenRun): NewRunOptions {
    return {
      store: this.#store,
      settings: this.#settings,
      noSuchStep: (key) => noSuchStep(this.#store, { id: run().id, key }),
      onKept: () => this.#giveSigns(),
      onRelease: () => this.#closed(run()),
    };
  }

  #giveSigns(): void {
    this.#stopSigns ??= this.#settings.every(SIGN_EVERY_MS, () => this.#sign());
  }

  #closed(run: OpenRun): void {
    this.#open.delete(run);
    if (this.#open.size > 0) return;
    this.#stopSigns?.();
    this.#stopSigns = undefined;
  }

  #sign(): void {
    for (const run of [...this.#open]) {
      try {
        run.sign();
      } catch { /* A store that cannot be written says so at the next commit, where somebody hears it. */ }
    }
  }
}

function endedError({ id, status }: RunRow): RunEndedError {
  return new RunEndedError(
    `Run "${id}" ${status === "done" ? "is done" : "has failed"}, so it cannot go on: ` +
      `"orrery fork ${id} --from KEY" makes a new run of what came before one of its steps`,
  );
}
