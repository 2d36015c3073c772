import { didYouMean } from "../lib/core/nearest.ts";
import { messageOf } from "../lib/core/source_error.ts";
import type { SqlStatement } from "./_sql_statement.ts";
import { placeInSql, type SqlToken } from "./_sql_tokens.ts";

/** As much of an open database as is needed here. */
interface Database {
  prepare(sql: string): { all(...values: string[]): readonly object[] };
}

interface Tried {
  readonly database: Database;
  readonly sql: string;
  readonly statement: SqlStatement;
}

const MAX_TRIED = 50;
const MAX_NAMED = 30;

/** SQLite's error with what Deno leaves out: where in the SQL it is; and what the name should have been. */
export function sqlProblem(error: unknown, tried: Tried): Error {
  const message = messageOf(error);
  const offset = offsetOf(message, tried);
  const place = offset === undefined ? "" : ` ${placeInSql(tried.sql, offset)}`;
  return new Error(`Cannot run the SQL: ${message}${place}${advice(message, tried)}`, { cause: error });
}

function offsetOf(message: string, tried: Tried): number | undefined {
  const { tokens, text } = tried.statement;
  if (message === "incomplete input") return (tokens[0]?.start ?? 0) + text.length;
  const near = /^near "([^]*)": syntax error$/.exec(message)?.[1];
  if (near !== undefined) {
    return tokens.filter((token) => token.text === near).slice(0, MAX_TRIED).find(endsReading)?.start;
  }
  const name = wrongName(message);
  const places = tokens.filter((token) =>
    name !== undefined && bareName(token).toLowerCase() === name.toLowerCase()
  );
  return places.length === 1 ? places[0]?.start : undefined;

  /** Of several tokens alike, the wrong one is the first that SQLite does not get over. */
  function endsReading(token: SqlToken): boolean {
    try {
      tried.database.prepare(tried.sql.slice(tokens[0]?.start, token.end));
      return false;
    } catch (error) {
      return messageOf(error) === message;
    }
  }
}

/** `no such column: u.nmae` -> `nmae`. */
function wrongName(message: string): string | undefined {
  const found =
    /^(?:no such (?:column|table|function|view|index|trigger): |ambiguous column name: )(.*)$/.exec(message)
      ?.[1] ??
      / has no column named (.*)$/.exec(message)?.[1];
  return found?.slice(found.lastIndexOf(".") + 1).replace(/^"(.*)"$/, "$1");
}

function bareName({ kind, text }: SqlToken): string {
  return kind === "name" ? text.slice(1, -1) : text;
}

function advice(message: string, { database, statement }: Tried): string {
  if (/readonly database/.test(message)) return '; pass "write": true to change the database';
  if (/database is locked/.test(message)) return "; another program is writing to it, so try again later";
  const name = wrongName(message) ?? "";
  const tables = namesIn(
    database,
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name",
  );
  if (message.startsWith("no such table")) return `.${didYouMean(name, tables)} ${listed("tables", tables)}`;
  if (!/no such column|has no column/.test(message)) return "";
  const mentioned = new Set(statement.tokens.map((token) => bareName(token).toLowerCase()));
  const columns = tables.filter((table) => mentioned.has(table.toLowerCase())).flatMap((table) =>
    namesIn(database, "SELECT name FROM pragma_table_xinfo(?)", table)
  );
  return columns.length === 0
    ? ""
    : `.${didYouMean(name, columns)} ${listed("columns", [...new Set(columns)])}`;
}

function listed(what: string, names: readonly string[]): string {
  if (names.length === 0) return `The database has no ${what}`;
  return `The ${what} are ${names.slice(0, MAX_NAMED).join(", ")}${names.length > MAX_NAMED ? ", …" : ""}`;
}

/** Nothing, when even that cannot be read. */
function namesIn(database: Database, sql: string, ...values: string[]): string[] {
  try {
    return database.prepare(sql).all(...values).map((row) => String(Object.values(row)[0]));
  } catch {
    return [];
  }
}
