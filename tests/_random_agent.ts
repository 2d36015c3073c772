// Random agents that can be used: steps of most kinds, and jumps that can be taken.

import fc from "fast-check";
import type { AgentStep, Json, SlotPath, StepAction, StepCondition, StepFlow } from "../mod.ts";

const text = fc.string({ maxLength: 12, unit: "grapheme" });
const word = fc.stringMatching(/^[A-Za-z_][\w-]{0,8}$/);
/** Some keys are the ones that mean something in YAML or in JavaScript. */
const json: fc.Arbitrary<Json> = fc.anything({
  key: fc.oneof(
    { weight: 5, arbitrary: fc.string() },
    fc.constantFrom("<<", "__proto__", "constructor", "~", "yes"),
  ),
  values: [
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  ],
  maxDepth: 2,
}).map((value): Json => JSON.parse(JSON.stringify(value)));
const slot: fc.Arbitrary<SlotPath> = fc.record({
  destination: fc.constantFrom("conversation", "session", "module", "global"),
  name: word,
});
const flow = fc.constantFrom<StepFlow>(
  { action: "continue" },
  { action: "repeat" },
  { action: "end" },
  { goto: "{{next}}" },
  { goto: "first" },
);
const condition: fc.Arbitrary<StepCondition> = fc.record({
  slot,
  operation: fc.oneof(
    fc.record({ operator: fc.constantFrom("equals", "not-equals"), value: json }),
    fc.record({ operator: fc.constant("exists"), value: fc.boolean() }),
    fc.record({
      operator: fc.constantFrom("greater-than", "less-than", "greater-than-or-equal", "less-than-or-equal"),
      value: fc.integer(),
    }),
  ),
});

const asked = {
  prompts: fc.array(fc.record({ role: fc.constantFrom("system", "user", "assistant"), text }), {
    minLength: 1,
    maxLength: 2,
  }),
  temperature: fc.integer({ min: 0, max: 4 }).map((halves) => halves / 2),
  memory: fc.array(fc.oneof(fc.constant({ selector: "all" } as const), fc.record({ from: word })), {
    maxLength: 2,
  }),
  memoryLimit: fc.integer({ min: 1, max: 9 }),
  effort: fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh"),
} as const;
const branches = { success: flow, fail: flow };

const leaf: fc.Arbitrary<StepAction> = fc.oneof(
  fc.record({ kind: fc.constant("message"), message: text, hold: fc.boolean() }),
  fc.record({ kind: fc.constant("llm"), ...asked, hold: fc.boolean(), store: slot, tools: fc.array(word) }),
  fc.record({ kind: fc.constant("flow"), flow }),
  fc.record({
    kind: fc.constant("set-slot"),
    values: fc.array(fc.record({ path: slot, value: json }), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant("counter"), slot }),
  fc.record({
    kind: fc.constant("retriever"),
    query: slot,
    target: slot,
    limit: fc.integer({ min: 1, max: 9 }),
    secondary: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("api-call"),
    url: word,
    method: fc.constantFrom("GET", "POST", "PUT", "DELETE"),
    headers: fc.array(fc.record({ key: word, value: text }), { maxLength: 2 }),
    body: json,
    responsePath: fc.constantFrom("$.a[*].b", "$..x", "$['k k']"),
    target: slot,
    ...branches,
  }),
  fc.record({
    kind: fc.constant("validator"),
    goals: fc.uniqueArray(fc.record({ name: word, goal: text, examples: fc.array(text) }), {
      minLength: 1,
      maxLength: 2,
      selector: ({ name }) => name,
    }),
    type: fc.constantFrom("all", "any"),
    skipPrefix: fc.constant(false),
    ...branches,
    ...asked,
  }),
  fc.record({
    kind: fc.constant("extractor"),
    values: fc.uniqueArray(
      fc.record({
        description: text,
        type: fc.constantFrom("string", "number", "integer", "boolean", "array", "object"),
        examples: fc.array(text, { maxLength: 2 }),
        target: slot,
      }),
      {
        minLength: 1,
        maxLength: 2,
        selector: ({ target: { destination, name } }) => `${destination}.${name}`,
      },
    ),
    skipPrefix: fc.boolean(),
    ...branches,
    ...asked,
  }),
  fc.record({
    kind: fc.constant("summarizer"),
    type: fc.constantFrom("append", "replace"),
    skipPrefix: fc.boolean(),
    ...asked,
  }),
  fc.record({ kind: fc.constant("gadget"), name: word, input: json, target: slot }),
  fc.record({ kind: fc.constant("run"), file: word, input: json }),
);

/** A step without a name of its own. */
const { step } = fc.letrec<{ step: AgentStep }>((tie) => ({
  step: fc.record({
    conditions: fc.array(condition, { maxLength: 2 }),
    action: fc.oneof(
      { maxDepth: 3, depthIdentifier: "steps" },
      leaf,
      fc.record({
        kind: fc.constantFrom("chain", "combined"),
        steps: fc.array(tie("step"), { minLength: 1, maxLength: 4 }),
      }),
    ),
  }).map(({ conditions, action }) => ({ ...NOWHERE, conditions, ...action })),
}));
const NOWHERE = { id: "", path: "", span: { line: 1, column: 1 } };

/** The root of an agent: a chain that begins with the message "first". */
export const randomRoot: fc.Arbitrary<AgentStep> = fc.array(step, { maxLength: 5 }).map((steps) => {
  const first: AgentStep = {
    ...NOWHERE,
    id: "first",
    conditions: [],
    kind: "message",
    message: "",
    hold: false,
  };
  const numbers = { next: 0 };
  const root: AgentStep = {
    ...NOWHERE,
    id: "root",
    conditions: [],
    kind: "chain",
    steps: [first, ...steps.map((each) => numbered(each, numbers))],
  };
  return root;
});

function numbered(step: AgentStep, numbers: { next: number }): AgentStep {
  const id = `step ${numbers.next++}`;
  if (step.kind !== "chain" && step.kind !== "combined") return { ...step, id };
  return { ...step, id, steps: step.steps.map((each) => numbered(each, numbers)) };
}
