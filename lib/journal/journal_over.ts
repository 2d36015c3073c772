import { RunEndedError } from "../core/journal.ts";
import type { Journal, JournalStatus, RunJournal, RunStart, RunSummary } from "../core/journal.ts";
import { findRun } from "./find_run.ts";
import { forkRun } from "./fork_run.ts";
import { journalSettings } from "./journal_options.ts";
import type { JournalOptions, JournalSettings } from "./journal_options.ts";
import { assertFree, newLease, SIGN_EVERY_MS } from "./lease.ts";
import { OpenRun } from "./open_run.ts";
import type { OpenRunOptions } from "./open_run.ts";
import { newRunId } from "./run_id.ts";
import { runEvents, runStart, runSummary, startOf } from "./run_rows.ts";
import { stepRecord } from "./step_rows.ts";
import type { JournalStore, Lease, RunRow } from "./store.ts";

type OwnedRow = RunRow & { readonly lease: Lease };

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
    const { kind, file, files = [], input } = this.#settings.mask(start);
    const now = this.#settings.now();
    const id = this.#newId(start.id);
    const row: OwnedRow = {
      id,
      kind,
      file,
      status: "running",
      startedAt: now,
      updatedAt: now,
      usage: JSON.stringify({ input: 0, output: 0 }),
      steps: 0,
      ticks: 0,
      elapsedMs: 0,
      lease: newLease({ id, lease: undefined }, this.#settings),
    };
    const run = this.#opened(row, {
      run: startOf(row, { input, files }),
      events: [],
      resumedFrom: undefined,
      create: () => {
        if (this.#store.run(id) !== undefined) throw takenError(id);
        this.#store.putRun(row);
        this.#store.putInput(id, JSON.stringify(input));
        for (const stored of files) this.#store.addFile(id, stored);
      },
    });
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
    return this.#opened(row, {
      run: runStart(this.#store, row),
      events: runEvents(this.#store, row.id),
      resumedFrom,
    });
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
        steps: this.#store.steps(row.id).map(stepRecord),
        events: runEvents(this.#store, row.id),
      };
    });
  }

  fork(id: string, { from }: { readonly from: string }): string {
    return this.#store.commit(() => {
      const source = findRun(this.#store, id);
      const fork = this.#newId(undefined);
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

  /** @throws {Error} when the wanted one is taken, or is none. */
  #newId(wanted: string | undefined): string {
    if (wanted === undefined) return newRunId(this.#settings.now());
    if (!/^[\w.:@-]{1,100}$/.test(wanted)) {
      throw new TypeError(
        `The id of a run has 1 to 100 letters, digits and "_.:@-"; found ${
          JSON.stringify(wanted.slice(0, 120))
        }`,
      );
    }
    if (this.#store.run(wanted) === undefined) return wanted;
    throw takenError(wanted);
  }

  #opened(row: OwnedRow, known: Pick<OpenRunOptions, "run" | "events" | "resumedFrom" | "create">): OpenRun {
    const run: OpenRun = new OpenRun({
      ...known,
      store: this.#store,
      settings: this.#settings,
      row,
      token: row.lease.token,
      onKept: () => this.#giveSigns(),
      onRelease: () => this.#closed(run),
    });
    this.#open.add(run);
    return run;
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

function takenError(id: string): Error {
  return new Error(`There is a run "${id}" already: open it, or choose another id`);
}

function endedError({ id, status }: RunRow): RunEndedError {
  return new RunEndedError(
    `Run "${id}" ${status === "done" ? "is done" : "has failed"}, so it cannot go on: ` +
      `"orrery fork ${id} --from KEY" makes a new run of what came before one of its steps`,
  );
}
