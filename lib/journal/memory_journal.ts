import { type Journal, JournalError } from "../core/core.ts";
import { journalOver } from "./journal_over.ts";
import type {
  CheckpointRow,
  ConversationStore,
  FileRow,
  JournalOptions,
  JournalStore,
  MessageRow,
  RunRow,
  StepRow,
} from "./store.ts";

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

/** All that is kept of a run. */
interface RunRows {
  row: RunRow;
  input: string | undefined;
  readonly steps: Map<string, StepRow>;
  /** By the keys of steps. */
  readonly pieces: Map<string, string[]>;
  readonly events: string[];
  readonly files: FileRow[];
  readonly checkpoints: CheckpointRow[];
  readonly messages: MessageRow[];
}

/** Rows that are gone with the process: journals of one store share it, and none of them closes it for the others. */
export function memoryStore(): JournalStore {
  /** In the order in which they were added. */
  const runs = new Map<string, RunRows>();
  const slots = new Map<string, Map<string, string>>();
  /** How each write of the commit under way is taken back, the last one at the end. */
  let undo: (() => void)[] = [];

  function rowsOf(id: string): RunRows {
    const rows = runs.get(id);
    if (rows === undefined) throw new JournalError(`There is no run ${JSON.stringify(id)} in this journal`);
    return rows;
  }

  function set<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
    const before = map.get(key);
    map.set(key, value);
    undo.push(() => void (before === undefined ? map.delete(key) : map.set(key, before)));
  }

  function add<Row>(rows: Row[], row: Row): void {
    rows.push(row);
    undo.push(() => void rows.pop());
  }

  function putRow(rows: RunRows, row: RunRow): void {
    const before = rows.row;
    rows.row = row;
    undo.push(() => rows.row = before);
  }

  /** Where the run is owned under the token. */
  function note(
    id: string,
    { token, seenAt, ...progress }: Parameters<JournalStore["noteSeen"]>[1],
  ): boolean {
    const rows = runs.get(id);
    const lease = rows?.row.lease;
    if (rows === undefined || lease?.token !== token) return false;
    putRow(rows, { ...rows.row, ...progress, lease: { ...lease, seenAt } });
    return true;
  }

  const conversations: ConversationStore = {
    checkpoint(id, n) {
      const rows = runs.get(id)?.checkpoints;
      return n === undefined ? rows?.at(-1) : rows?.find((row) => row.n === n);
    },
    checkpoints: (id) => (runs.get(id)?.checkpoints ?? []).map(({ state: _state, ...mark }) => mark),
    addCheckpoint(id, row) {
      const { checkpoints, events } = rowsOf(id);
      add(checkpoints, { ...row, events: events.length });
    },
    messages(id, { from = 1, last = Infinity }) {
      const rows = (runs.get(id)?.messages ?? []).filter(({ n }) => n >= from);
      return rows.slice(Math.max(0, rows.length - last)).map(({ message }) => message);
    },
    addMessage: (id, row) => add(rowsOf(id).messages, row),
    slots: (scope) =>
      [...slots.get(scope) ?? []].map(([name, value]) => ({ scope, name, value }))
        .sort((a, b) => a.name < b.name ? -1 : 1),
    putSlot({ scope, name, value }) {
      const own = slots.get(scope) ?? new Map<string, string>();
      slots.set(scope, own);
      set(own, name, value);
    },
  };

  return {
    commit(work) {
      undo = [];
      try {
        return work();
      } catch (error) {
        for (const back of undo.reverse()) back();
        throw error;
      }
    },
    look: (work) => work(),
    run: (id) => runs.get(id)?.row,
    runs({ limit = Infinity, statuses, kind, file }) {
      const rows = [...runs.values()].map(({ row }) => row).filter((row) =>
        (file === undefined || row.file === file) && (kind === undefined || row.kind === kind) &&
        (statuses === undefined || statuses.includes(row.status))
      );
      return rows.reverse().sort((a, b) => b.startedAt - a.startedAt).slice(0, limit);
    },
    idsWith: (beginning) => [...runs.keys()].filter((id) => id.startsWith(beginning)).sort(),
    putRun(row) {
      const rows = runs.get(row.id);
      if (rows !== undefined) return putRow(rows, row);
      set(runs, row.id, {
        row,
        input: undefined,
        steps: new Map(),
        pieces: new Map(),
        events: [],
        files: [],
        checkpoints: [],
        messages: [],
      });
    },
    noteProgress: note,
    noteSeen: note,
    removeRun(id) {
      const rows = runs.get(id);
      if (runs.delete(id) && rows !== undefined) undo.push(() => runs.set(id, rows));
    },
    reclaim: () => undefined,
    input(id) {
      const { input } = rowsOf(id);
      if (input === undefined) throw new JournalError(`Run ${id} is known by its row alone`);
      return input;
    },
    putInput(id, input) {
      const rows = rowsOf(id);
      rows.input = input;
      undo.push(() => rows.input = undefined);
    },
    step: (id, key) => runs.get(id)?.steps.get(key),
    steps: (id) => [...runs.get(id)?.steps.values() ?? []].sort((a, b) => a.beganTick - b.beganTick),
    putStep: (id, row) => set(rowsOf(id).steps, row.key, row),
    pieces: (id, key) => runs.get(id)?.pieces.get(key) ?? [],
    addPieces(id, { key, pieces }) {
      const { pieces: byKey } = rowsOf(id);
      const rows = byKey.get(key) ?? [];
      byKey.set(key, rows);
      add(rows, pieces);
    },
    removePieces(id, key) {
      const { pieces } = rowsOf(id);
      const rows = pieces.get(key);
      if (pieces.delete(key) && rows !== undefined) undo.push(() => pieces.set(key, rows));
    },
    events: (id, after = 0) => runs.get(id)?.events.slice(after) ?? [],
    eventList: (id, n) => runs.get(id)?.events[n - 1],
    eventLists: (id) => runs.get(id)?.events.length ?? 0,
    addEvents: (id, events) => add(rowsOf(id).events, events),
    files: (id) => [...runs.get(id)?.files ?? []],
    addFile: (id, row) => add(rowsOf(id).files, row),
    conversations,
    close: () => undefined,
  };
}
