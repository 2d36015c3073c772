import { didYouMean } from "../../lib/core/core.ts";
import type { SqlStatement } from "./statement.ts";
import { counted } from "../_words.ts";

/** What SQLite can store. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** What stands for the variables of a statement: a list for `?`, an object for `:name`. */
export type SqlParameters = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Values as a prepared statement takes them: in order, or by name. */
export type BoundParameters =
  | { readonly kind: "list"; readonly values: readonly SqlValue[] }
  | { readonly kind: "names"; readonly values: Record<string, SqlValue> };

/**
 * Makes the values fit the variables of the statement.
 *
 * @throws {Error} when one is missing or left over, or cannot be a value of SQLite.
 */
export function bindParameters(
  { tokens }: SqlStatement,
  parameters: SqlParameters | undefined,
): BoundParameters {
  const variables = tokens.filter((token) => token.kind === "variable").map((token) => token.text);
  const named = [...new Set(variables.filter((text) => !text.startsWith("?")))];
  const numbered = variables.filter((text) => text.startsWith("?"));
  if (named.length > 0 && numbered.length > 0) {
    throw new Error(
      `Cannot run the SQL: it has both "${numbered[0]}" and "${named[0]}"; use only one kind of variable`,
    );
  }
  if (named.length > 0) return { kind: "names", values: bindNames(named, parameters) };
  return { kind: "list", values: bindList(countOf(numbered), parameters) };
}

/** `?` has the number after the highest one so far, `?5` the number 5 (sqlite.org/lang_expr.html). */
function countOf(numbered: readonly string[]): number {
  return numbered.reduce(
    (highest, text) => text === "?" ? highest + 1 : Math.max(highest, Number(text.slice(1))),
    0,
  );
}

function bindList(count: number, parameters: SqlParameters | undefined): SqlValue[] {
  const given = parameters ?? [];
  if (!isList(given)) {
    if (Object.keys(given).length === 0 && count === 0) return [];
    const expected = count === 0
      ? "the SQL has no variables"
      : `the SQL has ${counted(count, "variable")} "?", which takes a list`;
    throw new Error(`Cannot run the SQL: "parameters" is an object, but ${expected}`);
  }
  if (given.length !== count) {
    throw new Error(
      `Cannot run the SQL: it has ${counted(count, "variable")} "?", but "parameters" holds ${
        counted(given.length, "value")
      }`,
    );
  }
  return given.map((value, index) => toSqlValue(value, `parameters/${index}`));
}

function bindNames(
  named: readonly string[],
  parameters: SqlParameters | undefined,
): Record<string, SqlValue> {
  if (parameters === undefined || isList(parameters)) {
    throw new Error(
      `Cannot run the SQL: it has the variable "${named[0]}"; pass "parameters" as an object {"${
        named[0]?.slice(1)
      }": …}`,
    );
  }
  const given = new Map(
    Object.entries(parameters).map(([name, value]) => [name.replace(/^[:@$#]/, ""), value]),
  );
  const bare = named.map((text) => text.slice(1));
  const unknown = [...given.keys()].find((name) => !bare.includes(name));
  if (unknown !== undefined) {
    throw new Error(
      `Cannot run the SQL: "parameters/${unknown}" is no variable of it.${didYouMean(unknown, bare)}`,
    );
  }
  return Object.fromEntries(named.map((text) => {
    const name = text.slice(1);
    if (!given.has(name)) {
      throw new Error(`Cannot run the SQL: the variable "${text}" has no value in "parameters"`);
    }
    return [text, toSqlValue(given.get(name), `parameters/${name}`)];
  }));
}

function toSqlValue(value: unknown, path: string): SqlValue {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  // A JavaScript number would be stored as a float in a column without a type.
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === "object" && value !== null && "base64" in value && typeof value.base64 === "string") {
    return bytesOf(value.base64, path);
  }
  throw new Error(
    `Cannot use "${path}": expected a text, number, true, false, null, or {"base64": "…"} for bytes`,
  );
}

function bytesOf(base64: string, path: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch (cause) {
    throw new Error(`Cannot use "${path}/base64": it is not base64`, { cause });
  }
}

function isList(parameters: SqlParameters): parameters is readonly unknown[] {
  return Array.isArray(parameters);
}
