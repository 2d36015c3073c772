import { define } from "./agent_definition.ts";
import type { ConditionOperation, StepCondition } from "./agent_file.ts";
import { mapping, type Take } from "./agent_mapping.ts";
import { exactlyOne, GLOBAL_RULE } from "./agent_rules.ts";
import { ANYTHING, FLAG, NAME, NUMBER } from "./agent_scalar.ts";
import { optional, required } from "./agent_shape.ts";
import { SLOT_FIELDS, slotPath } from "./agent_slot_path.ts";

const EQUALITIES = { equals: optional(ANYTHING), "not-equals": optional(ANYTHING) };
const EXISTS = { exists: optional(FLAG) };
const LIMITS = {
  "greater-than": optional(NUMBER),
  "less-than": optional(NUMBER),
  "greater-than-or-equal": optional(NUMBER),
  "less-than-or-equal": optional(NUMBER),
};
const OPERATIONS = { ...EQUALITIES, ...EXISTS, ...LIMITS };

/** What a slot is compared with. */
export const OPERATION = define<ConditionOperation>(
  "ConditionOperation",
  mapping(
    { what: "a condition", fields: OPERATIONS, rules: [exactlyOne(OPERATIONS)] },
    operationOf,
  ),
);

function operationOf(take: Take): ConditionOperation {
  const found: ConditionOperation[] = [];
  for (const operator of ["equals", "not-equals"] as const) {
    const value = take(EQUALITIES[operator]);
    if (value !== undefined) found.push({ operator, value });
  }
  const exists = take(EXISTS.exists);
  if (exists !== undefined) found.push({ operator: "exists", value: exists });
  for (
    const operator of ["greater-than", "less-than", "greater-than-or-equal", "less-than-or-equal"] as const
  ) {
    const value = take(LIMITS[operator]);
    if (value !== undefined) found.push({ operator, value });
  }
  return found[0] ?? { operator: "exists", value: true };
}

const FIELDS = {
  name: required(NAME, { description: "Slot to check." }),
  condition: required(OPERATION),
  destination: SLOT_FIELDS.destination,
  global: SLOT_FIELDS.global,
};

/** What has to hold for a step to be done. */
export const CONDITION = define<StepCondition>(
  "Condition",
  mapping({ what: "a condition", fields: FIELDS, rules: [GLOBAL_RULE] }, (take) => ({
    slot: slotPath(take(FIELDS.name), take(FIELDS.destination), take(FIELDS.global)),
    operation: take(FIELDS.condition),
  })),
);
