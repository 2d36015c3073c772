import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { prepareIndex } from "./index_schema.ts";

/** A row as SQLite gives it. */
export type IndexRow = Readonly<Record<string, unknown>>;

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
