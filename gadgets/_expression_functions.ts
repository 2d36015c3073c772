/** A function of an expression: how many values it takes, and what it makes of them. */
export interface ExpressionFunction {
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
export const EXPRESSION_FUNCTIONS: ReadonlyMap<string, ExpressionFunction> = new Map([
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
export const EXPRESSION_CONSTANTS: ReadonlyMap<string, number> = new Map([
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
