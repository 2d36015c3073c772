import { type Gadget, onlyFields, type World } from "../lib/core/core.ts";
import { evaluateExpression, type Variables } from "./_expression.ts";

interface Input {
  readonly expression: string;
  readonly variables?: Variables;
}

const CALCULATE: Gadget<Input> = {
  name: "Calculate",
  description: [
    "Calculates an arithmetic expression and returns the number, or true or false for a comparison.",
    "Operators: + - * / % (remainder) ^ (power), brackets, and one comparison == != < <= > >=.",
    "Functions: abs sign sqrt cbrt pow exp ln log(x, base = 10) log2 round(x, digits = 0) floor ceil trunc sin cos tan " +
    "asin acos atan atan2 degrees radians (angles are radians) min max sum avg median hypot. Constants: pi, tau, e.",
    "Numbers: 12, 1_000, 1.5, 2e-3, 0xFF; no thousands commas, no units, and * is always written. Double precision.",
  ].join("\n"),
  input: onlyFields({
    expression: {
      type: "string",
      description: 'What to calculate, such as "(price * 1.19) ^ 2" or "sum(prices) > 100".',
    },
    variables: {
      type: "object",
      description:
        "The values of the names used in the expression: numbers, or lists of numbers for functions such as sum.",
      additionalProperties: { anyOf: [{ type: "number" }, { type: "array", items: { type: "number" } }] },
    },
  }, ["expression"]),
  output: { type: ["number", "boolean"] },
  idempotent: true,
  repeatable: false,
  timeoutMs: 10_000,
  examples: [
    { input: { expression: "2 * (3 + 4) ^ 2" }, comment: "98" },
    {
      input: { expression: "round(avg(prices) * 1.19, 2)", variables: { prices: [10, 12.5, 8] } },
      comment: "12.1",
    },
  ],
  run: ({ expression, variables }) => evaluateExpression(expression, variables),
};

/** `Calculate`: arithmetic without code. It touches nothing, so that it is the same one everywhere. */
export default function calculate(_world: World): Gadget<Input> {
  return CALCULATE;
}
