import {
  didYouMean,
  FileError,
  type Gadget,
  type Json,
  messageOf,
  objectOf,
  onlyFields,
  type World,
} from "../../lib/core/core.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { inTurn } from "../_text_file.ts";
import { bindParameters, type BoundParameters, type SqlParameters } from "./parameters.ts";
import { checkSql, placeInSql, type SqlStatement, type SqlToken } from "./statement.ts";

interface Input {
  readonly database: string;
  readonly sql: string;
  readonly parameters?: SqlParameters;
  readonly write?: boolean;
  readonly maxRows?: number;
}

interface Output {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, Json>>[];
  readonly truncated: boolean;
  readonly changes?: number;
  readonly lastInsertRowid?: Json;
}

interface RowLimits {
  readonly maxRows: number;
  /** Called between rows; may throw. */
  readonly onRow: () => void;
}

const DEFAULT_ROWS = 1000;
const MAX_ROWS = 100_000;
/** Rows end before the result would be longer than what a run keeps of one. */
const MAX_RESULT_LENGTH = 900_000;
const TIMEOUT_MS = 60_000;
const LOCK_WAIT_MS = 2_000;
/** They change nothing, so they may run twice; WITH only where nothing can be written. */
const READING_VERBS: readonly string[] = ["SELECT", "VALUES", "WITH"];

/** `SqlQuery`: one statement of SQL on a file of SQLite. */
export default function sqlQuery(world: World): Gadget<Input> {
  return {
    name: "SqlQuery",
    description:
      "Runs one SQL statement on an SQLite database file and returns its rows. The database is opened read only unless `write` is " +
      "true. Put values into `parameters`, not into the SQL. To see what is there: SELECT name, sql FROM sqlite_schema. Further files " +
      "(ATTACH, VACUUM INTO), transactions (BEGIN) and settings (most PRAGMAs) are refused.",
    input: onlyFields({
      database: {
        type: "string",
        minLength: 1,
        description: 'The file, relative to the project root: "data/app.db".',
      },
      sql: { type: "string", minLength: 1, description: "One statement of SQLite's SQL." },
      parameters: {
        type: ["array", "object"],
        description:
          'Values of the variables in the SQL: a list for "?", an object for ":name". Bytes are {"base64": "…"}.',
      },
      write: {
        type: "boolean",
        description:
          "True lets the statement change the database, which is made when there is none. Default: false.",
      },
      maxRows: {
        type: "integer",
        minimum: 1,
        maximum: MAX_ROWS,
        description: `How many rows to return at most. Default: ${DEFAULT_ROWS}.`,
      },
    }, ["database", "sql"]),
    output: objectOf({
      columns: {
        type: "array",
        items: { type: "string" },
        description: "In their order; the second `id` is `id_2`.",
      },
      rows: {
        type: "array",
        items: { type: "object" },
        description: "By column. Bytes are {base64}; whole numbers beyond ±9007199254740991 are text.",
      },
      truncated: { type: "boolean", description: "True when there are more rows." },
      changes: { type: "integer", description: "How many rows a writing statement changed." },
      lastInsertRowid: { type: ["integer", "string"], description: "The row that an INSERT made last." },
    }, ["columns", "rows", "truncated"]),
    permissions: { read: true, write: true },
    idempotent: ({ write }) => write !== true,
    untrusted: false,
    timeoutMs: TIMEOUT_MS,
    examples: [
      {
        input: { database: "data/app.db", sql: "SELECT name, sql FROM sqlite_schema" },
        comment: "what is in it",
      },
      {
        input: {
          database: "data/app.db",
          sql: "SELECT * FROM users WHERE age > ? LIMIT 10",
          parameters: [30],
        },
      },
      {
        input: {
          database: "data/app.db",
          sql: "UPDATE users SET name = :name WHERE id = :id",
          parameters: { id: 7, name: "Ada" },
          write: true,
        },
      },
    ],
    async run({ database, sql, parameters, write = false, maxRows = DEFAULT_ROWS }, { signal }) {
      const statement = checkSql(sql, { write });
      const bound = bindParameters(statement, parameters);
      const path = await checkedPath(world, { database, write });
      const { DatabaseSync } = await import("node:sqlite");
      const end = world.clock.now() + TIMEOUT_MS - 5_000;
      // SQLite runs in this process: a query that comes to no row cannot be stopped.
      const onRow = () => {
        if (world.clock.now() > end) throw new Error("it did not end in time; use LIMIT, or an index");
      };
      return await inTurn(path, () => {
        signal.throwIfAborted();
        // Arrays, because two columns may have one name. In a constant, because its type does not know of them yet.
        const options = { readOnly: !write, timeout: LOCK_WAIT_MS, returnArrays: true };
        return Promise.resolve(query(() => new DatabaseSync(path, options), {
          database,
          sql,
          statement,
          bound,
          write,
          limits: { maxRows, onRow },
        }));
      });
    },
  };
}

/** SQLite opens files by itself, so the policy is asked here, about the real path. */
async function checkedPath(
  world: World,
  { database, write }: { database: string; write: boolean },
): Promise<string> {
  const path = await world.files.resolve(database);
  await world.policy.permit({ kind: "read", value: path });
  if (write) await world.policy.permit({ kind: "write", value: path });
  const cannot = `Cannot open the database ${JSON.stringify(database)}`;
  try {
    const { kind } = await world.files.stat(database);
    if (kind !== "file") {
      throw new Error(`${cannot}: it is ${kind === "folder" ? "a folder" : "not a regular file"}`);
    }
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "not-found") throw error;
    if (!write) {
      throw new Error(`${cannot}: no such file; it is made only with "write": true`, { cause: error });
    }
  }
  return path;
}

interface Query {
  readonly database: string;
  readonly sql: string;
  readonly statement: SqlStatement;
  readonly bound: BoundParameters;
  readonly write: boolean;
  readonly limits: RowLimits;
}

function query(open: () => DatabaseSync, asked: Query): Output {
  const database = opened(open, asked.database);
  try {
    // What a stored view or trigger calls is as foreign as the file is.
    database.exec("PRAGMA trusted_schema = OFF");
    return runStatement(database, asked);
  } catch (error) {
    if (messageOf(error) === "file is not a database") {
      throw new Error(`Cannot read ${JSON.stringify(asked.database)}: it is not an SQLite database`, {
        cause: error,
      });
    }
    throw sqlProblem(error, { database, sql: asked.sql, statement: asked.statement });
  } finally {
    database.close();
  }
}

function opened(open: () => DatabaseSync, name: string): DatabaseSync {
  try {
    return open();
  } catch (cause) {
    // SQLite's message ends with the real path, which nobody asked for.
    const reason = messageOf(cause).replace(/: \/.*$/s, "");
    throw new Error(`Cannot open the database ${JSON.stringify(name)}: ${reason}`, { cause });
  }
}

function runStatement(database: DatabaseSync, { statement, bound, write, limits }: Query): Output {
  const prepared = database.prepare(statement.text);
  prepared.setReadBigInts(true);
  const columns = columnNames(prepared.columns().map((column) => column.name));
  const changes = () => write ? changesOf(database, statement.verb) : {};
  if (columns.length === 0) {
    if (bound.kind === "list") prepared.run(...bound.values);
    else prepared.run(bound.values);
    return { columns, rows: [], truncated: false, ...changes() };
  }
  if (READING_VERBS.includes(statement.verb) && !(write && statement.verb === "WITH")) {
    const first = collectRows(columns, streamOf(prepared, bound), limits);
    if (first.truncated) return { columns, ...first, ...changes() };
  }
  // Deno takes an error in the middle of an iteration for its end, so what seems to be complete is read once more.
  const { rows, truncated } = collectRows(columns, allOf(prepared, bound), limits);
  return { columns, rows, truncated, ...changes() };
}

function collectRows(
  columns: readonly string[],
  source: Iterable<unknown>,
  { maxRows, onRow }: RowLimits,
): Pick<Output, "rows" | "truncated"> {
  const rows: Readonly<Record<string, Json>>[] = [];
  let length = 0;
  for (const values of source) {
    onRow();
    const row = rowObject(columns, Array.isArray(values) ? values : []);
    length += JSON.stringify(row).length;
    if (rows.length === maxRows || (length > MAX_RESULT_LENGTH && rows.length > 0)) {
      return { rows, truncated: true };
    }
    rows.push(row);
  }
  return { rows, truncated: false };
}

function streamOf(prepared: StatementSync, bound: BoundParameters): Iterable<unknown> {
  return bound.kind === "list" ? prepared.iterate(...bound.values) : prepared.iterate(bound.values);
}

function allOf(prepared: StatementSync, bound: BoundParameters): Iterable<unknown> {
  return bound.kind === "list" ? prepared.all(...bound.values) : prepared.all(bound.values);
}

function changesOf(database: DatabaseSync, verb: string): Pick<Output, "changes" | "lastInsertRowid"> {
  const row = database.prepare("SELECT changes(), CAST(last_insert_rowid() AS TEXT)").get() ?? {};
  const [changes, rowid] = Object.values(row).map(String);
  const inserted = verb === "INSERT" || verb === "REPLACE";
  const number = Number(rowid);
  return {
    changes: Number(changes),
    ...(inserted && { lastInsertRowid: Number.isSafeInteger(number) ? number : String(rowid) }),
  };
}

/** Bytes inside JSON. */
interface Base64 {
  readonly base64: string;
}

/** The names of a result's columns, made different from each other: the second `id` is `id_2`. */
function columnNames(names: readonly string[]): readonly string[] {
  const used = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let number = 2; used.has(free); number++) free = `${name}_${number}`;
    used.add(free);
    return free;
  });
}

/** A row as JSON: bytes as base64; a whole number beyond ±(2^53 - 1), which JSON would round, and infinity as text. */
function rowObject(
  columns: readonly string[],
  values: readonly unknown[],
): Readonly<Record<string, Json>> {
  // Not by assignment: a column can be called "__proto__".
  return Object.fromEntries(columns.map((name, index) => [name, toJsonValue(values[index])]));
}

function toJsonValue(value: unknown): Json {
  switch (typeof value) {
    case "bigint":
      return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
        ? Number(value)
        : String(value);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "string":
      return value;
    default:
      return value instanceof Uint8Array ? { ...base64Of(value) } : null;
  }
}

function base64Of(bytes: Uint8Array): Base64 {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x8000) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  }
  return { base64: btoa(parts.join("")) };
}

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
function sqlProblem(error: unknown, tried: Tried): Error {
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
