import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { JournalError, messageOf, sha256 } from "../core/core.ts";
import { MARKS, number, RUNS, type SqliteRow, STEPS, text } from "./sqlite_rows.ts";
import { prepareSchema } from "./sqlite_schema.ts";
import type { ConversationStore, JournalStore } from "./store.ts";

/** How long another process's transaction is waited for; each takes less than a millisecond. */
const LOCK_WAIT_MS = 10_000;

const marks = (columns: readonly string[]): string => columns.map(() => "?").join(", ");
const taken = (columns: readonly string[]): string =>
  columns.map((name) => `${name} = excluded.${name}`).join(", ");

/** Not its id: for a key that is set SQLite looks at every row that refers to it, whether it changes or not. */
const CHANGING_COLUMNS = RUNS.columns.filter((name) => name !== "id");
const PUT_RUN = `INSERT INTO runs (${RUNS.columns.join(", ")}) VALUES (${marks(RUNS.columns)})
  ON CONFLICT (id) DO UPDATE SET ${taken(CHANGING_COLUMNS)}`;
const PUT_STEP = `INSERT INTO steps (run, ${STEPS.columns.join(", ")}) VALUES (?, ${marks(STEPS.columns)})
  ON CONFLICT (run, key) DO UPDATE SET ${taken(STEPS.columns)}`;
const NOTE_PROGRESS =
  `UPDATE runs SET status = ?, updated_at = ?, steps = ?, ticks = ?, elapsed_ms = ?, owner_seen = ?
  WHERE id = ? AND owner_token = ?`;
const ADD_PIECES = `INSERT INTO pieces (run, key, position, pieces)
  VALUES (?1, ?2, (SELECT coalesce(max(position), 0) + 1 FROM pieces WHERE run = ?1 AND key = ?2), ?3)`;
const ADD_EVENTS = `INSERT INTO events (run, position, events)
  VALUES (?1, (SELECT coalesce(max(position), 0) + 1 FROM events WHERE run = ?1), ?2)`;
const ADD_FILE = `INSERT INTO files (run, position, path, hash)
  VALUES (?1, (SELECT coalesce(max(position), 0) + 1 FROM files WHERE run = ?1), ?2, ?3)`;

/**
 * Rows in an SQLite file that several processes may use at once. A commit is on the disk when it returns.
 *
 * @throws {JournalError} when it cannot be opened; the message says what to do.
 */
export function sqliteStore(path: string): JournalStore {
  const database = withSqliteProblems({ path, action: "open" }, () => opened(path));
  const sql = new SqliteStatements(database, path);
  const texts = (column: string, query: string, ...values: SQLInputValue[]): readonly string[] =>
    sql.rows(query, ...values).map((row) => text(row, column));

  function transaction<Result>(begin: "BEGIN" | "BEGIN IMMEDIATE", work: () => Result): Result {
    sql.do(begin);
    try {
      const result = work();
      sql.do("COMMIT");
      return result;
    } catch (error) {
      try {
        sql.do("ROLLBACK");
      } catch { /* Some errors have ended the transaction already; the first one is what counts. */ }
      throw error;
    }
  }

  return {
    commit: (work) =>
      withSqliteProblems({ path, action: "write" }, () => transaction("BEGIN IMMEDIATE", work)),
    look: (work) => withSqliteProblems({ path, action: "read" }, () => transaction("BEGIN", work)),
    run(id) {
      const row = sql.row("SELECT * FROM runs WHERE id = ?", id);
      return row && RUNS.row(row);
    },
    runs({ limit = -1, statuses, kind, file }) {
      // The plus keeps an index out of the choice: many runs are of one kind, and few are of one file.
      const conditions: Readonly<Record<string, readonly string[] | undefined>> = {
        "file = ?": file === undefined ? undefined : [file],
        [file === undefined ? "kind = ?" : "+kind = ?"]: kind === undefined ? undefined : [kind],
        [`status IN (${marks(statuses ?? [])})`]: statuses,
      };
      const wanted = Object.entries(conditions).flatMap(([sql, values]) =>
        values === undefined ? [] : [{ sql, values }]
      );
      const where = wanted.length === 0 ? "" : `WHERE ${wanted.map(({ sql }) => sql).join(" AND ")}`;
      const query = `SELECT * FROM runs ${where} ORDER BY started_at DESC, n DESC LIMIT ?`;
      return sql.rows(query, ...wanted.flatMap(({ values }) => values), limit).map(RUNS.row);
    },
    // The range, and not LIKE or GLOB, which have letters with a meaning of their own.
    idsWith: (beginning) =>
      texts("id", "SELECT id FROM runs WHERE id >= ?1 AND id < ?1 || char(0x10ffff) ORDER BY id", beginning),
    putRun: (row) => void sql.do(PUT_RUN, ...RUNS.values(row)),
    noteProgress(id, { status, updatedAt, steps, ticks, elapsedMs, seenAt, token }) {
      return sql.do(NOTE_PROGRESS, status, updatedAt, steps, ticks, elapsedMs, seenAt, id, token) === 1;
    },
    noteSeen: (id, { token, seenAt }) =>
      sql.do("UPDATE runs SET owner_seen = ? WHERE id = ? AND owner_token = ?", seenAt, id, token) === 1,
    removeRun(id) {
      sql.do("DELETE FROM runs WHERE id = ?", id);
      sql.do("DELETE FROM texts WHERE hash NOT IN (SELECT hash FROM files)");
    },
    reclaim() {
      withSqliteProblems({ path, action: "write" }, () => {
        // Each step of it gives back one page, and all() alone takes all steps.
        database.prepare("PRAGMA incremental_vacuum").all();
        database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      });
    },
    input: (id) => text(sql.row("SELECT input FROM inputs WHERE run = ?", id) ?? {}, "input"),
    putInput: (id, input) => void sql.do("INSERT INTO inputs (run, input) VALUES (?, ?)", id, input),
    step(id, key) {
      const row = sql.row("SELECT * FROM steps WHERE run = ? AND key = ?", id, key);
      return row && STEPS.row(row);
    },
    steps: (id) => sql.rows("SELECT * FROM steps WHERE run = ? ORDER BY began_tick", id).map(STEPS.row),
    putStep: (id, row) => void sql.do(PUT_STEP, id, ...STEPS.values(row)),
    pieces: (id, key) =>
      texts("pieces", "SELECT pieces FROM pieces WHERE run = ? AND key = ? ORDER BY position", id, key),
    addPieces: (id, { key, pieces }) => void sql.do(ADD_PIECES, id, key, pieces),
    removePieces: (id, key) => void sql.do("DELETE FROM pieces WHERE run = ? AND key = ?", id, key),
    events: (id, after = 0) =>
      texts(
        "events",
        "SELECT events FROM events WHERE run = ? AND position > ? ORDER BY position",
        id,
        after,
      ),
    eventList: (id, n) =>
      texts("events", "SELECT events FROM events WHERE run = ? AND position = ?", id, n)[0],
    eventLists(id) {
      const query = "SELECT coalesce(max(position), 0) AS lists FROM events WHERE run = ?";
      return number(sql.row(query, id) ?? {}, "lists");
    },
    addEvents: (id, events) => void sql.do(ADD_EVENTS, id, events),
    files(id) {
      const query = "SELECT path, text FROM files JOIN texts USING (hash) WHERE run = ? ORDER BY position";
      return sql.rows(query, id).map((row) => ({ path: text(row, "path"), text: text(row, "text") }));
    },
    addFile(id, file) {
      const hash = sha256(file.text);
      sql.do("INSERT INTO texts (hash, text) VALUES (?, ?) ON CONFLICT DO NOTHING", hash, file.text);
      sql.do(ADD_FILE, id, file.path, hash);
    },
    conversations: sqliteConversations(sql),
    close() {
      sql.clear();
      database.close();
    },
  };
}

function opened(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  try {
    database.exec(
      `PRAGMA busy_timeout = ${LOCK_WAIT_MS}; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON`,
    );
    // What is let go is overwritten at once: where it was is not known any more when its run is removed.
    database.exec("PRAGMA secure_delete = ON");
    prepareSchema(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const MARK_COLUMNS = MARKS.columns.join(", ");
const ADD_CHECKPOINT = `INSERT INTO checkpoints (run, ${MARK_COLUMNS}, state)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, (SELECT coalesce(max(position), 0) FROM events WHERE run = ?1), ?9)`;
const PUT_SLOT = `INSERT INTO slots (scope, name, value) VALUES (?, ?, ?)
  ON CONFLICT (scope, name) DO UPDATE SET value = excluded.value`;

/** The rows of conversations in an SQLite file. */
function sqliteConversations(sql: SqliteStatements): ConversationStore {
  return {
    checkpoint(id, n) {
      const row = n === undefined
        ? sql.row("SELECT * FROM checkpoints WHERE run = ? ORDER BY n DESC LIMIT 1", id)
        : sql.row("SELECT * FROM checkpoints WHERE run = ? AND n = ?", id, n);
      return row && { ...MARKS.row(row), state: text(row, "state") };
    },
    checkpoints: (id) =>
      sql.rows(`SELECT ${MARK_COLUMNS} FROM checkpoints WHERE run = ? ORDER BY n`, id).map(MARKS.row),
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

/** The statements of one open database, each prepared once. */
class SqliteStatements {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  /** @param path for messages */
  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
  }

  /** Gives how many rows it changed; what goes wrong is for whoever has begun the transaction. */
  do(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  /** The first row. @throws {JournalError} when the database cannot be read */
  row(sql: string, ...values: SQLInputValue[]): SqliteRow | undefined {
    return this.#read(() => this.#statement(sql).get(...values));
  }

  /** @throws {JournalError} when the database cannot be read */
  rows(sql: string, ...values: SQLInputValue[]): readonly SqliteRow[] {
    return this.#read(() => this.#statement(sql).all(...values));
  }

  clear(): void {
    this.#prepared.clear();
  }

  #read<Result>(work: () => Result): Result {
    return withSqliteProblems({ path: this.#path, action: "read" }, work);
  }

  #statement(sql: string): StatementSync {
    const kept = this.#prepared.get(sql);
    if (kept !== undefined) return kept;
    const statement = this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

/** What SQLite says, and what it means for whoever has the journal. */
const KNOWN: readonly (readonly [said: RegExp, meaning: string])[] = [
  [/is not a database/, "it is not an SQLite database; move it away to begin a new journal"],
  [/unable to open/, "it cannot be opened; its folder has to be there, and both have to be yours to write"],
  [/readonly/, "it may be read only; make the file and its folder writable"],
  [
    /is locked|is busy/,
    "another process has been writing it for too long; try again, or find the process that hangs",
  ],
  [/disk is full/, "the disk is full; make room and resume"],
  [/malformed|disk I\/O error/, "it is damaged, or the disk is; move it away to begin a new journal"],
];

/** Does the work; what SQLite throws becomes a {@linkcode JournalError} that names the file and says what to do. */
function withSqliteProblems<Result>(
  { path, action }: { readonly path: string; readonly action: "open" | "read" | "write" },
  work: () => Result,
): Result {
  try {
    return work();
  } catch (error) {
    if (!isOfSqlite(error)) throw error;
    const said = messageOf(error);
    const meaning = KNOWN.find(([pattern]) => pattern.test(said))?.[1] ?? said;
    throw new JournalError(`Cannot ${action} the journal "${path}": ${meaning}`, { cause: error });
  }
}

function isOfSqlite(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR";
}
