import type { DatabaseSync } from "node:sqlite";
import { JournalError, messageOf } from "../core/core.ts";

/** "Orry", in the header of the file: what tells a journal from any other database (sqlite.org/fileformat2.html 1.3.14). */
const APPLICATION_ID = 0x4f727279;
/**
 * Of the tables. 2: what a model has said before its end is in `pieces`, no longer whole in `steps.prefix`. 3: conversations, and runs by
 * kind and by file.
 */
const VERSION = 3;

const WAL_WAIT_MS = 10_000;
const WAL_TRY_EVERY_MS = 10;

/** What changes with every commit is apart from what may be long. Texts of files are kept once, whatever runs use them. */
const PIECES = `
CREATE TABLE pieces (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  position INTEGER NOT NULL,
  pieces TEXT NOT NULL,
  PRIMARY KEY (run, key, position)
) STRICT, WITHOUT ROWID;
`;
/** Slots belong to no run: they outlive those that have set them. */
const CONVERSATIONS = `
CREATE INDEX runs_by_kind ON runs (kind, started_at);
CREATE INDEX runs_by_file ON runs (file, started_at);
CREATE TABLE checkpoints (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  ticks INTEGER NOT NULL,
  elapsed_ms REAL NOT NULL,
  seen_seq INTEGER NOT NULL,
  seen_at REAL NOT NULL,
  usage TEXT NOT NULL,
  events INTEGER NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE messages (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE slots (
  scope TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;
`;
const SCHEMA = `
CREATE TABLE runs (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  file TEXT,
  status TEXT NOT NULL,
  started_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  usage TEXT NOT NULL,
  steps INTEGER NOT NULL,
  ticks INTEGER NOT NULL,
  elapsed_ms REAL NOT NULL,
  owner_token TEXT,
  owner_host TEXT,
  owner_pid INTEGER,
  owner_started TEXT,
  owner_since REAL,
  owner_seen REAL
) STRICT;
CREATE INDEX runs_by_time ON runs (started_at);
CREATE TABLE inputs (
  run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  input TEXT NOT NULL
) STRICT;
CREATE TABLE texts (
  hash TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;
CREATE TABLE files (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  path TEXT NOT NULL,
  hash TEXT NOT NULL REFERENCES texts (hash),
  PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_by_hash ON files (hash);
CREATE TABLE steps (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  input TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  idempotent INTEGER NOT NULL,
  outcome TEXT,
  started_at REAL NOT NULL,
  ended_at REAL,
  attempt INTEGER NOT NULL,
  began_tick INTEGER NOT NULL,
  ended_tick INTEGER,
  seen_seq INTEGER NOT NULL,
  PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
${PIECES}
CREATE TABLE events (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  events TEXT NOT NULL,
  PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
${CONVERSATIONS}
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${VERSION};
`;

const FROM_VERSION_2 = `
${CONVERSATIONS}
PRAGMA user_version = ${VERSION};
`;

/** What was said before the end of a step was one piece, whole. */
const FROM_VERSION_1 = `
${PIECES}
INSERT INTO pieces (run, key, position, pieces)
  SELECT run, key, 1, '[' || prefix || ']' FROM steps WHERE prefix IS NOT NULL;
ALTER TABLE steps DROP COLUMN prefix;
${FROM_VERSION_2}
`;

const FROM_VERSION: Readonly<Record<number, string>> = { 1: FROM_VERSION_1, 2: FROM_VERSION_2 };

/**
 * Makes the tables of a journal in a new file, and those of an older version into those of this one.
 *
 * @throws {JournalError} for a file of another program, or of a newer version.
 */
export function prepareSchema(database: DatabaseSync, path: string): void {
  // In a transaction, because what is looked at belongs together while another process may be making it.
  if (inTransaction(database, "BEGIN", () => missing(database, path)) === undefined) return;
  switchToWal(database);
  inTransaction(database, "BEGIN IMMEDIATE", () => {
    const sql = missing(database, path);
    if (sql !== undefined) database.exec(sql);
  });
}

/** When it throws, the database is closed, and the transaction with it. */
function inTransaction<Result>(
  database: DatabaseSync,
  begin: "BEGIN" | "BEGIN IMMEDIATE",
  work: () => Result,
): Result {
  database.exec(begin);
  const result = work();
  database.exec("COMMIT");
  return result;
}

/** Settings of the file, which an empty one takes, outside a transaction. For this lock SQLite does not wait by itself. */
function switchToWal(database: DatabaseSync): void {
  for (const end = performance.now() + WAL_WAIT_MS;;) {
    try {
      return database.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
    } catch (error) {
      if (performance.now() > end || !/locked/.test(messageOf(error))) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_TRY_EVERY_MS);
  }
}

/** What makes it a journal of this version; undefined for one that is. */
function missing(database: DatabaseSync, path: string): string | undefined {
  const version = pragma(database, "user_version");
  const application = pragma(database, "application_id");
  if (application === APPLICATION_ID && version === VERSION) return undefined;
  const older = FROM_VERSION[version];
  if (application === APPLICATION_ID && older !== undefined) return older;
  if (application === APPLICATION_ID && version > VERSION) {
    throw new JournalError(
      `The journal "${path}" is of version ${version}, and this Orrery knows versions up to ${VERSION}: ` +
        `use the newer Orrery, or move the file away to begin a new journal`,
    );
  }
  if (application === 0 && version === 0 && isEmpty(database)) return SCHEMA;
  throw new JournalError(
    `"${path}" is a database of another program, not a journal: move it away to begin a new journal`,
  );
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
}

function pragma(database: DatabaseSync, name: "user_version" | "application_id"): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
