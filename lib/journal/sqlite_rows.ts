import type { SQLInputValue } from "node:sqlite";
import { JournalError, type JournalStatus, type StepKind } from "../core/core.ts";
import type { FileRow, Lease, RunRow, StepRow } from "./store.ts";

/** A row as SQLite gives it. */
export type SqliteRow = Readonly<Record<string, unknown>>;

const STATUSES: readonly JournalStatus[] = ["running", "held", "done", "failed", "stopped"];
const KINDS: readonly StepKind[] = [
  "model",
  "gadget",
  "shell",
  "http",
  "read",
  "write",
  "ask",
  "source",
  "step",
];

/** The columns of `runs`, as {@linkcode runValues} gives them. */
export const RUN_COLUMNS: readonly string[] = [
  "id",
  "kind",
  "file",
  "status",
  "started_at",
  "updated_at",
  "usage",
  "steps",
  "ticks",
  "elapsed_ms",
  "owner_token",
  "owner_host",
  "owner_pid",
  "owner_started",
  "owner_since",
  "owner_seen",
];

/** A run's values, in the order of the columns. */
export function runValues(row: RunRow): SQLInputValue[] {
  const { lease } = row;
  return [
    row.id,
    row.kind,
    row.file ?? null,
    row.status,
    row.startedAt,
    row.updatedAt,
    row.usage,
    row.steps,
    row.ticks,
    row.elapsedMs,
    lease?.token ?? null,
    lease?.host ?? null,
    lease?.pid ?? null,
    lease?.startedAt ?? null,
    lease?.since ?? null,
    lease?.seenAt ?? null,
  ];
}

/** A row of `runs`. */
export function runRow(row: SqliteRow): RunRow {
  return {
    id: text(row, "id"),
    kind: text(row, "kind"),
    file: maybeText(row, "file"),
    status: oneOf(STATUSES, row, "status"),
    startedAt: number(row, "started_at"),
    updatedAt: number(row, "updated_at"),
    usage: text(row, "usage"),
    steps: number(row, "steps"),
    ticks: number(row, "ticks"),
    elapsedMs: number(row, "elapsed_ms"),
    lease: maybeLease(row),
  };
}

function maybeLease(row: SqliteRow): Lease | undefined {
  const token = maybeText(row, "owner_token");
  if (token === undefined) return undefined;
  const startedAt = maybeText(row, "owner_started");
  return {
    token,
    host: text(row, "owner_host"),
    pid: number(row, "owner_pid"),
    startedAt,
    since: number(row, "owner_since"),
    seenAt: number(row, "owner_seen"),
  };
}

/** The columns of `steps` behind `run`, as {@linkcode stepValues} gives them. */
export const STEP_COLUMNS: readonly string[] = [
  "key",
  "kind",
  "name",
  "input",
  "input_hash",
  "idempotent",
  "outcome",
  "started_at",
  "ended_at",
  "attempt",
  "began_tick",
  "ended_tick",
  "seen_seq",
];

/** A step's values, in the order of the columns. */
export function stepValues(row: StepRow): SQLInputValue[] {
  return [
    row.key,
    row.kind,
    row.name,
    row.input,
    row.inputHash,
    row.idempotent ? 1 : 0,
    row.outcome ?? null,
    row.startedAt,
    row.endedAt ?? null,
    row.attempt,
    row.beganTick,
    row.endedTick ?? null,
    row.seenSeq,
  ];
}

/** A row of `steps`. */
export function stepRow(row: SqliteRow): StepRow {
  return {
    key: text(row, "key"),
    kind: oneOf(KINDS, row, "kind"),
    name: text(row, "name"),
    input: text(row, "input"),
    inputHash: text(row, "input_hash"),
    idempotent: number(row, "idempotent") === 1,
    outcome: maybeText(row, "outcome"),
    startedAt: number(row, "started_at"),
    endedAt: maybeNumber(row, "ended_at"),
    attempt: number(row, "attempt"),
    beganTick: number(row, "began_tick"),
    endedTick: maybeNumber(row, "ended_tick"),
    seenSeq: number(row, "seen_seq"),
  };
}

/** A row of `files` with its text. */
export function fileRow(row: SqliteRow): FileRow {
  return { path: text(row, "path"), text: text(row, "text") };
}

/** The value of a column that holds text. @throws {JournalError} when it does not. */
export function text(row: SqliteRow, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : wrong(column, value);
}

/** The value of a column that holds a number. @throws {JournalError} when it does not. */
export function number(row: SqliteRow, column: string): number {
  const value = row[column];
  return typeof value === "number" ? value : wrong(column, value);
}

function maybeText(row: SqliteRow, column: string): string | undefined {
  return row[column] === null ? undefined : text(row, column);
}

function maybeNumber(row: SqliteRow, column: string): number | undefined {
  return row[column] === null ? undefined : number(row, column);
}

function oneOf<Word extends string>(words: readonly Word[], row: SqliteRow, column: string): Word {
  const value = row[column];
  return words.find((word) => word === value) ?? wrong(column, value);
}

function wrong(column: string, value: unknown): never {
  throw new JournalError(
    `The journal is damaged: its column "${column}" holds ${
      JSON.stringify(value) ?? typeof value
    }; move it away to begin a new one`,
  );
}
