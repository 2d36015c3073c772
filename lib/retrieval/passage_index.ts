import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import type { CollectionDocument } from "../parse/files/collection.ts";

/** A passage in a list of what was found. Rows are numbers of one index, and none is used twice. */
export interface FoundRow {
  readonly row: number;
  /** Higher is better; comparable within one list. */
  readonly score: number;
}

/** A passage as it was put in, with its document. */
export interface KeptPassage {
  readonly document: string;
  readonly name: string;
  readonly link?: string;
  readonly text: string;
}

/** A vector of a passage. */
export interface PassageVector {
  readonly row: number;
  readonly vector: Float32Array;
}

/** Passages of documents in an SQLite file that several processes may use at once, or in memory (`:memory:`). */
export class PassageIndex implements Disposable {
  readonly #database: IndexDatabase;

  /** @throws {Error} when the file is no such index, or cannot be written */
  constructor(path: string) {
    this.#database = new IndexDatabase(path);
  }

  /** The keys of the documents that it has. */
  keys(): ReadonlySet<string> {
    return new Set(this.#database.rows("SELECT key FROM documents").map(({ key }) => String(key)));
  }

  /**
   * Makes it hold these documents and no others, all or nothing. Of those that it has already the passages stay.
   *
   * @param documents in the order of the collection
   * @returns the keys of those that would have to be given with their passages; when there are any, nothing was changed
   */
  replace(documents: readonly (IndexedDocument | NewDocument)[]): readonly string[] {
    let missing: readonly string[] = [];
    this.#database.transaction(() => {
      const before = this.keys();
      missing = documents.filter((each) => !("passages" in each) && !before.has(each.key)).map(({ key }) =>
        key
      );
      if (missing.length === 0) this.#replace(documents, before);
    });
    return missing;
  }

  /** The passages that fit a question best, by BM25; those of equal weight in the order of the collection. */
  find(
    question: string,
    { role, limit }: { readonly role: DocumentRole; readonly limit: number },
  ): readonly FoundRow[] {
    const terms = queryTerms(question);
    const rare = this.#rareTerms(terms);
    const found = rare.length > 0 ? this.#match(rare, role, limit) : [];
    return found.length === limit || rare.length === terms.length ? found : this.#match(terms, role, limit);
  }

  /** Undefined when another process has taken it away meanwhile. */
  passage(row: number): KeptPassage | undefined {
    const found = this.#database.rows(PASSAGE, row)[0];
    if (found === undefined) return undefined;
    const { document, name, link, text } = found;
    return {
      document: String(document),
      name: String(name),
      ...(typeof link === "string" ? { link } : {}),
      text: String(text),
    };
  }

  /** What a model has not made a vector of yet, in the order in which it was put in. */
  withoutVector(model: string): readonly { readonly row: number; readonly text: string }[] {
    const rows = this.#database.rows(WITHOUT_VECTOR, model);
    return rows.map(({ n, text }) => ({ row: Number(n), text: String(text) }));
  }

  /** Keeps vectors of a model; those of passages that are gone meanwhile are dropped. */
  addVectors(model: string, vectors: readonly PassageVector[]): void {
    this.#database.transaction(() => {
      for (const { row, vector } of vectors) this.#database.run(ADD_VECTOR, model, bytesOf(vector), row);
    });
  }

  /** All vectors of a model over the documents of a role, in the order of the collection. */
  vectors(model: string, role: DocumentRole): readonly PassageVector[] {
    return this.#database.rows(VECTORS, model, role).flatMap(({ passage, vector }) =>
      vector instanceof Uint8Array ? [{ row: Number(passage), vector: floatsOf(vector) }] : []
    );
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }

  /**
   * Without those that stand in half of all passages, which have no weight in BM25: to rank everything that they match takes most of the
   * time, and changes nothing as long as the others find enough.
   */
  #rareTerms(terms: readonly string[]): readonly string[] {
    const all = this.#count("SELECT count(*) AS count FROM passages");
    if (all < MANY) return terms;
    return terms.filter((term) => 2 * this.#count(COUNT, term) < all);
  }

  #count(sql: string, ...values: string[]): number {
    return Number(this.#database.rows(sql, ...values)[0]?.count);
  }

  #match(terms: readonly string[], role: DocumentRole, limit: number): readonly FoundRow[] {
    if (terms.length === 0) return [];
    const rows = this.#database.rows(FIND, terms.join(" OR "), role, limit);
    return rows.map(({ n, rank }) => ({ row: Number(n), score: -Number(rank) }));
  }

  #replace(documents: readonly (IndexedDocument | NewDocument)[], before: ReadonlySet<string>): void {
    const wanted = new Set(documents.map(({ key }) => key));
    const gone = [...before].filter((key) => !wanted.has(key));
    for (const key of gone) {
      this.#database.run(REMOVE_WORDS, key);
      this.#database.run("DELETE FROM documents WHERE key = ?", key);
    }
    let isChanged = gone.length > 0;
    for (const [position, document] of documents.entries()) {
      const { key, role, link = null } = document;
      if (before.has(key)) this.#database.run(UPDATE, position, role, link, key);
      else if ("passages" in document) {
        this.#add(document, position);
        isChanged = true;
      }
    }
    // What was removed is left among the words until they are merged.
    if (isChanged) this.#database.run("INSERT INTO words (words) VALUES ('optimize')");
  }

  #add({ key, role, id, name, link, passages }: NewDocument, position: number): void {
    const document = this.#database.run(ADD_DOCUMENT, key, position, role, id, name, link ?? null);
    for (const { text, titles, page, start, end } of passages) {
      const row = this.#database.run(ADD_PASSAGE, document, page, start, end);
      this.#database.run("INSERT INTO texts (passage, text) VALUES (?, ?)", row, text);
      this.#database.run("INSERT INTO words (rowid, text, titles) VALUES (?, ?, ?)", row, text, titles);
    }
  }
}

/** Of fewer passages all are ranked in no time. */
const MANY = 1000;
const COUNT = "SELECT count(*) AS count FROM words WHERE words MATCH ?";
const FIND = `SELECT passages.n AS n, words.rank AS rank FROM words JOIN passages ON passages.n = words.rowid
  JOIN documents ON documents.n = passages.document
  WHERE words MATCH ? AND documents.role = ?
  ORDER BY words.rank, documents.position, passages.start LIMIT ?`;
const PASSAGE = `SELECT documents.id AS document, name, link, text FROM passages
  JOIN documents ON documents.n = passages.document JOIN texts ON passage = passages.n WHERE passages.n = ?`;
const WITHOUT_VECTOR =
  "SELECT passage AS n, text FROM texts WHERE passage NOT IN (SELECT passage FROM vectors WHERE model = ?) ORDER BY n";
const ADD_VECTOR =
  "INSERT OR REPLACE INTO vectors (model, vector, passage) SELECT ?, ?, n FROM passages WHERE n = ?";
const VECTORS = `SELECT passage, vector FROM vectors JOIN passages ON passages.n = passage
  JOIN documents ON documents.n = passages.document
  WHERE model = ? AND role = ? ORDER BY documents.position, passages.start`;
const REMOVE_WORDS = `DELETE FROM words WHERE rowid IN
  (SELECT passages.n FROM passages JOIN documents ON documents.n = document WHERE key = ?)`;
const UPDATE = "UPDATE documents SET position = ?, role = ?, link = ? WHERE key = ?";
const ADD_DOCUMENT = "INSERT INTO documents (key, position, role, id, name, link) VALUES (?, ?, ?, ?, ?, ?)";
const ADD_PASSAGE = "INSERT INTO passages (document, page, start, finish) VALUES (?, ?, ?, ?)";

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** In the byte order of this machine, which wrote them. */
function floatsOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
}

// What is chosen here was measured on tests/spec/retrieval/: without stop words, and with the beginnings of longer words, the right page
// comes first for 19 of 20 English questions (17 else) and for 14 of 18 German ones (13 else), and among the first three for all.

/** Words that say nothing of what is looked for: English and German. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a an and are as at be been but by can could did do does for from had has have how i if in into is it its me my no not of on or our " +
    "should so than that the their them then there these they this those to was we were what when where which who why will with would " +
    "you your " +
    "aber als am an auch auf aus bei bin bis da das dass dein dem den der des dich die dir du ein eine einem einen einer eines er es " +
    "für hab habe haben hat ich ihr ihre im in ist ja kann kein keine können man mein meine mich mir mit muss müssen nach nicht noch " +
    "nur oder ob sein sich sie sind so soll sollte über um und uns unser unter vom von vor war was wann warum welche welcher welches " +
    "wenn wer werden wie wird wir wo würde zu zum zur").split(" "),
);

/** More words than a person asks with; each has to be looked for. */
const MOST_WORDS = 48;
/** A shorter word is looked for as it is. */
const SHORTEST_BEGINNING = 4;
const SHORTEST_STEM = 5;
/** Of German words, which the index does not take off itself. */
const ENDING = /(?:ern|en|er|es|em|et|st|e|n|s|t)$/;

/**
 * What to look for where a question is asked: each of its words, also inside longer ones that begin with it. A term is in quotes, so that
 * nothing of it is syntax of FTS5. Words that stand in every text do not count, unless there are no others.
 */
function queryTerms(question: string): readonly string[] {
  const words = question.normalize("NFC").toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const all = [...new Set(words)];
  const telling = all.filter((word) => !STOP_WORDS.has(word));
  return (telling.length > 0 ? telling : all).slice(0, MOST_WORDS).flatMap(terms);
}

function terms(word: string): readonly string[] {
  const stem = word.replace(ENDING, "");
  return stem === word || stem.length < SHORTEST_STEM ? [term(word)] : [term(word), term(stem)];
}

function term(word: string): string {
  return `"${word}"${word.length < SHORTEST_BEGINNING ? "" : "*"}`;
}

/** A row as SQLite gives it. */
type IndexRow = Readonly<Record<string, unknown>>;

/** How long another process's transaction is waited for: it may be putting in a whole library. */
const LOCK_WAIT_MS = 60_000;

/** Of a large index all that a question looks at stays in memory. */
const CACHE_KIB = 65_536;

/** The SQLite file of an index; each statement is prepared once. */
export class IndexDatabase implements Disposable {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** @throws {Error} when the file is no such index, or cannot be written */
  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    try {
      this.#database.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}; PRAGMA foreign_keys = ON`);
      this.#database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
      // What a document said is not to be found in the file when the document is gone.
      this.#database.exec("PRAGMA secure_delete = ON");
      prepareIndex(this.#database);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** All or nothing, also when the process dies in the middle of it. */
  transaction(work: () => void): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      work();
      this.#database.exec("COMMIT");
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** The number of the row that was put in last. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).lastInsertRowid);
  }

  rows(sql: string, ...values: SQLInputValue[]): readonly IndexRow[] {
    return this.#statement(sql).all(...values);
  }

  [Symbol.dispose](): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  #statement(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

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
function prepareIndex(database: DatabaseSync): void {
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

/** Where a document is looked for: in every search, or only where the secondary ones are wanted. */
export type DocumentRole = "primary" | "secondary";

/** What an index knows of a document besides its passages. */
export interface IndexedDocument {
  /** Another one, when anything that decides its passages has changed. */
  readonly key: string;
  readonly role: DocumentRole;
  readonly id: string;
  readonly name: string;
  readonly link?: string;
}

/** A passage that an index keeps. */
export interface IndexedPassage {
  readonly text: string;
  /** Titles above it, and its document's name: searched too, with more weight. */
  readonly titles: string;
  /** The page it begins on, from 1. */
  readonly page: number;
  /** In the text of its document, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** A document that an index does not have yet. */
export interface NewDocument extends IndexedDocument {
  readonly passages: readonly IndexedPassage[];
}

/** A document that is to be searched. */
export interface SourceDocument extends CollectionDocument {
  readonly role: DocumentRole;
  /** As the files of the world take it. */
  readonly path: string;
}
