import type { FileRow, JournalStore, LeaseSign, RunProgress, RunRow, StepRow } from "./store.ts";

interface Kept {
  row: RunRow;
  input: string;
  readonly steps: Map<string, StepRow>;
  readonly pieces: Map<string, string[]>;
  readonly events: string[];
  readonly files: FileRow[];
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
    runs({ limit = Infinity, status }) {
      const rows = [...runs.values()].map(({ row }) => row).reverse();
      return rows.filter((row) => status === undefined || row.status === status)
        .sort((a, b) => b.startedAt - a.startedAt).slice(0, limit);
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
    events: (id) => kept(id).events,
    addEvents: (id, events) => void kept(id).events.push(events),
    files: (id) => kept(id).files,
    addFile: (id, row) => void kept(id).files.push(row),
    close: () => undefined,
  };
}
