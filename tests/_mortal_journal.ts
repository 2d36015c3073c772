import type { RunJournal } from "../mod.ts";

/** A journal whose process dies at its `n`th operation, before or after it was done, and which answers nothing from then on. */
export function mortalJournal(
  journal: RunJournal,
  { n, isDone }: { readonly n: number; readonly isDone: boolean },
): RunJournal & { died(): boolean } {
  let left = n;
  let died = false;
  const operation = <T>(work: () => T): T => {
    if (died) throw new Error("killed");
    if (--left > 0) return work();
    died = true;
    if (isDone) work();
    throw new Error("killed");
  };
  return {
    id: journal.id,
    get status() {
      return journal.status;
    },
    run: journal.run,
    checkpoint: journal.checkpoint,
    events: journal.events,
    lastSeq: journal.lastSeq,
    lastAt: journal.lastAt,
    usage: journal.usage,
    resumedFrom: journal.resumedFrom,
    begin: (step) => operation(() => journal.begin(step)),
    finish: (key, outcome) => operation(() => journal.finish(key, outcome)),
    end: (key, outcome) => operation(() => journal.end(key, outcome)),
    commit: () => operation(() => journal.commit()),
    prefix: (key, piece) => operation(() => journal.prefix(key, piece)),
    tell: (event) => died ? undefined : journal.tell(event),
    file: (file) => operation(() => journal.file(file)),
    save: (saved) => died ? undefined : journal.save(saved),
    messages: (options) => journal.messages(options),
    slots: (scope) => journal.slots(scope),
    settle: (key, decision) => journal.settle(key, decision),
    release: (status, usage) => operation(() => journal.release(status, usage)),
    died: () => died,
  };
}
