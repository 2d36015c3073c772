import {
  type ConversationRecord,
  type EventRange,
  isJsonObject,
  type Journal,
  type JournalStatus,
  type Json,
  type MessageRange,
  RunEndedError,
  type RunEvent,
  type RunJournal,
  type RunQuery,
  type RunStart,
  type RunSummary,
  type RunTrace,
  type SlotScope,
  turnKey,
} from "../core/core.ts";
import { branchRun, type CopyOptions, forkRun } from "./copy_run.ts";
import { findRun } from "./find.ts";
import {
  assertFree,
  journalSettings,
  newLease,
  newRun,
  newRunId,
  type NewRunOptions,
  parsedEvents,
  runStart,
  runSummary,
  SIGN_EVERY_MS,
} from "./new_run.ts";
import {
  OpenRun,
  type OpenRunOptions,
  type OwnedRow,
  parsed,
  stepPieces,
  stepRecord,
  takenError,
} from "./open_run.ts";
import {
  parsedMessages,
  RunConversation,
  type RunConversationOptions,
  scopeText,
  slotValues,
} from "./run_conversation.ts";
import type { JournalOptions, JournalSettings, JournalStore, RowQuery, RunRow, StepRow } from "./store.ts";

/** The journal that keeps its rows in a store; what is true of every journal is here. */
export function journalOver(store: JournalStore, options: JournalOptions = {}): Journal {
  return new StoreJournal(store, journalSettings(options));
}

/** The kept ones among which those that are wanted are. */
function statusesOf(
  { status, standing }: { readonly [field in "status" | "standing"]: JournalStatus | undefined },
): readonly JournalStatus[] | undefined {
  const among = standing === "stopped" ? STOPPED : standing === undefined ? undefined : [standing];
  if (status === undefined) return among;
  return among === undefined ? [status] : among.filter((each) => each === status);
}

const STOPPED: readonly JournalStatus[] = ["stopped", "running"];

function standingOf({ status, owned }: RunSummary): JournalStatus {
  return status === "running" && !owned ? "stopped" : status;
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

  create(start: RunStart): RunJournal {
    const run: OpenRun = newRun(start, this.#around(() => run));
    if (this.#store.run(run.id) !== undefined) throw takenError(run.id);
    run.commit();
    this.#open.add(run);
    this.#giveSigns();
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

  list({ kind, file, status, standing, limit = Infinity }: RunQuery = {}): readonly RunSummary[] {
    const { mask } = this.#settings;
    const statuses = statusesOf({ status, standing });
    const query: RowQuery = {
      ...(kind === undefined ? {} : { kind: mask(kind) }),
      ...(file === undefined ? {} : { file: mask(file) }),
      statuses,
    };
    // Whose owner has died the store does not know: it gives more until enough of them stand as they should.
    for (let most = limit;; most *= 2) {
      const rows = this.#store.runs(most === Infinity ? query : { ...query, limit: most });
      const all = rows.map((row) => this.#summary(row));
      const wanted = standing === undefined ? all : all.filter((run) => standingOf(run) === standing);
      if (wanted.length >= limit || rows.length < most) return wanted.slice(0, limit);
    }
  }

  read(id: string): RunTrace {
    const { conversations } = this.#store;
    return this.#store.look(() => {
      const row = findRun(this.#store, id);
      return {
        summary: this.#summary(row),
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

  #summary(row: RunRow): RunSummary {
    const summary = runSummary(row, this.#settings);
    if (row.status !== "stopped") return summary;
    const list = this.#store.eventList(row.id, this.#store.eventLists(row.id));
    const last = list === undefined ? undefined : parsedEvents([list]).at(-1);
    return last?.type === "run-end" && last.status === "failed" ? { ...summary, hasFailed: true } : summary;
  }

  events(id: string, range: EventRange = {}): readonly RunEvent[] {
    return this.#store.look(() => eventsBehind(this.#store, findRun(this.#store, id).id, range));
  }

  conversation(id: string, range: MessageRange = {}): ConversationRecord {
    const { conversations } = this.#store;
    return this.#store.look(() => {
      const row = findRun(this.#store, id);
      const newest = conversations.checkpoint(row.id);
      const turn = this.#store.step(row.id, turnKey((newest?.n ?? 0) + 1));
      const isKept = turn === undefined || turn.outcome !== undefined; // else nothing can come of it: it has not begun
      const isOpen = isKept && row.ticks > (newest?.ticks ?? 0);
      const said = isOpen ? maybeSaid(turn) : undefined;
      return {
        summary: runSummary(row, this.#settings),
        run: runStart(this.#store, row),
        checkpoint: newest && {
          n: newest.n,
          messages: newest.messages,
          state: parsed(newest.state),
        },
        messages: parsedMessages(conversations.messages(row.id, range)),
        isOpen,
        said,
      };
    });
  }

  fork(id: string, { from }: { readonly from: string }): string {
    return this.#copy(id, (copy) => forkRun(this.#store, this.#settings.mask(from), copy));
  }

  branch(id: string, { turn }: { readonly turn: number }): string {
    return this.#copy(id, (copy) => branchRun(this.#store, turn, copy));
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
    write: (copy: CopyOptions) => void,
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
      `"orrery fork ${id} --from KEY" makes a new run of what came before one of its steps` +
      (status === "done" ? `; "orrery resume ${id} -o FILE" writes its value` : ""),
  );
}

/** Of the step that a turn begins with. */
function maybeSaid(row: StepRow | undefined): string | undefined {
  if (row?.outcome === undefined) return undefined;
  const outcome = parsed(row.outcome);
  const start = isJsonObject(outcome) ? outcome.ok : undefined;
  const text = start !== undefined && isJsonObject(start) ? start.text : undefined;
  return typeof text === "string" ? text : undefined;
}

/** What it is read from. */
type EventStore = Pick<JournalStore, "eventList" | "eventLists">;

/** The events of a run behind a place, as far as the bounds go. The place is found by halves: of all lists a dozen are looked at. */
function eventsBehind(
  store: EventStore,
  id: string,
  { after = 0, limit = Infinity, maxBytes = Infinity }: EventRange,
): readonly RunEvent[] {
  const lists = store.eventLists(id);
  const events: RunEvent[] = [];
  let room = maxBytes;
  for (let n = firstBehind(store, { id, after, lists }); n <= lists; n++) {
    if (events.length > 0 && room <= 0) break;
    const text = store.eventList(id, n) ?? "[]";
    for (const event of parsedEvents([text])) {
      if (events.length >= limit) return events;
      if (event.seq > after) events.push(event);
    }
    room -= text.length;
  }
  return events;
}

/** The number of the first list with an event behind the place; one more than there are where none has. */
function firstBehind(
  store: EventStore,
  { id, after, lists }: { readonly id: string; readonly after: number; readonly lists: number },
): number {
  let low = 1;
  let high = after > 0 ? lists + 1 : 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const last = parsedEvents([store.eventList(id, middle) ?? "[]"]).at(-1)?.seq ?? 0;
    if (last > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
