import { RunEndedError } from "../core/journal.ts";
import type { SlotScope } from "../core/conversation.ts";
import type {
  ConversationRecord,
  Journal,
  MessageRange,
  RunJournal,
  RunQuery,
  RunStart,
  RunSummary,
  RunTrace,
} from "../core/journal.ts";
import type { Json } from "../core/json.ts";
import { branchRun } from "./branch_run.ts";
import { findRun } from "./find_run.ts";
import { forkRun } from "./fork_run.ts";
import { assertFree, journalSettings, newLease, newRun, newRunId, SIGN_EVERY_MS } from "./new_run.ts";
import type { NewRunOptions } from "./new_run.ts";
import type { JournalOptions, JournalSettings, JournalStore, RunRow } from "./store.ts";
import { noSuchStep } from "./no_such_step.ts";
import { OpenRun, parsed, stepPieces, stepRecord, takenError } from "./open_run.ts";
import type { OpenRunOptions, OwnedRow } from "./open_run.ts";
import { parsedMessages, RunConversation, scopeText, slotValues } from "./run_conversation.ts";
import type { RunConversationOptions } from "./run_conversation.ts";
import { parsedEvents, runStart, runSummary } from "./run_rows.ts";

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
      ...this.#told(row.id),
      row,
      run: runStart(this.#store, row),
      resumedFrom,
      isNew: false,
    });
    this.#open.add(run);
    return run;
  }

  list({ kind, file, ...query }: RunQuery = {}): readonly RunSummary[] {
    const { mask } = this.#settings;
    const masked = {
      ...query,
      ...(kind === undefined ? {} : { kind: mask(kind) }),
      ...(file === undefined ? {} : { file: mask(file) }),
    };
    return this.#store.runs(masked).map((row) => runSummary(row, this.#settings));
  }

  read(id: string): RunTrace {
    const { conversations } = this.#store;
    return this.#store.look(() => {
      const row = findRun(this.#store, id);
      return {
        summary: runSummary(row, this.#settings),
        run: runStart(this.#store, row),
        steps: this.#store.steps(row.id).map((step) =>
          stepRecord(step, stepPieces(this.#store, { id: row.id, row: step }))
        ),
        events: parsedEvents(this.#store.events(row.id)),
        messages: parsedMessages(conversations.messages(row.id, {})),
        checkpoints: conversations.checkpoints(row.id).map(({ n, messages }) => ({ n, messages })),
      };
    });
  }

  conversation(id: string, range: MessageRange = {}): ConversationRecord {
    const { conversations } = this.#store;
    return this.#store.look(() => {
      const row = findRun(this.#store, id);
      const newest = conversations.checkpoint(row.id);
      return {
        summary: runSummary(row, this.#settings),
        run: runStart(this.#store, row),
        checkpoint: newest === undefined ? undefined : {
          n: newest.n,
          messages: newest.messages,
          state: parsed(newest.state),
        },
        messages: parsedMessages(conversations.messages(row.id, range)),
        isOpen: row.ticks > (newest?.ticks ?? 0),
      };
    });
  }

  fork(id: string, { from }: { readonly from: string }): string {
    return this.#copy(id, (copy) => forkRun(this.#store, { ...copy, from: this.#settings.mask(from) }));
  }

  branch(id: string, { turn }: { readonly turn: number }): string {
    return this.#copy(id, (copy) => branchRun(this.#store, { ...copy, turn }));
  }

  slots(scope: SlotScope): Readonly<Record<string, Json>> {
    return slotValues(this.#store.conversations.slots(scopeText(scope, this.#settings.mask)));
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

  #copy(
    id: string,
    write: (copy: { readonly source: RunRow; readonly id: string; readonly now: number }) => void,
  ): string {
    return this.#store.commit(() => {
      const source = findRun(this.#store, id);
      const now = this.#settings.now();
      const copy = newRunId(now);
      write({ source, id: copy, now });
      return copy;
    });
  }

  /** What a run goes on from: of a conversation nothing that lies before its last turn. */
  #told(id: string): Pick<OpenRunOptions, "events" | "conversation"> {
    const newest = this.#store.conversations.checkpoint(id);
    const events = parsedEvents(this.#store.events(id, newest?.events));
    return { events, conversation: this.#conversation({ id, newest, events }) };
  }

  #conversation(options: Pick<RunConversationOptions, "id" | "newest" | "events">): RunConversation {
    return new RunConversation({ ...options, store: this.#store, mask: this.#settings.mask });
  }

  #around(run: () => OpenRun): NewRunOptions {
    return {
      store: this.#store,
      settings: this.#settings,
      conversation: (id) => this.#conversation({ id }),
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
