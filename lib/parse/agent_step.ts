import { CONDITION } from "./agent_condition.ts";
import { define, refTo } from "./agent_definition.ts";
import { EXTRACTOR_BODY } from "./agent_extractor.ts";
import type { AgentStep, StepAction } from "./agent_file.ts";
import { FLOW } from "./agent_flow.ts";
import { listOf } from "./agent_list.ts";
import { LLM_BODY } from "./agent_llm.ts";
import { mapping, type MappingRule } from "./agent_mapping.ts";
import { MESSAGE_BODY } from "./agent_message.ts";
import { GADGET_BODY, RUN_BODY } from "./agent_own_steps.ts";
import { agentPathText } from "./agent_path.ts";
import { API_BODY, SSE_BODY } from "./agent_request.ts";
import { inWords, seedKeys } from "./agent_rules.ts";
import { TEXT } from "./agent_scalar.ts";
import { type Field, optional, required, type Shape } from "./agent_shape.ts";
import { COUNTER_BODY, RETRIEVER_BODY, SET_SLOT_BODY } from "./agent_slot_steps.ts";
import { SUMMARIZER_BODY } from "./agent_summarizer.ts";
import { VALIDATOR_BODY } from "./agent_validator.ts";

const ID_PATTERN = "^[^\\s{}](?:[^{}]*[^\\s{}])?$";

/** The name of a step: jumps and memories refer to it. */
export const STEP_ID = define("StepId", {
  schema: { type: "string", pattern: ID_PATTERN },
  read: (part) => {
    const id = TEXT.read(part);
    if (part.value === "") part.refuse("must not be empty");
    else if (typeof part.value === "string" && !new RegExp(ID_PATTERN).test(id)) {
      part.refuse(`must not begin or end with a blank, or hold "{" or "}"`);
    }
    return id;
  },
});

/** What a step is stands further down. */
const INNER: Shape<AgentStep> = { schema: refTo("Step"), read: (part) => STEP.read(part) };

/** What a chain or a combined step is made of. */
export const STEP_LIST = define("StepList", listOf(INNER, { isFilled: true }));

/** What a step can do, by its key. */
const ACTIONS: Readonly<Record<StepAction["kind"], Field<StepAction | undefined>>> = {
  message: optional(MESSAGE_BODY, { description: "Says something." }),
  llm: optional(LLM_BODY, { description: "Lets a model answer." }),
  chain: optional(stepsOf("chain"), { description: "Steps in their order." }),
  combined: optional(stepsOf("combined"), { description: "Steps side by side." }),
  flow: optional({
    schema: FLOW.schema,
    read: (part) => ({ kind: "flow", flow: FLOW.read(part) }),
  }, { description: "Goes on elsewhere." }),
  "set-slot": optional(SET_SLOT_BODY, { description: "Writes slots." }),
  "api-call": optional(API_BODY, { description: "Calls an HTTP API." }),
  "sse-call": optional(SSE_BODY, { description: "Says what an HTTP API streams." }),
  validator: optional(VALIDATOR_BODY, { description: "Lets a model judge whether goals are reached." }),
  extractor: optional(EXTRACTOR_BODY, { description: "Lets a model fill slots with what was said." }),
  retriever: optional(RETRIEVER_BODY, { description: "Looks passages up in the documents." }),
  counter: optional(COUNTER_BODY, { description: "Adds one to a slot." }),
  summarizer: optional(SUMMARIZER_BODY, { description: 'Writes a summary to the slot "summary".' }),
  gadget: optional(GADGET_BODY, { description: "Calls a gadget.", isExtension: true }),
  run: optional(RUN_BODY, { description: "Runs a document or a prompt.", isExtension: true }),
};

function stepsOf<Kind extends "chain" | "combined">(
  kind: Kind,
): Shape<{ readonly kind: Kind; readonly steps: readonly AgentStep[] }> {
  return { schema: STEP_LIST.schema, read: (part) => ({ kind, steps: STEP_LIST.read(part) }) };
}

const ONE_ACTION: MappingRule = {
  schema: {
    oneOf: Object.entries(ACTIONS).map(([key, { about: { isExtension = false } }]) => ({
      required: [key],
      ...(isExtension ? { "x-extension": true } : {}),
    })),
  },
  check: (part, { hasUnknown }) => {
    const found = part.keys.filter((key) => Object.hasOwn(ACTIONS, key));
    const one = `one of ${seedKeys(ACTIONS)}`;
    if (found.length > 1) {
      part.refuse(`a step needs exactly ${one}; found ${inWords(found)}`, { at: "key" });
    } else if (found.length === 0 && !hasUnknown) {
      part.refuse(`the step does nothing; add ${one}`, { code: "E603", at: "key" });
    }
  },
};

const FIELDS = {
  id: required(STEP_ID, { missing: `every step needs an "id"` }),
  conditions: optional(listOf(CONDITION), {
    description: "The step is skipped unless all of them hold.",
  }),
};

/** A step, of whatever kind. */
export const STEP = define<AgentStep>(
  "Step",
  mapping({ what: "a step", fields: { ...FIELDS, ...ACTIONS }, rules: [ONE_ACTION] }, (take, part) => ({
    id: take(FIELDS.id),
    conditions: take(FIELDS.conditions) ?? [],
    path: agentPathText(part.path),
    span: (part.child(part.keys[0] ?? "") ?? part).keySpan,
    ...actionOf(Object.values(ACTIONS).map(take)),
  })),
);

/** Of a step that does nothing a stand-in. */
function actionOf(found: readonly (StepAction | undefined)[]): StepAction {
  return found.find((action) => action !== undefined) ?? { kind: "message", message: "", hold: false };
}
