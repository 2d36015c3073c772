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
  type StepOutcome,
  turnKey,
  withoutMedia,
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
  type OpenRun,
  openRun,
  type OpenRunOptions,
  type OwnedRow,
  parsed,
  parsedOutcome,
  stepPieces,
  stepRecord,
  takenError,
} from "./open_run.ts";
import {
  parsedMessages,
  type RunConversation,
  runConversation,
  type RunConversationOptions,
  scopeText,
  slotValues,
} from "./run_conversation.ts";
import type { JournalOptions, JournalStore, RowQuery, RunRow, StepRow } from "./store.ts";

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

/** The journal that keeps its rows in a store; what is true of every journal is here. */
export function journalOver(store: JournalStore, options: JournalOptions = {}): Journal {
  const settings = journalSettings(options);
  const { mask } = settings;
  const { conversations } = store;
  const held = new Set<OpenRun>();
  let stopSigns: (() => void) | undefined;

  function create(start: RunStart): RunJournal {
    const run: OpenRun = newRun(start, around(() => run));
    if (store.run(run.id) !== undefined) throw takenError(run.id);
    run.commit();
    held.add(run);
    giveSigns();
    return run;
  }

  function open(id: string): RunJournal {
    const { row, resumedFrom } = store.commit(() => {
      const row = findRun(store, id);
      if (row.status === "done" || row.status === "failed") throw endedError(row);
      const lease = newLease(row, settings);
      const mine: OwnedRow = { ...row, status: "running", updatedAt: settings.now(), lease };
      store.putRun(mine);
      return { row: mine, resumedFrom: row.status };
    });
    giveSigns();
    const run: OpenRun = openRun({
      ...around(() => run),
      ...told(row.id),
      row,
      run: runStart(store, row),
      resumedFrom,
      isNew: false,
    });
    held.add(run);
    return run;
  }

  function list({ kind, file, status, standing, limit = Infinity }: RunQuery = {}): readonly RunSummary[] {
    const statuses = statusesOf({ status, standing });
    const query: RowQuery = {
      ...(kind === undefined ? {} : { kind: mask(kind) }),
      ...(file === undefined ? {} : { file: mask(file) }),
      statuses,
    };
    // Whose owner has died the store does not know: it gives more until enough of them stand as they should.
    for (let most = limit;; most *= 2) {
      const rows = store.runs(most === Infinity ? query : { ...query, limit: most });
      const all = rows.map(summary);
      const wanted = standing === undefined ? all : all.filter((run) => standingOf(run) === standing);
      if (wanted.length >= limit || rows.length < most) return wanted.slice(0, limit);
    }
  }

  function read(id: string): RunTrace {
    return store.look(() => {
      const row = findRun(store, id);
      return {
        summary: summary(row),
        run: withoutMedia(runStart(store, row)),
        steps: store.steps(row.id).map((step) =>
          withoutMedia(stepRecord(step, stepPieces(store, { id: row.id, row: step })))
        ),
        events: parsedEvents(store.events(row.id)),
        messages: parsedMessages(conversations.messages(row.id, {})),
        checkpoints: conversations.checkpoints(row.id).map(({ n, messages }) => ({ n, messages })),
      };
    });
  }

  function summary(row: RunRow): RunSummary {
    const summary = runSummary(row, settings);
    if (row.status !== "stopped") return summary;
    const list = store.eventList(row.id, store.eventLists(row.id));
    const last = list === undefined ? undefined : parsedEvents([list]).at(-1);
    return last?.type === "run-end" && last.status === "failed" ? { ...summary, hasFailed: true } : summary;
  }

  function events(id: string, range: EventRange = {}): readonly RunEvent[] {
    return store.look(() => eventsBehind(store, findRun(store, id).id, range));
  }

  function conversation(id: string, range: MessageRange = {}): ConversationRecord {
    return store.look(() => {
      const row = findRun(store, id);
      const newest = conversations.checkpoint(row.id);
      const turn = store.step(row.id, turnKey((newest?.n ?? 0) + 1));
      const isKept = turn === undefined || turn.outcome !== undefined; // else nothing can come of it: it has not begun
      const isOpen = isKept && row.ticks > (newest?.ticks ?? 0);
      const said = isOpen ? maybeSaid(turn) : undefined;
      return {
        summary: runSummary(row, settings),
        run: runStart(store, row),
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

  function outcome(id: string, key: string): StepOutcome | undefined {
    const text = store.look(() => store.step(findRun(store, id).id, mask(key)))?.outcome;
    return text === undefined ? undefined : parsedOutcome(text);
  }

  function fork(id: string, { from }: { readonly from: string }): string {
    return copy(id, (copy) => forkRun(store, mask(from), copy));
  }

  function branch(id: string, { turn }: { readonly turn: number }): string {
    return copy(id, (copy) => branchRun(store, turn, copy));
  }

  function slots(scope: SlotScope): Readonly<Record<string, Json>> {
    return slotValues(conversations.slots(scopeText(scope, mask)));
  }

  function remove(id: string): void {
    store.commit(() => {
      const row = findRun(store, id);
      assertFree(row, settings);
      store.removeRun(row.id);
    });
    store.reclaim();
  }

  function dispose(): void {
    const problems: unknown[] = [];
    for (const run of [...held]) {
      try {
        run.release("stopped");
      } catch (problem) {
        problems.push(problem);
      }
    }
    stopSigns?.();
    store.close();
    if (problems.length > 0) throw problems[0];
  }

  function copy(
    id: string,
    write: (copy: CopyOptions) => void,
  ): string {
    return store.commit(() => {
      const source = findRun(store, id);
      const now = settings.now();
      const copy = newRunId(now);
      write({ source, id: copy, now });
      return copy;
    });
  }

  /** What a run goes on from: of a conversation nothing that lies before its last turn. */
  function told(id: string): Pick<OpenRunOptions, "events" | "conversation"> {
    const newest = conversations.checkpoint(id);
    const events = parsedEvents(store.events(id, newest?.events));
    return { events, conversation: conversationOf({ id, newest, events }) };
  }

  function conversationOf(
    options: Pick<RunConversationOptions, "id" | "newest" | "events">,
  ): RunConversation {
    return runConversation({ ...options, store, mask });
  }

  function around(run: () => OpenRun): NewRunOptions {
    return {
      store,
      settings,
      conversation: (id) => conversationOf({ id }),
      onRelease: () => released(run()),
    };
  }

  function giveSigns(): void {
    stopSigns ??= settings.every(SIGN_EVERY_MS, sign);
  }

  function released(run: OpenRun): void {
    held.delete(run);
    if (held.size > 0) return;
    stopSigns?.();
    stopSigns = undefined;
  }

  function sign(): void {
    for (const run of [...held]) {
      try {
        run.sign();
      } catch { /* A store that cannot be written says so at the next commit, where somebody hears it. */ }
    }
  }

  return {
    create,
    open,
    list,
    read,
    events,
    conversation,
    outcome,
    fork,
    branch,
    slots,
    remove,
    [Symbol.dispose]: dispose,
  };
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
