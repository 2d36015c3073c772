import { losesDigits } from "../lib/core/json.ts";
import { nearestName } from "../lib/core/nearest.ts";
import type { SourceError } from "../lib/core/source_error.ts";
import { EXPRESSION_CONSTANTS, EXPRESSION_FUNCTIONS } from "./_expression_functions.ts";
import { expressionError, expressionTokens, type Token } from "./_expression_tokens.ts";

/** A step of the stack machine; `at` is what an error underlines. */
export type Operation =
  | { readonly kind: "push"; readonly value: number }
  | { readonly kind: "variable"; readonly at: Token }
  | { readonly kind: "negate"; readonly at: Token }
  | { readonly kind: "binary"; readonly at: Token }
  | { readonly kind: "call"; readonly at: Token; readonly count: number };

const MAX_DEPTH = 200;

/** How tightly an operator binds. */
const COMPARE = 1;
const POWER = 5;
const BINDING: ReadonlyMap<string, number> = new Map([
  ...["==", "!=", "<", "<=", ">", ">="].map((operator) => [operator, COMPARE] as const),
  ...["+", "-"].map((operator) => [operator, 2] as const),
  ...["*", "/", "%"].map((operator) => [operator, 3] as const),
  ...["^", "**"].map((operator) => [operator, POWER] as const),
]);

/**
 * Turns an expression into operations in reverse Polish order.
 *
 * @param names the variables that it may use
 * @throws {SourceError} for what cannot be read, with line and column
 */
export function compileExpression(text: string, names: readonly string[]): readonly Operation[] {
  return new Compiler(text, names).compile();
}

class Compiler {
  readonly #text: string;
  readonly #names: readonly string[];
  readonly #tokens: readonly Token[];
  readonly #program: Operation[] = [];
  #index = 0;
  #depth = 0;

  constructor(text: string, names: readonly string[]) {
    this.#text = text;
    this.#names = names;
    this.#tokens = expressionTokens(text);
  }

  compile(): readonly Operation[] {
    this.#expression(COMPARE);
    if (this.#peek().kind !== "end") throw this.#unexpected("an operator");
    return this.#program;
  }

  /** Reads one operand and all operators after it that bind at least as tightly as `least`. */
  #expression(least: number): void {
    if (++this.#depth > MAX_DEPTH) {
      throw this.#error((place) => `Cannot read expression: more than ${MAX_DEPTH} levels at ${place}`);
    }
    this.#operand();
    let compared = false;
    while (true) {
      const at = this.#peek();
      const binding = at.kind === "symbol" ? BINDING.get(at.text) : undefined;
      if (binding === undefined || binding < least) break;
      if (binding === COMPARE && compared) {
        throw this.#unexpected("the end, since a comparison has two sides only");
      }
      compared ||= binding === COMPARE;
      this.#index++;
      this.#expression(binding === POWER ? POWER : binding + 1);
      this.#program.push({ kind: "binary", at });
    }
    this.#depth--;
  }

  #operand(): void {
    const at = this.#peek();
    if (at.kind === "number") return this.#number(at);
    if (at.kind === "name") return this.#name(at);
    if (at.text === "(") return this.#brackets();
    if (at.text !== "-" && at.text !== "+") throw this.#unexpected("a number");
    this.#index++;
    this.#expression(POWER);
    if (at.text === "-") this.#program.push({ kind: "negate", at });
    else this.#program.push({ kind: "push", value: 0 }, { kind: "binary", at });
  }

  #number(at: Token): void {
    const digits = at.text.replaceAll("_", "");
    const value = Number(digits);
    if (losesDigits(digits)) {
      const why = Number.isFinite(value) ? "has more digits than can be calculated with" : "is too large";
      const number = Number.isFinite(value) ? `${at.text} ` : "";
      throw this.#error((place) => `Cannot read expression: the number ${number}at ${place} ${why}`);
    }
    this.#index++;
    this.#program.push({ kind: "push", value });
  }

  #brackets(): void {
    this.#index++;
    this.#expression(COMPARE);
    if (this.#peek().text !== ")") throw this.#unexpected(`an operator or ")"`);
    this.#index++;
  }

  #name(at: Token): void {
    this.#index++;
    if (this.#peek().text === "(") return this.#call(at);
    if (this.#names.includes(at.text)) return void this.#program.push({ kind: "variable", at });
    const value = EXPRESSION_CONSTANTS.get(at.text.toLowerCase());
    if (value === undefined) throw this.#unknownName(at);
    this.#program.push({ kind: "push", value });
  }

  #call(at: Token): void {
    if (!EXPRESSION_FUNCTIONS.has(at.text.toLowerCase())) throw this.#unknownFunction(at);
    this.#index++;
    let count = 0;
    while (this.#peek().text !== ")" || count > 0) {
      this.#expression(COMPARE);
      count++;
      if (this.#peek().text === ")") break;
      if (this.#peek().text !== ",") throw this.#unexpected(`an operator, "," or ")"`);
      this.#index++;
    }
    this.#index++;
    this.#program.push({ kind: "call", at, count });
  }

  #peek(): Token {
    return this.#tokens[this.#index] ?? { kind: "end", text: "", offset: this.#text.length };
  }

  #error(what: (place: string) => string, at = this.#peek(), hint?: string): SourceError {
    return expressionError(this.#text, at, { what, hint });
  }

  #unexpected(expected: string): SourceError {
    const { kind, text } = this.#peek();
    const found = kind === "end" ? "the end" : JSON.stringify(text);
    return this.#error(
      (place) => `Cannot read expression: found ${found} at ${place}, expected ${expected}`,
      this.#peek(),
      this.#hintFor(text),
    );
  }

  #hintFor(found: string): string | undefined {
    if (found === ",") {
      return "Write 1000 or 1_000 for a thousand: a comma only separates the values of a function.";
    }
    const before = this.#tokens[this.#index - 1];
    const multiplies = /^[\p{L}(]/u.test(found) && (before?.kind === "number" || before?.text === ")");
    return multiplies ? `Write "*" to multiply: 2 * x.` : undefined;
  }

  #unknownName(at: Token): SourceError {
    const isFunction = EXPRESSION_FUNCTIONS.has(at.text.toLowerCase());
    const near = nearestName(at.text, [...this.#names, ...EXPRESSION_CONSTANTS.keys()]);
    const hint = isFunction
      ? `${at.text} is a function: write ${at.text}(x).`
      : near === undefined
      ? `Give its value in "variables".`
      : `Did you mean "${near}"?`;
    return this.#error((place) => `Cannot read expression: "${at.text}" at ${place} has no value`, at, hint);
  }

  #unknownFunction(at: Token): SourceError {
    const known = [...EXPRESSION_FUNCTIONS.keys()];
    const near = nearestName(at.text, known);
    const hint = near === undefined ? `The functions are ${known.join(", ")}.` : `Did you mean "${near}"?`;
    return this.#error((place) => `Cannot read expression: no function "${at.text}" at ${place}`, at, hint);
  }
}
