// What the journal needs of a place that keeps rows: memory and SQLite. JSON is text here, so that both keep exactly the same.

import type {
  Clock,
  JournalStatus,
  MessageRange,
  RunOwner,
  RunQuery,
  Secrets,
  StepKind,
} from "../core/core.ts";

/** The claim of a process on a run. */
export interface Lease extends RunOwner {
  /** Of this one claim: a process that has lost it and does not know finds another token. */
  readonly token: string;
  /** ms since 1970. */
  readonly since: number;
  /** ms since 1970: the last sign of life. */
  readonly seenAt: number;
}

/** A sign of life of a run's owner. */
export type LeaseSign = Pick<Lease, "token" | "seenAt">;

/** What changes of a run with every commit. */
export interface RunProgress {
  readonly status: JournalStatus;
  /** ms since 1970. */
  readonly updatedAt: number;
  readonly steps: number;
  /** How many steps have begun or ended, those performed again included: the order of both. */
  readonly ticks: number;
  /** ms of the run's own time at the last commit. */
  readonly elapsedMs: number;
}

/** A run. */
export interface RunRow extends RunProgress {
  readonly id: string;
  readonly kind: string;
  readonly file: string | undefined;
  /** ms since 1970. */
  readonly startedAt: number;
  /** JSON. */
  readonly usage: string;
  readonly lease: Lease | undefined;
}

/** A step; everything that is JSON is text. */
export interface StepRow {
  readonly key: string;
  readonly kind: StepKind;
  readonly name: string;
  readonly input: string;
  /** SHA-256 of the canonical JSON of the input. */
  readonly inputHash: string;
  readonly idempotent: boolean;
  readonly outcome: string | undefined;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly attempt: number;
  /** The run's tick at its start. */
  readonly beganTick: number;
  readonly endedTick: number | undefined;
  /** `seq` of the last event told before its start. */
  readonly seenSeq: number;
}

/** Pieces of what a step has given before its end. */
export interface PiecesRow {
  /** Of the step. */
  readonly key: string;
  /** A JSON list: what came in one commit. */
  readonly pieces: string;
}

/** A piece of a file; the pieces of one path are read behind each other. */
export interface FileRow {
  readonly path: string;
  readonly text: string;
}

/** A checkpoint of a conversation, without what may be long. */
export interface CheckpointMark {
  /** From 1, without gaps. */
  readonly n: number;
  /** How many the log had by then. */
  readonly messages: number;
  /** The run's ticks by then. */
  readonly ticks: number;
  /** ms of the run's own time by then. */
  readonly elapsedMs: number;
  /** `seq` of the last event told by then. */
  readonly seenSeq: number;
  /** `at` of the last event told by then. */
  readonly seenAt: number;
  /** JSON: what was used by then. */
  readonly usage: string;
  /** How many lists of events were kept by then. */
  readonly events: number;
}

/** A whole checkpoint. */
export interface CheckpointRow extends CheckpointMark {
  /** JSON. */
  readonly state: string;
}

/** A message of a conversation. */
export interface MessageRow {
  readonly n: number;
  /** JSON. */
  readonly message: string;
}

/** A slot that belongs to no run. */
export interface SlotRow {
  /** Whose it is, as one text. */
  readonly scope: string;
  readonly name: string;
  /** JSON. */
  readonly value: string;
}

/** The rows of conversations. Methods that write are called inside `commit` of their journal's store only. */
export interface ConversationStore {
  /** The one of this number, or the newest. */
  checkpoint(id: string, n?: number): CheckpointRow | undefined;
  /** Oldest first. */
  checkpoints(id: string): readonly CheckpointMark[];
  /** Behind the events that are kept by now. */
  addCheckpoint(id: string, row: Omit<CheckpointRow, "events">): void;
  /** JSON, in their order; `last` is not negative. */
  messages(id: string, range: MessageRange): readonly string[];
  addMessage(id: string, row: MessageRow): void;
  slots(scope: string): readonly SlotRow[];
  /** Adds it, or replaces its value. */
  putSlot(row: SlotRow): void;
}

/** Which rows of runs: those that are all of it. */
export interface RowQuery extends Omit<RunQuery, "status" | "standing"> {
  /** Any of these. Default: all. */
  readonly statuses?: readonly JournalStatus[];
}

/** Rows by run. Methods that write are called inside `commit` only. */
export interface JournalStore {
  /** Does the work as one: all of it is durable on return, or, when it throws, nothing is kept. No other process writes meanwhile. */
  commit<Result>(work: () => Result): Result;
  /** Sees one state of the store, whatever others write meanwhile. */
  look<Result>(work: () => Result): Result;
  run(id: string): RunRow | undefined;
  /** Newest first. */
  runs(query: RowQuery): readonly RunRow[];
  idsWith(beginning: string): readonly string[];
  /** Adds the run, or replaces what is kept of it. */
  putRun(row: RunRow): void;
  /** Nothing is changed and it gives false when the run is not owned under the token. */
  noteProgress(id: string, progress: RunProgress & LeaseSign): boolean;
  /** The same for a sign of life alone. */
  noteSeen(id: string, sign: LeaseSign): boolean;
  removeRun(id: string): void;
  /** JSON. */
  input(id: string): string;
  /** Once for a run: it may be long, and is not written again with every commit. */
  putInput(id: string, input: string): void;
  /** Gives back what removed runs took; outside `commit`. */
  reclaim(): void;
  step(id: string, key: string): StepRow | undefined;
  /** In the order of their starts. */
  steps(id: string): readonly StepRow[];
  putStep(id: string, row: StepRow): void;
  /** JSON lists, oldest first; empty for most steps. */
  pieces(id: string, key: string): readonly string[];
  /** Behind those that are there. */
  addPieces(id: string, row: PiecesRow): void;
  removePieces(id: string, key: string): void;
  /** JSON lists, oldest first, none of them long; without as many of the oldest as `after` says. Default 0. */
  events(id: string, after?: number): readonly string[];
  /** The list of this number, from 1 on, without a look at the others. */
  eventList(id: string, n: number): string | undefined;
  /** How many lists of events there are. */
  eventLists(id: string): number;
  addEvents(id: string, events: string): void;
  /** See `RunJournal.whenKept`. */
  whenKept?(id: string): Promise<void> | undefined;
  files(id: string): readonly FileRow[];
  addFile(id: string, row: FileRow): void;
  /** Their rows go with the run, all but the slots. */
  readonly conversations: ConversationStore;
  close(): void;
}

/** What a journal needs of the machine. */
export interface JournalOptions {
  /** Taken out of everything that is kept. */
  readonly secrets?: Secrets;
  /** This process. Default: one that no other process can look for. */
  readonly owner?: RunOwner;
  /** Whether a process of this machine still runs; `undefined`: not known. Default: not known of any. */
  readonly isAlive?: (owner: RunOwner) => boolean | undefined;
  /** Calls `work` every `ms` until the function that it gives is called, without keeping the process alive. Default: commits alone are signs of life. */
  readonly every?: (ms: number, work: () => void) => () => void;
  /** Numbers of events that another process may have told of a run and not kept: those that come now begin behind them. Default: none. */
  readonly told?: (run: string) => number;
  /** ms since 1970. Default: the machine's. */
  readonly now?: () => number;
  /** For the times of steps. Default: the machine's. */
  readonly clock?: Clock;
}

/** The same with nothing left open. */
export interface JournalSettings extends Omit<Required<JournalOptions>, "secrets"> {
  readonly mask: <T>(value: T) => T;
}
