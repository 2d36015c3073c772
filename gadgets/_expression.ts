// An expression becomes a list of operations for a stack (reverse Polish form) and is then run in a loop: only brackets,
// signs and powers nest the parser, and their depth is bounded, so no text of any size overflows the stack.
import { losesDigits, nearestName, placeInWords, SourceError, spanAt } from "../lib/core/core.ts";

/** What an expression may name: numbers, and lists of numbers for functions such as `sum`. */
export type Variables = Readonly<Record<string, number | readonly number[]>>;

type Value = number | boolean | readonly number[];

/** Takes its operands from the stack, and gives what goes onto it. */
type Operation = (stack: Value[]) => Value;

/** A piece of an expression. */
interface Token {
  readonly kind: "number" | "name" | "symbol" | "end";
  readonly text: string;
  /** Where it begins, in UTF-16 units from 0. */
  readonly offset: number;
}

const MAX_LENGTH = 100_000;
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
 * Gives the value of an arithmetic expression: a finite number, or true or false for a comparison. Nothing is evaluated
 * as code. `^` binds from the right and tighter than a sign before it (`-2^2` is -4); `%` has the sign of its left side.
 *
 * @throws {SourceError} with line and column, for what cannot be read and for what has no finite value
 */
export function evaluateExpression(text: string, variables: Variables = {}): number | boolean {
  if (text.length > MAX_LENGTH) {
    throw errorAt(
      text,
      { kind: "end", text: "", offset: 0 },
      () => `Cannot read expression: it has ${text.length} characters, at most ${MAX_LENGTH} are read`,
      `Put long lists of numbers into "variables" and name them: sum(prices).`,
    );
  }
  return new Expression(text, variables).value();
}

class Expression {
  readonly #text: string;
  readonly #variables: Variables;
  readonly #tokens: readonly Token[];
  readonly #program: Operation[] = [];
  #index = 0;
  #depth = 0;

  constructor(text: string, variables: Variables) {
    this.#text = text;
    this.#variables = variables;
    this.#tokens = tokensOf(text);
  }

  value(): number | boolean {
    this.#expression(COMPARE);
    if (this.#peek().kind !== "end") throw this.#unexpected("an operator");
    const stack: Value[] = [];
    for (const operation of this.#program) stack.push(operation(stack));
    const value = stack.pop() ?? NaN;
    if (typeof value === "boolean") return value;
    // Adding 0 makes a plain 0 of -0, which JSON does not have.
    return this.#number(value, { kind: "name", text: this.#text.trim(), offset: 0 }) + 0;
  }

  /** Reads one operand and all operators after it that bind at least as tightly as `least`. */
  #expression(least: number): void {
    if (++this.#depth > MAX_DEPTH) {
      throw this.#unreadable((place) => `more than ${MAX_DEPTH} levels at ${place}`);
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
      this.#program.push((stack) => {
        const right = stack.pop() ?? NaN;
        return this.#binary(at, stack.pop() ?? NaN, right);
      });
    }
    this.#depth--;
  }

  #operand(): void {
    const at = this.#peek();
    if (at.kind === "number") return this.#literal(at);
    this.#index++;
    if (at.kind === "name") return this.#peek().text === "(" ? this.#call(at) : this.#name(at);
    if (at.text === "(") {
      this.#expression(COMPARE);
      if (this.#peek().text !== ")") throw this.#unexpected(`an operator or ")"`);
      this.#index++;
      return;
    }
    if (at.text !== "-" && at.text !== "+") {
      this.#index--;
      throw this.#unexpected("a number");
    }
    this.#expression(POWER);
    const sign = at.text === "-" ? -1 : 1;
    this.#program.push((stack) => sign * this.#number(stack.pop() ?? NaN, at));
  }

  #literal(at: Token): void {
    const digits = at.text.replaceAll("_", "");
    const value = Number(digits);
    if (losesDigits(digits)) {
      const why = Number.isFinite(value) ? "has more digits than can be calculated with" : "is too large";
      const number = Number.isFinite(value) ? `${at.text} ` : "";
      throw this.#unreadable((place) => `the number ${number}at ${place} ${why}`);
    }
    this.#index++;
    this.#program.push(() => value);
  }

  #name(at: Token): void {
    const value = Object.hasOwn(this.#variables, at.text)
      ? this.#variables[at.text]
      : EXPRESSION_CONSTANTS.get(at.text.toLowerCase());
    if (value === undefined) throw this.#unknownName(at);
    this.#program.push(() => value);
  }

  #call(at: Token): void {
    const name = at.text.toLowerCase();
    const called = EXPRESSION_FUNCTIONS.get(name);
    if (called === undefined) throw this.#unknownFunction(at);
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
    this.#program.push((stack) =>
      this.#apply(called, { name, at, values: stack.splice(stack.length - count) })
    );
  }

  #binary(at: Token, left: Value, right: Value): Value {
    if (at.text === "==" || at.text === "!=") return this.#same(left, right, at) === (at.text === "==");
    const x = this.#number(left, at);
    const y = this.#number(right, at);
    if (y === 0 && (at.text === "/" || at.text === "%")) {
      throw this.#failed(at, (place) => `division by zero at ${place}`);
    }
    const value = calculate(at.text, x, y);
    if (!isExact(at.text, [x, y], value)) {
      throw this.#failed(
        at,
        (place) => `${x} ${at.text} ${y} at ${place} has more digits than are kept`,
        "Whole numbers are exact up to 2^53 - 1; divide them before, such as by 1e6.",
      );
    }
    return typeof value === "boolean" ? value : this.#finite(value, at, `${x} ${at.text} ${y}`);
  }

  #apply(
    { least, most, apply }: ExpressionFunction,
    { name, at, values }: { readonly name: string; readonly at: Token; readonly values: readonly Value[] },
  ): number {
    const given = values.flatMap((value) => typeof value === "object" ? value : [this.#number(value, at)]);
    if (given.length < least || given.length > most) {
      const wanted = most === Infinity
        ? `at least ${least}`
        : least === most
        ? `${least}`
        : `${least} to ${most}`;
      const noun = wanted.endsWith("1") ? "value" : "values";
      throw this.#failed(at, (place) => `${name} at ${place} takes ${wanted} ${noun}, found ${given.length}`);
    }
    const shown = given.slice(0, 5).join(", ") + (given.length > 5 ? ", …" : "");
    return this.#finite(apply(given), at, `${name}(${shown})`);
  }

  #same(left: Value, right: Value, at: Token): boolean {
    if (typeof left === "boolean" && typeof right === "boolean") return left === right;
    return this.#number(left, at) === this.#number(right, at);
  }

  #number(value: Value, at: Token): number {
    if (typeof value === "number") return value;
    const found = typeof value === "boolean" ? String(value) : "a list";
    const hint = typeof value === "boolean" ? undefined : "Use a list inside a function only: sum(prices).";
    throw this.#failed(at, (place) => `found ${found} for "${at.text}" at ${place}, expected a number`, hint);
  }

  #finite(value: number, at: Token, what: string): number {
    if (Number.isFinite(value)) return value;
    const why = Number.isNaN(value) ? "has no real value" : "is too large";
    throw this.#failed(at, (place) => `${what} at ${place} ${why}`);
  }

  #peek(): Token {
    return this.#tokens[this.#index] ?? { kind: "end", text: "", offset: this.#text.length };
  }

  #failed(at: Token, what: (place: string) => string, hint?: string): SourceError {
    return errorAt(this.#text, at, (place) => `Cannot calculate: ${what(place)}`, hint);
  }

  #unreadable(what: (place: string) => string, hint?: string, at = this.#peek()): SourceError {
    return errorAt(this.#text, at, (place) => `Cannot read expression: ${what(place)}`, hint);
  }

  #unexpected(expected: string): SourceError {
    const { kind, text } = this.#peek();
    const found = kind === "end" ? "the end" : JSON.stringify(text);
    return this.#unreadable(
      (place) => `found ${found} at ${place}, expected ${expected}`,
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
    const near = nearestName(at.text, [...Object.keys(this.#variables), ...EXPRESSION_CONSTANTS.keys()]);
    const hint = isFunction
      ? `${at.text} is a function: write ${at.text}(x).`
      : near === undefined
      ? `Give its value in "variables".`
      : `Did you mean "${near}"?`;
    return this.#unreadable((place) => `"${at.text}" at ${place} has no value`, hint, at);
  }

  #unknownFunction(at: Token): SourceError {
    const known = [...EXPRESSION_FUNCTIONS.keys()];
    const near = nearestName(at.text, known);
    const hint = near === undefined ? `The functions are ${known.join(", ")}.` : `Did you mean "${near}"?`;
    return this.#unreadable((place) => `no function "${at.text}" at ${place}`, hint, at);
  }
}

const DIGITS = "[0-9]+(?:_[0-9]+)*";
const NUMBER =
  `0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:[eE][+-]?[0-9]+)?`;
const TOKEN = new RegExp(
  String
    .raw`\s+|(?<number>${NUMBER})|(?<name>[\p{L}_][\p{L}\p{N}_]*)|(?<symbol>\*\*|[<>=!]=|[-+*/%^(),<>])|(?<other>.)`,
  "gsu",
);

/** Cuts an expression into tokens. @throws {SourceError} at a character of no token. */
function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(TOKEN)].flatMap(({ 0: found, index: offset, groups = {} }): readonly Token[] => {
    if (groups.number !== undefined) return [{ kind: "number", text: found, offset }];
    if (groups.name !== undefined) return [{ kind: "name", text: found, offset }];
    if (groups.symbol !== undefined) return [{ kind: "symbol", text: found, offset }];
    if (groups.other === undefined) return [];
    throw errorAt(
      text,
      { kind: "symbol", text: found, offset },
      (place) =>
        `Cannot read expression: found ${
          JSON.stringify(found)
        } at ${place}, expected a number, a name or an operator`,
      found === "=" ? `Write "==" to compare two values.` : "The operators are + - * / % ^ == != < <= > >=.",
    );
  });
}

/** An error that names the column of `at` and underlines it; a model reads the message only, so it holds the hint. */
function errorAt(text: string, at: Token, what: (place: string) => string, hint?: string): SourceError {
  const span = spanAt(text, at.offset, { length: Math.max(1, at.text.length) });
  const message = what(placeInWords(text, span)) + (hint === undefined ? "" : `. ${hint}`);
  return new SourceError(message, { span, source: text, code: "E-expression" });
}

/** Whether what is printed of a value are its digits; from 1e21 on it is printed as a rounded number. */
function isExact(operator: string, [x, y]: readonly [number, number], value: number | boolean): boolean {
  const areWhole = [x, y].every(Number.isSafeInteger) && Number.isInteger(value);
  if (!areWhole || Number.isSafeInteger(value) || Math.abs(Number(value)) >= 1e21) return true;
  const [a, b] = [BigInt(x), BigInt(y)];
  const exact = operator === "+" ? a + b : operator === "-" ? a - b : operator === "*" ? a * b : a ** b;
  return String(exact) === String(value);
}

function calculate(operator: string, x: number, y: number): number | boolean {
  switch (operator) {
    case "+":
      return x + y;
    case "-":
      return x - y;
    case "*":
      return x * y;
    case "/":
      return x / y;
    case "%":
      return x % y;
    case "<":
      return x < y;
    case "<=":
      return x <= y;
    case ">":
      return x > y;
    case ">=":
      return x >= y;
    default:
      return x ** y;
  }
}

/** A function of an expression: how many values it takes, and what it makes of them. */
interface ExpressionFunction {
  readonly least: number;
  readonly most: number;
  readonly apply: (values: readonly number[]) => number;
}

const one = (apply: (x: number) => number): ExpressionFunction => ({
  least: 1,
  most: 1,
  apply: ([x = 0]) => apply(x),
});
const two = (apply: (x: number, y: number) => number): ExpressionFunction => ({
  least: 2,
  most: 2,
  apply: ([x = 0, y = 0]) => apply(x, y),
});
const many = (apply: (values: readonly number[]) => number): ExpressionFunction => ({
  least: 1,
  most: Infinity,
  apply,
});

const sum = (values: readonly number[]): number => values.reduce((total, x) => total + x, 0);
const average = (values: readonly number[]): number => sum(values) / values.length;

/** The functions by name; angles are radians. A Map, since a name comes from the expression. */
const EXPRESSION_FUNCTIONS: ReadonlyMap<string, ExpressionFunction> = new Map([
  ["abs", one(Math.abs)],
  ["sign", one(Math.sign)],
  ["sqrt", one(Math.sqrt)],
  ["cbrt", one(Math.cbrt)],
  ["pow", two(Math.pow)],
  ["exp", one(Math.exp)],
  ["ln", one(Math.log)],
  ["log", {
    least: 1,
    most: 2,
    apply: ([x = 0, base]) => base === undefined ? Math.log10(x) : Math.log(x) / Math.log(base),
  }],
  ["log10", one(Math.log10)],
  ["log2", one(Math.log2)],
  ["sin", one(Math.sin)],
  ["cos", one(Math.cos)],
  ["tan", one(Math.tan)],
  ["asin", one(Math.asin)],
  ["acos", one(Math.acos)],
  ["atan", one(Math.atan)],
  ["atan2", two(Math.atan2)],
  ["degrees", one((x) => x * 180 / Math.PI)],
  ["radians", one((x) => x * Math.PI / 180)],
  ["floor", one(Math.floor)],
  ["ceil", one(Math.ceil)],
  ["trunc", one(Math.trunc)],
  ["round", { least: 1, most: 2, apply: ([x = 0, digits = 0]) => roundTo(x, digits) }],
  ["min", many((values) => values.reduce((least, x) => Math.min(least, x), Infinity))],
  ["max", many((values) => values.reduce((most, x) => Math.max(most, x), -Infinity))],
  ["sum", many(sum)],
  ["avg", many(average)],
  ["mean", many(average)],
  ["median", many(median)],
  ["hypot", many((values) => values.reduce((length, x) => Math.hypot(length, x), 0))],
]);

/** The constants by name. */
const EXPRESSION_CONSTANTS: ReadonlyMap<string, number> = new Map([
  ["pi", Math.PI],
  ["tau", 2 * Math.PI],
  ["e", Math.E],
]);

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[sorted.length / 2 - 1] ?? NaN) + upper) / 2;
}

/** Half away from zero, in the decimal digits that are printed: `round(1.005, 2)` is 1.01, `round(-2.5)` is -3. */
function roundTo(x: number, digits: number): number {
  if (!Number.isInteger(digits)) return NaN;
  const shifted = Math.round(shiftPoint(Math.abs(x), digits));
  return Number.isFinite(shifted) ? Math.sign(x) * shiftPoint(shifted, -digits) : x;
}

function shiftPoint(x: number, digits: number): number {
  const [mantissa = "0", exponent = "0"] = String(x).split("e");
  return Number(`${mantissa}e${Number(exponent) + digits}`);
}
