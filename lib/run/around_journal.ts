import type { RunJournal } from "../core/journal.ts";

/** A journal that does some things in its own way, and everything else as the one inside. */
export function aroundJournal(inner: RunJournal, own: Partial<Omit<RunJournal, "status">>): RunJournal {
  return {
    id: inner.id,
    get status() {
      return inner.status;
    },
    run: inner.run,
    checkpoint: inner.checkpoint,
    events: inner.events,
    lastSeq: inner.lastSeq,
    lastAt: inner.lastAt,
    usage: inner.usage,
    resumedFrom: inner.resumedFrom,
    begin: (step, options) => inner.begin(step, options),
    finish: (key, outcome) => inner.finish(key, outcome),
    end: (key, outcome) => inner.end(key, outcome),
    commit: () => inner.commit(),
    prefix: (key, piece) => inner.prefix(key, piece),
    tell: (event) => inner.tell(event),
    file: (stored) => inner.file(stored),
    save: (saved) => inner.save(saved),
    messages: (options) => inner.messages(options),
    slots: (scope) => inner.slots(scope),
    settle: (key, decision) => inner.settle(key, decision),
    release: (status, usage) => inner.release(status, usage),
    ...own,
  };
}
