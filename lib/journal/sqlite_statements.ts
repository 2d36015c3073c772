import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { withSqliteProblems } from "./sqlite_problem.ts";
import type { SqliteRow } from "./sqlite_rows.ts";

/** The statements of one open database, each prepared once. */
export class SqliteStatements {
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
