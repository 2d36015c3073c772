import type { Journal } from "../core/core.ts";
import { journalOver } from "./journal_over.ts";
import type {
  CheckpointRow,
  ConversationStore,
  FileRow,
  JournalOptions,
  JournalStore,
  LeaseSign,
  MessageRow,
  RunProgress,
  RunRow,
  SlotRow,
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

interface Kept {
  row: RunRow;
  input: string;
  readonly steps: Map<string, StepRow>;
  readonly pieces: Map<string, string[]>;
  readonly events: string[];
  readonly files: FileRow[];
  readonly checkpoints: CheckpointRow[];
  readonly messages: MessageRow[];
}

/** Rows that are gone with the process. What writes them checks first and cannot fail half-way, so nothing is ever taken back. */
export function memoryStore(): JournalStore {
  const runs = new Map<string, Kept>();

  function kept(id: string): Kept {
    const run = runs.get(id);
    if (run === undefined) throw new Error(`The store has no run "${id}"`);
    return run;
  }

  function note(id: string, { token, seenAt, ...progress }: LeaseSign & Partial<RunProgress>): boolean {
    const run = runs.get(id);
    if (run?.row.lease?.token !== token) return false;
    run.row = { ...run.row, ...progress, lease: { ...run.row.lease, seenAt } };
    return true;
  }

  return {
    commit: (work) => work(),
    look: (work) => work(),
    run: (id) => runs.get(id)?.row,
    runs({ limit = Infinity, statuses, kind, file }) {
      const rows = [...runs.values()].map(({ row }) => row).reverse();
      return rows.filter((row) =>
        (statuses === undefined || statuses.includes(row.status)) &&
        (kind === undefined || row.kind === kind) &&
        (file === undefined || row.file === file)
      ).sort((a, b) => b.startedAt - a.startedAt).slice(0, limit);
    },
    idsWith: (beginning) => [...runs.keys()].filter((id) => id.startsWith(beginning)).sort(),
    putRun(row) {
      const run = runs.get(row.id);
      if (run === undefined) {
        runs.set(row.id, {
          row,
          input: "null",
          steps: new Map(),
          pieces: new Map(),
          events: [],
          files: [],
          checkpoints: [],
          messages: [],
        });
      } else run.row = row;
    },
    noteProgress: note,
    noteSeen: note,
    removeRun: (id) => void runs.delete(id),
    input: (id) => kept(id).input,
    putInput: (id, input) => void (kept(id).input = input),
    reclaim: () => undefined,
    step: (id, key) => kept(id).steps.get(key),
    steps: (id) => [...kept(id).steps.values()].sort((a, b) => a.beganTick - b.beganTick),
    putStep: (id, row) => void kept(id).steps.set(row.key, row),
    pieces: (id, key) => kept(id).pieces.get(key) ?? [],
    addPieces(id, { key, pieces: added }) {
      const { pieces } = kept(id);
      const before = pieces.get(key);
      if (before === undefined) pieces.set(key, [added]);
      else before.push(added);
    },
    removePieces: (id, key) => void kept(id).pieces.delete(key),
    events: (id, after = 0) => after === 0 ? kept(id).events : kept(id).events.slice(after),
    eventList: (id, n) => kept(id).events[n - 1],
    eventLists: (id) => kept(id).events.length,
    addEvents: (id, events) => void kept(id).events.push(events),
    files: (id) => kept(id).files,
    addFile: (id, row) => void kept(id).files.push(row),
    conversations: memoryConversations(runs),
    close: () => undefined,
  };
}

function memoryConversations(runs: ReadonlyMap<string, Kept>): ConversationStore {
  const slots = new Map<string, Map<string, SlotRow>>();
  return {
    checkpoint(id, n) {
      const { checkpoints = [] } = runs.get(id) ?? {};
      return n === undefined ? checkpoints.at(-1) : checkpoints[n - 1];
    },
    checkpoints: (id) => runs.get(id)?.checkpoints ?? [],
    addCheckpoint(id, row) {
      const run = runs.get(id);
      run?.checkpoints.push({ ...row, events: run.events.length });
    },
    messages(id, { from = 1, last = Infinity }) {
      const rows = runs.get(id)?.messages ?? []; // their `n` go up from 1 without gaps
      return rows.slice(Math.max(0, from - 1, rows.length - last)).map(({ message }) => message);
    },
    addMessage: (id, row) => void runs.get(id)?.messages.push(row),
    slots: (scope) => [...slots.get(scope)?.values() ?? []],
    putSlot(row) {
      const ofScope = slots.get(row.scope) ?? new Map<string, SlotRow>();
      slots.set(row.scope, ofScope.set(row.name, row));
    },
  };
}
