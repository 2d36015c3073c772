import type { DatabaseSync } from "node:sqlite";

/** To be changed with the tables, the way texts are cut, and how words are told: then everything is indexed anew. */
export const INDEX_VERSION = 1;

/** Whatever is kept of passages is made of the files again, so nothing is converted. */
const TABLES = ["words", "vectors", "texts", "passages", "documents"];

/**
 * The texts are apart, since every passage that fits is looked at to find the best. `words` has no text of its own. English word endings do not count (`porter`), which helps with German ones too, and
 * neither do accents and case.
 */
const SCHEMA = `
CREATE TABLE documents (
  n INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  position INTEGER NOT NULL,
  role TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  link TEXT
) STRICT;
CREATE TABLE passages (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL REFERENCES documents (n) ON DELETE CASCADE,
  page INTEGER NOT NULL,
  start INTEGER NOT NULL,
  finish INTEGER NOT NULL
) STRICT;
CREATE INDEX passages_by_document ON passages (document);
CREATE TABLE texts (
  passage INTEGER PRIMARY KEY REFERENCES passages (n) ON DELETE CASCADE,
  text TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE words USING fts5 (
  text, titles, content = '', contentless_delete = 1, tokenize = "porter unicode61 remove_diacritics 2"
);
INSERT INTO words (words, rank) VALUES ('rank', 'bm25(1.0, 2.0)');
CREATE TABLE vectors (
  model TEXT NOT NULL,
  passage INTEGER NOT NULL REFERENCES passages (n) ON DELETE CASCADE,
  vector BLOB NOT NULL,
  PRIMARY KEY (model, passage)
) STRICT;
PRAGMA user_version = ${INDEX_VERSION};
`;

/** Makes the tables in a new file, and anew in one of another version. */
export function prepareIndex(database: DatabaseSync): void {
  if (versionOf(database) === INDEX_VERSION) return;
  database.exec("BEGIN IMMEDIATE");
  // Another process may have made them meanwhile. When this throws, the database is closed, and the transaction with it.
  if (versionOf(database) !== INDEX_VERSION) {
    database.exec(TABLES.map((table) => `DROP TABLE IF EXISTS ${table};`).join(" ") + SCHEMA);
  }
  database.exec("COMMIT");
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}
