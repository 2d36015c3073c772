import type { Journal } from "../core/journal.ts";

/** A journal that knows what the user said of steps whose end is not known. */
export interface SettledJournal extends Journal {
  /** The run that is opened next does this step again. */
  rerun(key: string): void;
}

/** Keeps the decisions until then: a conversation is opened anew for each of its turns. */
export function settledJournal(journal: Journal): SettledJournal {
  const reruns = new Set<string>();
  return {
    rerun: (key) => void reruns.add(key),
    open(id) {
      const run = journal.open(id);
      for (const key of reruns) run.settle(key, "rerun");
      reruns.clear();
      return run;
    },
    create: (...given) => journal.create(...given),
    list: (...given) => journal.list(...given),
    read: (id) => journal.read(id),
    conversation: (...given) => journal.conversation(...given),
    fork: (...given) => journal.fork(...given),
    branch: (...given) => journal.branch(...given),
    slots: (scope) => journal.slots(scope),
    remove: (id) => journal.remove(id),
    [Symbol.dispose]: () => journal[Symbol.dispose](),
  };
}
