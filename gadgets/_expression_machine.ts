import type { SourceError } from "../lib/core/source_error.ts";
import type { Operation } from "./_expression_compiler.ts";
import { EXPRESSION_FUNCTIONS } from "./_expression_functions.ts";
import { expressionError, type Token } from "./_expression_tokens.ts";

/** What an expression may name: numbers, and lists of numbers for functions such as `sum`. */
export type Variables = Readonly<Record<string, number | readonly number[]>>;

type Value = number | boolean | readonly number[];

/** Runs the operations of an expression. @throws {SourceError} for what has no finite value */
export function runExpression(
  text: string,
  program: readonly Operation[],
  variables: Variables,
): number | boolean {
  return new Machine(text, variables).run(program);
}

class Machine {
  readonly #text: string;
  readonly #variables: Variables;
  readonly #stack: Value[] = [];

  constructor(text: string, variables: Variables) {
    this.#text = text;
    this.#variables = variables;
  }

  run(program: readonly Operation[]): number | boolean {
    for (const operation of program) this.#stack.push(this.#perform(operation));
    const value = this.#pop();
    if (typeof value === "boolean") return value;
    // Adding 0 makes a plain 0 of -0, which JSON does not have.
    return this.#number(value, { kind: "name", text: this.#text.trim(), offset: 0 }) + 0;
  }

  #perform(operation: Operation): Value {
    switch (operation.kind) {
      case "push":
        return operation.value;
      case "variable":
        return this.#variables[operation.at.text] ?? NaN;
      case "negate":
        return -this.#number(this.#pop(), operation.at);
      case "binary":
        return this.#binary(operation.at);
      case "call":
        return this.#call(operation.at, operation.count);
    }
  }

  #binary(at: Token): Value {
    const right = this.#pop();
    const left = this.#pop();
    if (at.text === "==" || at.text === "!=") return this.#same(left, right, at) === (at.text === "==");
    const x = this.#number(left, at);
    const y = this.#number(right, at);
    if (y === 0 && (at.text === "/" || at.text === "%")) {
      throw this.#error(at, (place) => `division by zero at ${place}`);
    }
    const value = calculate(at.text, x, y);
    if (!isExact(at.text, [x, y], value)) {
      const hint = "Whole numbers are exact up to 2^53 - 1; divide them before, such as by 1e6.";
      throw this.#error(
        at,
        (place) => `${x} ${at.text} ${y} at ${place} has more digits than are kept`,
        hint,
      );
    }
    return this.#finite(value, at, () => `${x} ${at.text} ${y}`);
  }

  #call(at: Token, count: number): number {
    const name = at.text.toLowerCase();
    const values = this.#stack.splice(this.#stack.length - count).flatMap((value) =>
      typeof value === "object" ? value : [this.#number(value, at)]
    );
    const { least, most, apply } = EXPRESSION_FUNCTIONS.get(name) ?? { least: 0, most: 0, apply: () => NaN };
    if (values.length < least || values.length > most) {
      const wanted = most === Infinity
        ? `at least ${least}`
        : least === most
        ? `${least}`
        : `${least} to ${most}`;
      const noun = wanted.endsWith("1") ? "value" : "values";
      throw this.#error(at, (place) => `${name} at ${place} takes ${wanted} ${noun}, found ${values.length}`);
    }
    return this.#finite(
      apply(values),
      at,
      () => `${name}(${values.slice(0, 5).join(", ")}${values.length > 5 ? ", …" : ""})`,
    );
  }

  #same(left: Value, right: Value, at: Token): boolean {
    if (typeof left === "boolean" && typeof right === "boolean") return left === right;
    return this.#number(left, at) === this.#number(right, at);
  }

  #number(value: Value, at: Token): number {
    if (typeof value === "number") return value;
    const found = typeof value === "boolean" ? String(value) : "a list";
    const hint = typeof value === "boolean" ? undefined : "Use a list inside a function only: sum(prices).";
    throw this.#error(at, (place) => `found ${found} for "${at.text}" at ${place}, expected a number`, hint);
  }

  #finite<T extends number | boolean>(value: T, at: Token, what: () => string): T {
    if (typeof value === "boolean" || Number.isFinite(value)) return value;
    const why = Number.isNaN(value) ? "has no real value" : "is too large";
    throw this.#error(at, (place) => `${what()} at ${place} ${why}`);
  }

  #pop(): Value {
    return this.#stack.pop() ?? NaN;
  }

  #error(at: Token, what: (place: string) => string, hint?: string): SourceError {
    return expressionError(this.#text, at, { what: (place) => `Cannot calculate: ${what(place)}`, hint });
  }
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
