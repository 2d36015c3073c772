import assert from "node:assert/strict";
import fc from "fast-check";
import { type AnyGadget, loadCatalog, SourceError } from "../mod.ts";

const folder = await Deno.makeTempDir();
const catalog = await loadCatalog({ root: folder });
const calculate = await catalog.maybeFind("Calculate")?.load() as AnyGadget;
await Deno.remove(folder);

/** What `Calculate` gives, or its error message. */
function outcome(expression: string, variables = {}): number | boolean | string {
  try {
    return calculate.run?.({ expression, variables } as never, {} as never) as number | boolean;
  } catch (error) {
    assert.ok(error instanceof SourceError, `${expression}: ${error}`);
    return error.message;
  }
}

Deno.test("expressions: values", () => {
  const cases: readonly (readonly [string, number | boolean])[] = [
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["10 - 4 - 3", 3],
    ["2 ^ 3 ^ 2", 512],
    ["2 ** 10", 1024],
    ["-2 ^ 2", -4],
    ["(-2) ^ 2", 4],
    ["2 ^ -1", 0.5],
    ["--3", 3],
    ["-+-3", 3],
    ["7 % 3", 1],
    ["-7 % 3", -1],
    ["8 / 4 / 2", 1],
    ["1_000_000 + .5", 1000000.5],
    ["5. * 2", 10],
    ["0xFF", 255],
    ["1.5e3 + 2E-1", 1500.2],
    ["pi", Math.PI],
    ["TAU / PI", 2],
    ["ln(e)", 1],
    ["log(1000)", 3],
    ["log(8, 2)", 3],
    ["sqrt(16) + abs(-2)", 6],
    ["round(2.5) + round(-2.5)", 0],
    ["round(1.005, 2)", 1.01],
    ["round(1234, -2)", 1200],
    ["min(3, 1, 2) + max(3, 1, 2)", 4],
    ["avg(1, 2, 3, 4)", 2.5],
    ["median(5, 1, 3) + median(1, 2)", 4.5],
    ["hypot(3, 4)", 5],
    ["atan2(0, 1)", 0],
    ["floor(-1.5) + ceil(1.2) + trunc(-1.7)", -1],
    ["1 + 1 == 2", true],
    ["2 >= 3", false],
    ["(1 < 2) == (3 > 2)", true],
    ["1 != 1", false],
    ["10 ^ 20", 1e20],
    ["2 ^ 100 / 2 ^ 100", 1],
    ["6.02214076e23 * 3", 1.806642228e24],
    ["0xEEEE", 0xEEEE],
    ["0 * -1", 0],
    ["\n  1 +\n\t2 ", 3],
  ];
  for (const [text, value] of cases) assert.equal(outcome(text), value, text);
  assert.ok(Object.is(outcome("0 * -1"), 0), "no -0: JSON has none");
});

Deno.test("expressions: variables and lists", () => {
  const variables = { price: 2, prices: [1, 2, 3.5], e: 10, größe: 4 };
  assert.equal(outcome("price * 3", variables), 6);
  assert.equal(outcome("sum(prices) + max(prices, 9)", variables), 15.5);
  assert.equal(outcome("e + größe", variables), 14);
  assert.equal(
    outcome("prices + 1", variables),
    'Cannot calculate: found a list for "+" at column 8, expected a number. Use a list inside a function only: sum(prices).',
  );
  assert.equal(outcome("sum(big)", { big: Array.from({ length: 300_000 }, () => 1) }), 300_000);
  assert.match(String(outcome("__proto__ + constructor")), /"__proto__" at column 1 has no value/);
});

Deno.test("expressions: errors say where, what was found, and what was expected", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["1 + 2 )", 'Cannot read expression: found ")" at column 7, expected an operator'],
    ["3 * * )", 'Cannot read expression: found "*" at column 5, expected a number'],
    ["1 + (2)+)", 'Cannot read expression: found ")" at column 9, expected a number'],
    ["(1 + 2", 'Cannot read expression: found the end at column 7, expected an operator or ")"'],
    ["", "Cannot read expression: found the end at column 1, expected a number"],
    ["max(1, )", 'Cannot read expression: found ")" at column 8, expected a number'],
    ["max(1 2)", 'Cannot read expression: found "2" at column 7, expected an operator, "," or ")"'],
    [
      "1,000",
      'Cannot read expression: found "," at column 2, expected an operator. Write 1000 or 1_000 for a thousand: a comma only ' +
      "separates the values of a function.",
    ],
    [
      "2x",
      'Cannot read expression: found "x" at column 2, expected an operator. Write "*" to multiply: 2 * x.',
    ],
    [
      "1 < 2 < 3",
      'Cannot read expression: found "<" at column 7, expected the end, since a comparison has two sides only',
    ],
    ["squrt(4)", 'Cannot read expression: no function "squrt" at column 1. Did you mean "sqrt"?'],
    [
      "sqrt + 1",
      'Cannot read expression: "sqrt" at column 1 has no value. sqrt is a function: write sqrt(x).',
    ],
    ["1 + widht", 'Cannot read expression: "widht" at column 5 has no value. Give its value in "variables".'],
    ["1 + 1e999", "Cannot read expression: the number at column 5 is too large"],
    [
      "1 +\n 2 §",
      'Cannot read expression: found "§" at line 2, column 4, expected a number, a name or an operator. ' +
      "The operators are + - * / % ^ == != < <= > >=.",
    ],
    [
      "1 + 12345678901234567890",
      "Cannot read expression: the number 12345678901234567890 at column 5 has more digits than can be calculated with",
    ],
    [
      "99999999 * 999999999",
      "Cannot calculate: 99999999 * 999999999 at column 10 has more digits than are kept. " +
      "Whole numbers are exact up to 2^53 - 1; divide them before, such as by 1e6.",
    ],
    ["1 / 0", "Cannot calculate: division by zero at column 3"],
    ["5 % (1 - 1)", "Cannot calculate: division by zero at column 3"],
    ["1 + sqrt(-1)", "Cannot calculate: sqrt(-1) at column 5 has no real value"],
    ["(-8) ^ 0.5", "Cannot calculate: -8 ^ 0.5 at column 6 has no real value"],
    ["10 ^ 400", "Cannot calculate: 10 ^ 400 at column 4 is too large"],
    ["1 + (1 < 2)", 'Cannot calculate: found true for "+" at column 3, expected a number'],
    ["atan2(1)", "Cannot calculate: atan2 at column 1 takes 2 values, found 1"],
    ["log(1, 2, 3)", "Cannot calculate: log at column 1 takes 1 to 2 values, found 3"],
    ["min()", "Cannot calculate: min at column 1 takes at least 1 value, found 0"],
  ];
  for (const [text, message] of cases) assert.equal(outcome(text), message, text);
  assert.match(String(outcome("1 + widht", { width: 1 })), /Did you mean "width"\?$/);
});

Deno.test("expressions: size and depth are bounded, and no stack overflows", () => {
  const deep = 100_000;
  const tooDeep = /^Cannot read expression: more than 200 levels at column \d+$/;
  assert.match(String(outcome("(".repeat(deep))), tooDeep);
  assert.match(String(outcome("-".repeat(deep))), tooDeep);
  assert.match(String(outcome("2^".repeat(deep / 2))), tooDeep);
  assert.match(String(outcome("abs(".repeat(deep / 4))), tooDeep);
  assert.equal(
    outcome("1".repeat(1_000_000)),
    'Cannot read expression: it has 1000000 characters, at most 100000 are read. Put long lists of numbers into "variables" ' +
      "and name them: sum(prices).",
  );
  assert.equal(outcome("1" + "+1".repeat(49_000)), 49_001);
  assert.equal(outcome("(".repeat(150) + "1" + ")".repeat(150)), 1);
});

/** A tree, its text with as few brackets as the precedences allow, and its value by JavaScript's own operators. */
interface Sample {
  readonly text: string;
  readonly value: number;
  /** 2 sum, 3 product, 4 sign, 5 power, 6 atom. */
  readonly level: number;
}

const bracketed = (sample: Sample, least: number) => sample.level < least ? `(${sample.text})` : sample.text;

const { tree } = fc.letrec<{ tree: Sample }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    fc.oneof(fc.nat(1000), fc.double({ min: 0, max: 1e6, noNaN: true })).map((value) => ({
      text: `${value}`,
      value,
      level: 6,
    })),
    fc.tuple(tie("tree"), fc.constantFrom("+", "-", "*", "/", "%"), tie("tree")).map(binarySample),
    tie("tree").map((of) => ({ text: `-${bracketed(of, 5)}`, value: -of.value, level: 4 })),
    fc.tuple(tie("tree"), tie("tree")).map(([base, exponent]) => ({
      text: `${bracketed(base, 6)} ^ ${bracketed(exponent, 4)}`,
      value: base.value ** exponent.value,
      level: 5,
    })),
    tie("tree").map((of) => ({ text: `abs(${of.text})`, value: Math.abs(of.value), level: 6 })),
    fc.tuple(tie("tree"), tie("tree")).map(([a, b]) => ({
      text: `max(${a.text},${b.text})`,
      value: Math.max(a.value, b.value),
      level: 6,
    })),
  ),
}));

function binarySample([left, operator, right]: readonly [Sample, string, Sample]): Sample {
  const level = operator === "+" || operator === "-" ? 2 : 3;
  const text = `${bracketed(left, level)} ${operator} ${bracketed(right, level + 1)}`;
  const value = operator === "+"
    ? left.value + right.value
    : operator === "-"
    ? left.value - right.value
    : operator === "*"
    ? left.value * right.value
    : operator === "/"
    ? left.value / right.value
    : left.value % right.value;
  return { text, value, level };
}

Deno.test("expressions: any tree has the value that JavaScript's operators give", () => {
  let finite = 0;
  let longest = 0;
  fc.assert(
    fc.property(tree, ({ text, value }) => {
      const found = outcome(text);
      if (typeof found === "number") {
        finite++;
        longest = Math.max(longest, text.split(" ").length);
        assert.equal(found, value + 0, text);
      } else assert.match(String(found), /^Cannot calculate: /, text);
      // A value that is not finite is never returned; one that only passed through infinity is an error too.
      if (!Number.isFinite(value)) assert.equal(typeof found, "string", text);
    }),
    { numRuns: 2000 },
  );
  assert.ok(finite > 500, `only ${finite} of the samples had a value`);
  assert.ok(longest > 8, `the longest sample had only ${longest} words`);
});

Deno.test("expressions: no text does anything but give a value or an error", () => {
  const alphabet = fc.constantFrom(
    ..."0123456789.eE+-*/%^()<>=!,_ \nxpi",
    "sqrt",
    "max",
    "\u{1F600}",
    "\ud800",
    "&",
    "__proto__",
  );
  fc.assert(
    fc.property(fc.array(alphabet, { maxLength: 40 }), (parts) => {
      const found = outcome(parts.join(""));
      if (typeof found === "number") assert.ok(Number.isFinite(found));
    }),
    { numRuns: 3000 },
  );
});
