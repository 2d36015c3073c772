// How a model is asked: what llm, validator, extractor and summarizer have in common.

import { define } from "./agent_definition.ts";
import type { AgentPrompt, JudgeFields, MemorySelection, ModelFields } from "./agent_file.ts";
import { listOf } from "./agent_list.ts";
import { mapping, type Take } from "./agent_mapping.ts";
import { exactlyOne } from "./agent_rules.ts";
import { FLAG, NAME, numberBetween, oneOf, TEMPLATE, wholeNumber } from "./agent_scalar.ts";
import { optional } from "./agent_shape.ts";

/** Text with placeholders, as the schema names it. */
export const TEMPLATE_TEXT = define("Template", TEMPLATE);

const PROMPT_FIELDS = {
  system: optional(TEMPLATE_TEXT),
  user: optional(TEMPLATE_TEXT),
  "a-i": optional(TEMPLATE_TEXT),
  constant: optional(NAME, { description: "Name of a constant." }),
};

/** One message that a model is asked with. */
export const PROMPT = define<AgentPrompt>(
  "Prompt",
  mapping({ what: "a prompt", fields: PROMPT_FIELDS, rules: [exactlyOne(PROMPT_FIELDS)] }, (take) => {
    const system = take(PROMPT_FIELDS.system);
    const user = take(PROMPT_FIELDS.user);
    const answer = take(PROMPT_FIELDS["a-i"]);
    const name = take(PROMPT_FIELDS.constant);
    if (system !== undefined) return { role: "system", text: system };
    if (user !== undefined) return { role: "user", text: user };
    return answer === undefined
      ? { role: "constant", name: name ?? "" }
      : { role: "assistant", text: answer };
  }),
);

const SELECTION_FIELDS = {
  selector: optional(oneOf(["current", "all"])),
  from: optional(NAME, { description: "Id of the step whose messages to include." }),
};

/** Which messages of the conversation a model sees. */
export const SELECTION = define<MemorySelection>(
  "MemorySelection",
  mapping(
    { what: "a selection", fields: SELECTION_FIELDS, rules: [exactlyOne(SELECTION_FIELDS)] },
    (take) => {
      const selector = take(SELECTION_FIELDS.selector);
      const from = take(SELECTION_FIELDS.from);
      return from === undefined ? { selector: selector ?? "all" } : { from };
    },
  ),
);

/** How much a model thinks. */
export const EFFORT = define(
  "ReasoningEffort",
  oneOf(["none", "minimal", "low", "medium", "high", "xhigh"]),
);

/** The messages that a model is asked with. */
export const PROMPTS = listOf(PROMPT);

/** The keys that say how a model is asked, besides its prompts. */
export const MODEL_FIELDS = {
  model: optional(NAME, { description: "Overrides the default model." }),
  temperature: optional(numberBetween(0, 2)),
  "reasoning-effort": optional(EFFORT),
  "reasining-effort": optional(EFFORT, { deprecated: "Write reasoning-effort." }),
  memory: optional(listOf(SELECTION), {
    description:
      "The messages that any of these selects, oldest first. Left out: none for llm, all for validator, extractor and summarizer.",
  }),
  "memory-limit": optional(wholeNumber(1), { description: "Only the newest N of the selected messages." }),
};

/** The keys of a step in which a model judges. */
export const JUDGE_FIELDS = {
  prompts: optional(PROMPTS),
  ...MODEL_FIELDS,
  "skip-prefix": optional(FLAG, {
    description: "Leave out the built-in instruction that is put before the prompts.",
  }),
};

/** What the keys of `MODEL_FIELDS` say. */
export function modelFields(take: Take): Omit<ModelFields, "prompts"> {
  const model = take(MODEL_FIELDS.model);
  const temperature = take(MODEL_FIELDS.temperature);
  const memory = take(MODEL_FIELDS.memory);
  const memoryLimit = take(MODEL_FIELDS["memory-limit"]);
  const misspelt = take(MODEL_FIELDS["reasining-effort"]);
  const effort = take(MODEL_FIELDS["reasoning-effort"]) ?? misspelt;
  return {
    model,
    temperature,
    memory,
    memoryLimit,
    effort,
  };
}

/** What the keys of `JUDGE_FIELDS` say. */
export function judgeFields(take: Take): JudgeFields {
  return {
    prompts: take(JUDGE_FIELDS.prompts) ?? [],
    skipPrefix: take(JUDGE_FIELDS["skip-prefix"]) ?? false,
    ...modelFields(take),
  };
}
