import { StepNotFoundError } from "../core/journal.ts";
import type { JournalStatus, RunJournal, RunStart } from "../core/journal.ts";
import { journalSettings } from "./journal_options.ts";
import type { JournalOptions } from "./journal_options.ts";
import { SIGN_EVERY_MS } from "./lease.ts";
import { newRun } from "./new_run.ts";
import type { OpenRun } from "./open_run.ts";
import type { RunStore } from "./store.ts";

/** A run with a store of its own. */
export interface SingleRun extends Disposable {
  readonly run: RunJournal;
  /** `running` until its release. */
  readonly status: JournalStatus;
}

/** How to keep it. */
export interface SingleRunOptions extends JournalOptions {
  readonly store: RunStore;
  /** It goes on after its first commit. */
  readonly onKept?: () => void;
}

/**
 * Begins a run as `journalOver(store).create(start, { isDeferred: true })` does, without what lists, reads and resumes runs. Disposing of
 * it closes the store; a run that is not released by then is `stopped`.
 */
export function singleRun(start: RunStart, { store, onKept, ...options }: SingleRunOptions): SingleRun {
  const settings = journalSettings(options);
  let stopSigns: (() => void) | undefined;
  let isOver = false; // also when another process has taken it
  const run: OpenRun = newRun(start, {
    store,
    settings,
    noSuchStep: (key) => new StepNotFoundError(`Run "${run.id}" has no step "${key}"`),
    onKept() {
      stopSigns = settings.every(SIGN_EVERY_MS, () => sign(run));
      onKept?.();
    },
    onRelease() {
      isOver = true;
      stopSigns?.();
    },
  });
  return {
    run,
    get status() {
      return run.status;
    },
    [Symbol.dispose]() {
      try {
        if (!isOver) run.release("stopped");
      } finally {
        stopSigns?.();
        store.close();
      }
    },
  };
}

function sign(run: OpenRun): void {
  try {
    run.sign();
  } catch { /* A store that cannot be written says so at the next commit, where somebody hears it. */ }
}
