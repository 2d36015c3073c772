// What SQL may say. SQLite itself opens further files for ATTACH and VACUUM INTO, and neither a read-only connection nor
// Deno's permissions keep it from doing so; so a statement is run only when its first words are known to be harmless.
import { didYouMean } from "../../lib/core/core.ts";

/** One statement that may be run. */
export interface SqlStatement {
  /** Without what stands before and after it. */
  readonly text: string;
  readonly tokens: readonly SqlToken[];
  /** Its first word in capitals. */
  readonly verb: string;
}

const READING = ["SELECT", "VALUES", "WITH", "EXPLAIN", "PRAGMA"];
const WRITING = [
  "INSERT",
  "REPLACE",
  "UPDATE",
  "DELETE",
  "CREATE",
  "DROP",
  "ALTER",
  "REINDEX",
  "ANALYZE",
  "VACUUM",
];
const REFUSED: { readonly [verb: string]: string } = {
  ATTACH: "it would open another file; call SqlQuery for that file",
  DETACH: "no other file is ever attached",
  ...Object.fromEntries(
    ["BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"].map((verb) => [
      verb,
      "each call is one statement in a transaction of its own",
    ]),
  ),
};

/** Pragmas that only tell something: with an argument, which is the name of a table and the like, and without one. */
const TELLING_OF = [
  ...[
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "index_xinfo",
    "foreign_key_list",
  ],
  ...["foreign_key_check", "integrity_check", "quick_check"],
];
const TELLING = [
  ...[
    "database_list",
    "compile_options",
    "function_list",
    "module_list",
    "collation_list",
    "pragma_list",
    "encoding",
  ],
  ...[
    "user_version",
    "schema_version",
    "data_version",
    "application_id",
    "page_count",
    "page_size",
    "freelist_count",
  ],
  ...["journal_mode", "auto_vacuum", "foreign_keys"],
];
/** Pragmas that change the database and nothing beyond it. */
const CHANGING = ["user_version", "application_id", "optimize", "incremental_vacuum"];

const MAX_LENGTH = 1_000_000;

/**
 * Checks that the SQL is one statement that may be run.
 *
 * @throws {Error} that says what is not allowed, where, and what to do instead.
 */
export function checkSql(sql: string, { write }: { readonly write: boolean }): SqlStatement {
  if (sql.length > MAX_LENGTH) {
    throw new Error(`Cannot run the SQL: ${sql.length} characters, at most ${MAX_LENGTH} are allowed`);
  }
  const all = tokenizeSql(sql);
  const tokens = firstStatement(sql, all);
  const [first, last] = [tokens[0], tokens.at(-1)];
  // SQLite gives no statement for such a text, and Deno crashes on that.
  if (first === undefined || last === undefined) throw new Error("Cannot run the SQL: it holds no statement");
  checkVerb(sql, tokens, write);
  return { text: sql.slice(first.start, last.end), tokens, verb: first.text.toUpperCase() };
}

function firstStatement(sql: string, tokens: readonly SqlToken[]): readonly SqlToken[] {
  const end = endOfStatement(tokens);
  const next = tokens.slice(end).find((token) => token.text !== ";");
  if (next !== undefined && end > 0) {
    throw new Error(
      `Cannot run more than one statement: found ${JSON.stringify(next.text)} ${
        placeInSql(sql, next.start)
      } after the end of the ` +
        "first; call SqlQuery once for each",
    );
  }
  return next === undefined ? tokens.slice(0, end) : tokens.slice(tokens.indexOf(next));
}

/** A trigger holds statements of its own, between BEGIN and the END that belongs to it. */
function endOfStatement(tokens: readonly SqlToken[]): number {
  const words = tokens.slice(0, 3).map((token) => token.text.toUpperCase());
  const isTrigger = words[0] === "CREATE" &&
    (words[1] === "TRIGGER" || (/^TEMP/.test(words[1] ?? "") && words[2] === "TRIGGER"));
  let depth = 0;
  const end = tokens.findIndex(({ kind, text }) => {
    const word = isTrigger && kind === "word" ? text.toUpperCase() : "";
    if ((word === "BEGIN" && depth === 0) || (word === "CASE" && depth > 0)) depth++;
    else if (word === "END") depth--;
    return text === ";" && depth <= 0;
  });
  return end < 0 ? tokens.length : end;
}

function checkVerb(sql: string, tokens: readonly SqlToken[], write: boolean): void {
  const first = tokens[0];
  const verb = first?.text.toUpperCase() ?? "";
  const place = placeInSql(sql, first?.start ?? 0);
  if (verb === "EXPLAIN") return checkExplained(sql, tokens, write);
  if (verb === "PRAGMA") return checkPragma(sql, tokens, write);
  const reason = Object.hasOwn(REFUSED, verb) ? REFUSED[verb] : undefined;
  if (reason !== undefined) throw new Error(`Cannot run ${verb} ${place}: ${reason}`);
  if (WRITING.includes(verb) && !write) {
    throw new Error(`Cannot run ${verb} ${place}: it changes the database; pass "write": true`);
  }
  if (!READING.includes(verb) && !WRITING.includes(verb)) {
    const known = [...READING, ...WRITING];
    const shown = JSON.stringify(first?.text ?? "");
    throw new Error(
      `Cannot run the SQL: found ${shown} ${place}, expected one of ${known.join(", ")}.${
        didYouMean(verb, known)
      }`,
    );
  }
  if (verb === "VACUUM" && tokens.some((token) => token.text.toUpperCase() === "INTO")) {
    throw new Error(`Cannot run VACUUM INTO ${place}: it would write another file`);
  }
}

/** EXPLAIN runs nothing, but some pragmas act while a statement is only being read. */
function checkExplained(sql: string, tokens: readonly SqlToken[], write: boolean): void {
  const isPlan = tokens[1]?.text.toUpperCase() === "QUERY" && tokens[2]?.text.toUpperCase() === "PLAN";
  const explained = tokens.slice(isPlan ? 3 : 1);
  if (explained.length === 0) {
    throw new Error(`Cannot run EXPLAIN ${placeInSql(sql, sql.length)}: no statement follows`);
  }
  const isPragma = explained[0]?.text.toUpperCase() === "PRAGMA";
  checkVerb(sql, explained, isPragma ? write : true);
}

function checkPragma(sql: string, tokens: readonly SqlToken[], write: boolean): void {
  const named = tokens[2]?.text === "." ? 3 : 1;
  const token = tokens[named];
  const name = token?.kind === "word" ? token.text.toLowerCase() : "";
  const hasArgument = tokens.length > named + 1;
  if (TELLING_OF.includes(name) || (TELLING.includes(name) && !hasArgument)) return;
  const place = placeInSql(sql, tokens[0]?.start ?? 0);
  if (CHANGING.includes(name)) {
    if (write) return;
    throw new Error(`Cannot run PRAGMA ${name} ${place}: it changes the database; pass "write": true`);
  }
  if (TELLING.includes(name)) throw new Error(`Cannot set PRAGMA ${name} ${place}: it can only be read`);
  const known = [...new Set([...TELLING_OF, ...TELLING, ...CHANGING])];
  const shown = JSON.stringify(token?.text ?? "");
  throw new Error(
    `Cannot run PRAGMA ${shown} ${place}: expected one of ${known.join(", ")}.${didYouMean(name, known)}`,
  );
}

/** A token of SQL. Blanks and comments are none. */
export interface SqlToken {
  /** `name` is a quoted name; a `text` in single quotes may be one too. */
  readonly kind: "word" | "text" | "name" | "number" | "variable" | "sign";
  /** As it is written, quotes included. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const BLANKS = /(?:[ \t\n\f\r\uFEFF]+|--[^\n]*)+/y;
const SIMPLE: readonly (readonly [SqlToken["kind"], RegExp])[] = [
  ["word", /[A-Za-z_\u0080-\uFFFF][\w$\u0080-\uFFFF]*/y],
  ["variable", /\?\d*|[:@$#][\w$\u0080-\uFFFF]+/y],
  ["number", /(?:\d|\.\d)[\w.]*/y],
  ["sign", /[^]/y],
];
const QUOTES: { readonly [open: string]: readonly [SqlToken["kind"], string] } = {
  "'": ["text", "'"],
  '"': ["name", '"'],
  "`": ["name", "`"],
  "[": ["name", "]"],
};

/**
 * Takes SQL apart as SQLite's own tokenizer does (sqlite.org/src/file/src/tokenize.c).
 *
 * @throws {Error} for a quote that is not closed, and for a NUL, where SQLite would stop reading.
 */
function tokenizeSql(sql: string): readonly SqlToken[] {
  const nul = sql.indexOf("\0");
  if (nul >= 0) throw new Error(`Cannot read the SQL: found a NUL character ${placeInSql(sql, nul)}`);
  const tokens: SqlToken[] = [];
  let at = skipBlanks(sql, 0);
  while (at < sql.length) {
    const token = readToken(sql, at);
    tokens.push(token);
    at = skipBlanks(sql, token.end);
  }
  return tokens;
}

/** `in line 2, column 5`. */
export function placeInSql(sql: string, offset: number): string {
  const before = sql.slice(0, offset);
  return `in line ${before.split("\n").length}, column ${offset - before.lastIndexOf("\n")}`;
}

function skipBlanks(sql: string, from: number): number {
  let at = from;
  while (at < sql.length) {
    const blanks = take(BLANKS, sql, at);
    if (blanks !== undefined) at += blanks.length;
    else if (!sql.startsWith("/*", at)) break;
    else {
      const end = sql.indexOf("*/", at + 2);
      at = end < 0 ? sql.length : end + 2;
    }
  }
  return at;
}

function readToken(sql: string, start: number): SqlToken {
  const quote = QUOTES[sql.charAt(start)];
  if (quote !== undefined) return readQuoted(sql, { start, kind: quote[0], close: quote[1] });
  for (const [kind, pattern] of SIMPLE) {
    const text = take(pattern, sql, start);
    if (text !== undefined) return { kind, text, start, end: start + text.length };
  }
  throw new Error(`Cannot read the SQL ${placeInSql(sql, start)}`);
}

/** A doubled quote stands for itself, but not `]]`. */
function readQuoted(
  sql: string,
  { start, kind, close }: { start: number; kind: SqlToken["kind"]; close: string },
): SqlToken {
  let at = sql.indexOf(close, start + 1);
  while (at >= 0 && close !== "]" && sql[at + 1] === close) at = sql.indexOf(close, at + 2);
  if (at < 0) {
    throw new Error(`Cannot read the SQL: the ${sql.charAt(start)} ${placeInSql(sql, start)} is not closed`);
  }
  return { kind, text: sql.slice(start, at + 1), start, end: at + 1 };
}

function take(pattern: RegExp, sql: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(sql)?.[0];
}
