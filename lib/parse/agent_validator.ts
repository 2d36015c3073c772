import { define } from "./agent_definition.ts";
import type { ConversationGoal, StepAction } from "./agent_file.ts";
import { BRANCH_FIELDS } from "./agent_flow.ts";
import { listOf, tellTwice } from "./agent_list.ts";
import { mapping } from "./agent_mapping.ts";
import { JUDGE_FIELDS, judgeFields, TEMPLATE_TEXT } from "./agent_model.ts";
import { NAME, oneOf } from "./agent_scalar.ts";
import { optional, required, withDefault } from "./agent_shape.ts";

const GOAL_FIELDS = {
  name: required(NAME, { description: "Also the slot that the verdict goes to." }),
  goal: required(TEMPLATE_TEXT),
  examples: optional(listOf(TEMPLATE_TEXT)),
};

/** A goal that a model judges. */
export const GOAL = define<ConversationGoal>(
  "ConversationGoal",
  mapping({ what: "a goal", fields: GOAL_FIELDS }, (take) => ({
    name: take(GOAL_FIELDS.name),
    goal: take(GOAL_FIELDS.goal),
    examples: take(GOAL_FIELDS.examples) ?? [],
  })),
);

const GOALS = listOf(GOAL, {
  isFilled: true,
  check: (goals) =>
    tellTwice(goals, ({ name }) => name, (goal, name) => {
      goal.child("name")?.refuse(`goal ${JSON.stringify(name)} is listed twice`);
    }),
});

const FIELDS = {
  goals: required(GOALS),
  type: withDefault(oneOf(["all", "any"]), "all"),
  ...BRANCH_FIELDS,
  ...JUDGE_FIELDS,
};

/** What a step says in which a model judges whether goals are reached. */
export const VALIDATOR_BODY = define<Extract<StepAction, { readonly kind: "validator" }>>(
  "ValidatorBody",
  mapping({ what: `"validator"`, fields: FIELDS }, (take) => ({
    kind: "validator",
    goals: take(FIELDS.goals),
    type: take(FIELDS.type),
    success: take(FIELDS.success),
    fail: take(FIELDS.fail),
    ...judgeFields(take),
  })),
);
