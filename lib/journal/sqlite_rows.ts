import type { SQLInputValue } from "node:sqlite";
import { JournalError } from "../core/core.ts";
import type { CheckpointMark, Lease, RunRow, StepRow } from "./store.ts";

/** A row as SQLite gives it. */
export type SqliteRow = Readonly<Record<string, unknown>>;

/** Reads the value of a column. @throws {JournalError} when it holds something else */
type Reader<Value> = (row: SqliteRow, column: string) => Value;

/** How each field of a row is read, in the order of the columns. */
type Readers<Row> = { readonly [Field in keyof Required<Row>]: Reader<Row[Field]> };

/** Rows of one table, whose columns are called like their fields: `beganTick` is `began_tick`. */
export interface Table<Row> {
  readonly columns: readonly string[];
  /** In the order of the columns. */
  values(row: Row | undefined): SQLInputValue[];
  /** @throws {JournalError} when a column holds what it cannot */
  row(row: SqliteRow): Row;
}

function table<Row extends object>(readers: Readers<Row>, prefix = ""): Table<Row> {
  const fields = Object.entries<Reader<unknown>>(readers).map(([field, read]) => ({
    field,
    read,
    column: prefix + field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  }));
  return {
    columns: fields.map(({ column }) => column),
    values: (row = {} as Row) => fields.map(({ field }) => sqlValue(row[field as keyof Row])),
    row: (row) =>
      Object.fromEntries(fields.map(({ field, column, read }) => [field, read(row, column)])) as Row,
  };
}

function sqlValue(value: unknown): SQLInputValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "string" || typeof value === "number" ? value : null;
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

function maybe<Value>(read: Reader<Value>): Reader<Value | undefined> {
  return (row, column) => row[column] === null ? undefined : read(row, column);
}

function oneOf<Word extends string>(...words: readonly Word[]): Reader<Word> {
  return (row, column) => words.find((word) => word === row[column]) ?? wrong(column, row[column]);
}

function wrong(column: string, value: unknown): never {
  throw new JournalError(
    `The journal is damaged: its column "${column}" holds ${
      JSON.stringify(value) ?? typeof value
    }; move it away to begin a new one`,
  );
}

const OWN_FIELDS = table<Omit<RunRow, "lease">>({
  id: text,
  kind: text,
  file: maybe(text),
  status: oneOf("running", "held", "done", "failed", "stopped"),
  startedAt: number,
  updatedAt: number,
  usage: text,
  steps: number,
  ticks: number,
  elapsedMs: number,
});

/** The columns do not say what of time they mean as its fields do. */
interface LeaseColumns extends Pick<Lease, "token" | "host" | "pid" | "since"> {
  readonly started: Lease["startedAt"];
  readonly seen: Lease["seenAt"];
}

const LEASES = table<LeaseColumns>({
  token: text,
  host: text,
  pid: number,
  started: maybe(text),
  since: number,
  seen: number,
}, "owner_");

/** The table `runs`: a lease is in columns of its own. */
export const RUNS: Table<RunRow> = {
  columns: [...OWN_FIELDS.columns, ...LEASES.columns],
  values(row) {
    const { lease } = row ?? {};
    const owner = lease && { ...lease, started: lease.startedAt, seen: lease.seenAt };
    return [...OWN_FIELDS.values(row), ...LEASES.values(owner)];
  },
  row(row) {
    const own = OWN_FIELDS.row(row);
    if (row.owner_token === null) return { ...own, lease: undefined };
    const { started: startedAt, seen: seenAt, ...lease } = LEASES.row(row);
    return { ...own, lease: { ...lease, startedAt, seenAt } };
  },
};

/** The table `steps`, behind its column `run`. */
export const STEPS: Table<StepRow> = table<StepRow>({
  key: text,
  kind: oneOf("model", "gadget", "shell", "http", "read", "write", "ask", "source", "step"),
  name: text,
  input: text,
  inputHash: text,
  idempotent: (row, column) => number(row, column) === 1,
  outcome: maybe(text),
  startedAt: number,
  endedAt: maybe(number),
  attempt: number,
  beganTick: number,
  endedTick: maybe(number),
  seenSeq: number,
});

/** The table `checkpoints`, without its column `run` and without what may be long. */
export const MARKS: Table<CheckpointMark> = table<CheckpointMark>({
  n: number,
  messages: number,
  ticks: number,
  elapsedMs: number,
  seenSeq: number,
  seenAt: number,
  usage: text,
  events: number,
});
