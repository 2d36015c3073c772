import { define } from "./agent_definition.ts";
import type { StepFlow } from "./agent_file.ts";
import { mapping } from "./agent_mapping.ts";
import { exactlyOne } from "./agent_rules.ts";
import { NAME, oneOf } from "./agent_scalar.ts";
import { optional, required } from "./agent_shape.ts";

const FIELDS = {
  goto: optional(NAME, {
    description: "Id of the step to go on with; of a chain, the id of its first step.",
  }),
  action: optional(oneOf(["continue", "repeat"], ["end"])),
};

/** Where it goes on. */
export const FLOW = define<StepFlow>(
  "Flow",
  mapping({ what: "a flow", fields: FIELDS, rules: [exactlyOne(FIELDS)] }, (take) => {
    const goto = take(FIELDS.goto);
    const action = take(FIELDS.action);
    return goto === undefined ? { action: action ?? "continue" } : { goto };
  }),
);

/** The keys of a step that can fail. */
export const BRANCH_FIELDS = { success: required(FLOW), fail: required(FLOW) };
