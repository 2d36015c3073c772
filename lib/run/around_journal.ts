import type { RunJournal } from "../core/journal.ts";

/** A journal that does some things in its own way, and everything else as the one inside. */
export function aroundJournal(inner: RunJournal, own: Partial<RunJournal>): RunJournal {
  return {
    id: inner.id,
    run: inner.run,
    events: inner.events,
    resumedFrom: inner.resumedFrom,
    begin: (step, options) => inner.begin(step, options),
    finish: (key, outcome) => inner.finish(key, outcome),
    end: (key, outcome) => inner.end(key, outcome),
    commit: () => inner.commit(),
    prefix: (key, piece) => inner.prefix(key, piece),
    tell: (event) => inner.tell(event),
    file: (stored) => inner.file(stored),
    settle: (key, decision) => inner.settle(key, decision),
    release: (status, usage) => inner.release(status, usage),
    ...own,
  };
}
