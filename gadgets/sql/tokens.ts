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
export function tokenizeSql(sql: string): readonly SqlToken[] {
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
