// A short run is over before SQLite would be loaded. Until there is a database, every commit writes all rows of the run as one text;
// whoever opens the database next takes it in (`takeIn`).

import type {
  CheckpointRow,
  ConversationStore,
  FileRow,
  JournalSettings,
  JournalStore,
  LeaseSign,
  MessageRow,
  PiecesRow,
  RunProgress,
  RunRow,
  RunStore,
  SlotRow,
  StepRow,
} from "./store.ts";
import { isHeld } from "./new_run.ts";
import { stepPieces } from "./open_run.ts";

/** Where the text of a run is kept until then. */
export interface RunText {
  /** On the disk on return; when it throws, the text of before is there. */
  write(id: string, text: string): void;
  remove(id: string): void;
}

/** A store for one run. */
export interface LateStore extends RunStore {
  /** The database was opened: it has the rows from now on, unless it cannot take them, and is closed with this store. */
  moveTo(database: JournalStore): void;
}

/** A store for a new run, which keeps its text. */
export function lateStore(text: RunText): LateStore {
  let store = memoryStore();
  let id: string | undefined;
  let isMoved = false;
  let isClosed = false;

  const rows = (): RunRows | undefined => id === undefined ? undefined : rowsOf(store, id);

  function commit<Result>(work: () => Result): Result {
    if (isMoved) return store.commit(work);
    const before = rows();
    try {
      const result = work();
      const now = rows();
      if (now !== undefined) text.write(now.row.id, runText(now));
      return result;
    } catch (error) {
      store = memoryStore();
      if (before !== undefined) putRows(store, before);
      throw error;
    }
  }

  return {
    commit,
    run: (run) => store.run(run),
    putRun(row) {
      id = row.id;
      store.putRun(row);
    },
    noteProgress: (run, progress) => store.noteProgress(run, progress),
    noteSeen: (run, sign) => store.noteSeen(run, sign),
    putInput: (run, input) => store.putInput(run, input),
    step: (run, key) => store.step(run, key),
    putStep: (run, row) => store.putStep(run, row),
    pieces: (run, key) => store.pieces(run, key),
    addPieces: (run, row) => store.addPieces(run, row),
    removePieces: (run, key) => store.removePieces(run, key),
    addEvents: (run, events) => store.addEvents(run, events),
    addFile: (run, file) => store.addFile(run, file),
    close() {
      isClosed = true;
      store.close();
    },
    moveTo(database) {
      const known = rows();
      if (isClosed || known === undefined) return database.close();
      try {
        database.commit(() => putRows(database, known));
      } catch { // The text goes on to be all there is.
        return database.close();
      }
      store = database;
      isMoved = true;
      text.remove(known.row.id);
    },
  };
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

/** What stores have of one run. */
export interface RunRows {
  readonly row: RunRow;
  readonly input: string;
  readonly files: readonly FileRow[];
  readonly steps: readonly StepRow[];
  readonly pieces: readonly PiecesRow[];
  readonly events: readonly string[];
}

/** Texts of runs by id, wherever they are. */
export interface RunTexts {
  list(): readonly { readonly id: string; readonly text: string }[];
  remove(id: string): void;
}

/** Version 1 had what a model had said before its end as one piece in the row of the step. */
const TEXT_VERSION = 2;

type RowsOfVersion1 = Omit<RunRows, "pieces" | "steps"> & {
  readonly steps: readonly (StepRow & { readonly prefix?: string })[];
};

/** The rows of a run that the store has. */
export function rowsOf(store: JournalStore, id: string): RunRows | undefined {
  const row = store.run(id);
  if (row === undefined) return undefined;
  const steps = [...store.steps(id)];
  return {
    row,
    input: store.input(id),
    files: [...store.files(id)],
    steps,
    pieces: steps.flatMap((step) =>
      stepPieces(store, { id, row: step }).map((pieces) => ({ key: step.key, pieces }))
    ),
    events: [...store.events(id)],
  };
}

/** Gives rows to a store that has none of the run; inside a commit. */
export function putRows(store: JournalStore, { row, input, files, steps, pieces, events }: RunRows): void {
  store.putRun(row);
  store.putInput(row.id, input);
  for (const file of files) store.addFile(row.id, file);
  for (const step of steps) store.putStep(row.id, step);
  for (const each of pieces) store.addPieces(row.id, each);
  for (const list of events) store.addEvents(row.id, list);
}

/** The rows as a text. */
export function runText(rows: RunRows): string {
  return JSON.stringify({ version: TEXT_VERSION, ...rows });
}

/** Moves the runs that are kept as texts to the database, but for those whose process goes on; another process may do the same. */
export function takeIn(store: JournalStore, texts: RunTexts, settings: JournalSettings): void {
  const found = texts.list().flatMap(({ text }) => maybeRows(text) ?? []);
  const free = found.filter(({ row: { lease } }) => lease === undefined || !isHeld(lease, settings));
  if (free.length === 0) return;
  store.commit(() => {
    for (const rows of free) if (store.run(rows.row.id) === undefined) putRows(store, rows);
  });
  for (const { row } of free) texts.remove(row.id);
}

/** Undefined for what a newer version, or nobody of this house, has written: it stays where it is. */
function maybeRows(text: string): RunRows | undefined {
  try {
    const { version, ...rows }: RunRows & { readonly version: unknown } = JSON.parse(text);
    return version === TEXT_VERSION ? rows : version === 1 ? fromVersion1(rows) : undefined;
  } catch {
    return undefined;
  }
}

function fromVersion1(rows: RowsOfVersion1): RunRows {
  const pieces = rows.steps.flatMap(({ key, prefix }) =>
    prefix === undefined ? [] : [{ key, pieces: `[${prefix}]` }]
  );
  return { ...rows, pieces };
}

/** "Orry", in the header of the file: what tells a journal from any other database (sqlite.org/fileformat2.html 1.3.14). */
export const APPLICATION_ID = 0x4f727279;
/**
 * Of the tables. 2: what a model has said before its end is in `pieces`, no longer whole in `steps.prefix`. 3: conversations, and runs by
 * kind and by file.
 */
export const VERSION = 3;

/** How much of the file {@linkcode isJournalHeader} looks at. */
export const HEADER_BYTES = 72;

/** Whether a file that begins so is a journal of this version; one that was made or brought up to it a moment ago may not say so yet. */
export function isJournalHeader(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER_BYTES) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const isSqlite = new TextDecoder().decode(bytes.subarray(0, 16)) === "SQLite format 3\0";
  return isSqlite && view.getUint32(60) === VERSION && view.getUint32(68) === APPLICATION_ID;
}
