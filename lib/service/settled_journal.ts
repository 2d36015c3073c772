import type { Journal } from "../core/journal.ts";

/** A journal that knows what the user said of steps whose end is not known, and where the run was that it has opened. */
export interface SettledJournal extends Journal {
  /** `seq` of the last event when a run was opened last; 0 before the first. */
  readonly before: number;
  /** The run that is opened next does this step again. */
  rerun(key: string): void;
}

/** Keeps the decisions until then: a conversation is opened anew for each of its turns. */
export function settledJournal(journal: Journal): SettledJournal {
  const reruns = new Set<string>();
  let before = 0;
  return {
    get before() {
      return before;
    },
    rerun: (key) => void reruns.add(key),
    open(id) {
      const run = journal.open(id);
      for (const key of reruns) run.settle(key, "rerun");
      reruns.clear();
      before = run.lastSeq;
      return run;
    },
    create: (...given) => journal.create(...given),
    list: (...given) => journal.list(...given),
    read: (id) => journal.read(id),
    events: (...given) => journal.events(...given),
    conversation: (...given) => journal.conversation(...given),
    fork: (...given) => journal.fork(...given),
    branch: (...given) => journal.branch(...given),
    slots: (scope) => journal.slots(scope),
    remove: (id) => journal.remove(id),
    [Symbol.dispose]: () => journal[Symbol.dispose](),
  };
}
