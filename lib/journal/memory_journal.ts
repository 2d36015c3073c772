import type { Journal } from "../core/core.ts";
import { journalOver } from "./journal_over.ts";
import { sqliteStore } from "./sqlite_store.ts";
import type { JournalOptions, JournalStore } from "./store.ts";

/**
 * A journal that is gone with the process (`--ephemeral`).
 *
 * ```ts
 * import { createCatalog, memoryJournal, runCalls } from "orrery";
 *
 * const journal = memoryJournal();
 * const run = journal.create({ kind: "calls", input: null });
 * const catalog = createCatalog([{ name: "Hello", description: "Greets.", run: () => "hello" }]);
 * for await (const _event of runCalls(["!!!GADGET_START:Hello:h\n"], { catalog, journal: run }));
 * console.log(journal.read(run.id).steps.map(({ key, status }) => `${key} ${status}`)); // => [ "call:h finished" ]
 * ```
 */
export function memoryJournal(options: JournalOptions = {}): Journal {
  return journalOver(memoryStore(), options);
}

/** Rows that are gone with the process: journals of one store share it, and none of them closes it for the others. */
export function memoryStore(): JournalStore {
  return { ...sqliteStore(":memory:"), close: () => undefined };
}
