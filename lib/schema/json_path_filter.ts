// Reads what stands behind the `?` of a filter (RFC 9535, 2.3.5 and 2.4). Functions take arguments of their types only: what would never
// hold is a problem of the path, not a filter that selects nothing.

import { didYouMean } from "../core/nearest.ts";
import { PATH_FUNCTIONS } from "./json_path_functions.ts";
import type { PathFunctionName } from "./json_path_functions.ts";
import { maybeNumber, maybeText } from "./json_path_literal.ts";
import { readPattern } from "./json_path_pattern.ts";
import type { PathScanner } from "./json_path_scanner.ts";
import { isSingular } from "./json_path_tree.ts";
import type { ComparisonOperator, PathCall, PathQuery, PathTest, PathValue } from "./json_path_tree.ts";

/** Reads a query that begins where the scanner is; undefined where none does. */
type ReadQuery = (scanner: PathScanner) => PathQuery | undefined;

const COMPARISONS: readonly ComparisonOperator[] = ["==", "!=", "<=", ">=", "<", ">"];

/** What a filter asks of an item. @throws {PathProblem} */
export function readTest(scanner: PathScanner, readQuery: ReadQuery): PathTest {
  return scanner.nested(() => new FilterReader(scanner, readQuery).any());
}

class FilterReader {
  readonly #scanner: PathScanner;
  readonly #readQuery: ReadQuery;

  constructor(scanner: PathScanner, readQuery: ReadQuery) {
    this.#scanner = scanner;
    this.#readQuery = readQuery;
  }

  any(): PathTest {
    return this.#joined("||", "any", () => this.#joined("&&", "all", () => this.#basic()));
  }

  /** One or more of what `read` reads, with the operator between them. */
  #joined(operator: string, kind: "any" | "all", read: () => PathTest): PathTest {
    const tests: PathTest[] = [];
    do {
      this.#scanner.skipBlanks();
      tests.push(read());
      this.#scanner.skipBlanks();
    } while (this.#scanner.take(operator));
    const [only] = tests;
    return only !== undefined && tests.length === 1 ? only : { kind, tests };
  }

  #basic(): PathTest {
    const scanner = this.#scanner;
    if (scanner.take("!")) {
      scanner.skipBlanks();
      return { kind: "not", test: this.#maybeParenthesized() ?? this.#standing() };
    }
    return this.#maybeParenthesized() ?? this.#comparisonOrTest();
  }

  #maybeParenthesized(): PathTest | undefined {
    if (!this.#scanner.take("(")) return undefined;
    const test = this.#scanner.nested(() => this.any());
    this.#scanner.expect(")");
    return test;
  }

  /** What is a test by itself, and is not compared. */
  #standing(): PathTest {
    const call = this.#maybeCall();
    if (call !== undefined) return this.#testOf(call);
    const query = this.#readQuery(this.#scanner);
    return query === undefined
      ? this.#scanner.fail("a test such as @.name, or one in parentheses")
      : { kind: "exists", query };
  }

  #comparisonOrTest(): PathTest {
    const scanner = this.#scanner;
    const start = scanner.at;
    const literal = this.#maybeLiteral();
    const call = literal === undefined ? this.#maybeCall() : undefined;
    const query = literal === undefined && call === undefined ? this.#readQuery(scanner) : undefined;
    scanner.skipBlanks();
    const operator = COMPARISONS.find((token) => scanner.take(token));
    if (operator === undefined) {
      if (call !== undefined) return this.#testOf(call);
      if (query !== undefined) return { kind: "exists", query };
      return scanner.fail(literal === undefined ? "a test such as @.name or @.price < 10" : "a comparison");
    }
    const left = literal ?? (call && this.#valueOf(call)) ?? (query && this.#one(query, start));
    if (left === undefined) {
      scanner.at = start;
      return scanner.fail("a value in front of the comparison");
    }
    scanner.skipBlanks();
    return { kind: "compare", operator, left, right: this.#value() };
  }

  /** A value: written out, of a query that selects one at most, or of a function. */
  #value(): PathValue {
    const start = this.#scanner.at;
    const literal = this.#maybeLiteral();
    if (literal !== undefined) return literal;
    const call = this.#maybeCall();
    if (call !== undefined) return this.#valueOf(call);
    const query = this.#readQuery(this.#scanner);
    return query === undefined
      ? this.#scanner.fail('a value such as "text", 10 or @.name')
      : this.#one(query, start);
  }

  #one(query: PathQuery, offset: number): PathValue {
    if (isSingular(query)) return { kind: "query", query };
    return this.#scanner.refuse(
      "a query that can select several values",
      offset,
      ", expected one of a single value, such as @.name[0].",
    );
  }

  #maybeLiteral(): PathValue | undefined {
    const value = maybeText(this.#scanner) ?? maybeNumber(this.#scanner) ?? this.#maybeWord();
    return value === undefined ? undefined : { kind: "literal", value };
  }

  #maybeWord(): boolean | null | undefined {
    const word = this.#scanner.maybeMatch(/(?:true|false|null)(?![A-Za-z0-9_(])/y);
    return word === undefined ? undefined : word === "null" ? null : word === "true";
  }

  #maybeCall(): PathCall | undefined {
    const scanner = this.#scanner;
    const offset = scanner.at;
    const name = scanner.maybeMatch(/[a-z][a-z0-9_]*(?=\()/y);
    if (name === undefined) return undefined;
    const known = PATH_FUNCTIONS.find((each) => each === name) ?? this.#unknown(name, offset);
    scanner.expect("(");
    scanner.skipBlanks();
    const call = scanner.nested(() => this.#called(known, offset));
    scanner.skipBlanks();
    scanner.expect(")");
    return call;
  }

  #unknown(name: string, offset: number): never {
    const near = didYouMean(name, PATH_FUNCTIONS) || ` The functions are ${PATH_FUNCTIONS.join(", ")}.`;
    return this.#scanner.refuse(`the function "${name}", which JSONPath does not have`, offset, `.${near}`);
  }

  #called(name: PathFunctionName, offset: number): PathCall {
    switch (name) {
      case "length":
        return { name, offset, value: { kind: name, of: this.#value() } };
      case "count":
      case "value":
        return { name, offset, value: { kind: name, of: this.#nodes(name) } };
      case "match":
      case "search":
        return { name, offset, test: this.#pattern(name, offset) };
      default:
        return name satisfies never;
    }
  }

  #nodes(name: string): PathQuery {
    return this.#readQuery(this.#scanner) ?? this.#scanner.fail(`a query for ${name}, such as @.items[*]`);
  }

  #pattern(name: "match" | "search", offset: number): Extract<PathTest, { readonly kind: "matches" }> {
    const scanner = this.#scanner;
    const value = this.#value();
    scanner.skipBlanks();
    scanner.expect(",");
    scanner.skipBlanks();
    const text = maybeText(scanner);
    if (text === undefined) {
      return scanner.refuse(
        `a pattern of ${name} that is not written out, expected text in quotes`,
        offset,
      );
    }
    const pattern = readPattern(text, { isWhole: name === "match" });
    return "refused" in pattern
      ? scanner.refuse(pattern.refused, offset)
      : { kind: "matches", value, pattern };
  }

  #testOf(call: PathCall): PathTest {
    if ("test" in call) return call.test;
    return this.#scanner.refuse(
      `${call.name}(...) alone`,
      call.offset,
      ", expected a comparison of its value.",
    );
  }

  #valueOf(call: PathCall): PathValue {
    if ("value" in call) return call.value;
    return this.#scanner.refuse(
      `${call.name}(...) where a value is needed`,
      call.offset,
      ": it is a test and stands alone.",
    );
  }
}
