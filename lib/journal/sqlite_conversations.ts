import { number, type SqliteRow, text } from "./sqlite_rows.ts";
import type { SqliteStatements } from "./sqlite_statements.ts";
import type { CheckpointMark, ConversationStore } from "./store.ts";

const MARK_COLUMNS = "n, messages, ticks, elapsed_ms, seen_seq, seen_at, usage, events";
const ADD_CHECKPOINT = `INSERT INTO checkpoints (run, ${MARK_COLUMNS}, state)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, (SELECT coalesce(max(position), 0) FROM events WHERE run = ?1), ?9)`;
const PUT_SLOT = `INSERT INTO slots (scope, name, value) VALUES (?, ?, ?)
  ON CONFLICT (scope, name) DO UPDATE SET value = excluded.value`;

/** The rows of conversations in an SQLite file. */
export function sqliteConversations(sql: SqliteStatements): ConversationStore {
  return {
    checkpoint(id, n) {
      const row = n === undefined
        ? sql.row("SELECT * FROM checkpoints WHERE run = ? ORDER BY n DESC LIMIT 1", id)
        : sql.row("SELECT * FROM checkpoints WHERE run = ? AND n = ?", id, n);
      return row === undefined ? undefined : { ...checkpointMark(row), state: text(row, "state") };
    },
    checkpoints: (id) =>
      sql.rows(`SELECT ${MARK_COLUMNS} FROM checkpoints WHERE run = ? ORDER BY n`, id).map(checkpointMark),
    addCheckpoint(id, { n, messages, ticks, elapsedMs, seenSeq, seenAt, usage, state }) {
      sql.do(ADD_CHECKPOINT, id, n, messages, ticks, elapsedMs, seenSeq, seenAt, usage, state);
    },
    messages(id, { from = 1, last }) {
      const newest = sql.rows(
        "SELECT message FROM messages WHERE run = ? AND n >= ? ORDER BY n DESC LIMIT ?",
        id,
        from,
        last ?? -1,
      );
      return newest.map((row) => text(row, "message")).reverse();
    },
    addMessage: (id, { n, message }) =>
      void sql.do("INSERT INTO messages (run, n, message) VALUES (?, ?, ?)", id, n, message),
    slots: (scope) =>
      sql.rows("SELECT name, value FROM slots WHERE scope = ?", scope).map((row) => ({
        scope,
        name: text(row, "name"),
        value: text(row, "value"),
      })),
    putSlot: ({ scope, name, value }) => void sql.do(PUT_SLOT, scope, name, value),
  };
}

function checkpointMark(row: SqliteRow): CheckpointMark {
  return {
    n: number(row, "n"),
    messages: number(row, "messages"),
    ticks: number(row, "ticks"),
    elapsedMs: number(row, "elapsed_ms"),
    seenSeq: number(row, "seen_seq"),
    seenAt: number(row, "seen_at"),
    usage: text(row, "usage"),
    events: number(row, "events"),
  };
}
