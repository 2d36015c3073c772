import type { JsonObject } from "../core/json.ts";
import { prepareSchema } from "../schema/prepare_schema.ts";
import { define } from "./agent_definition.ts";
import type { StepAction } from "./agent_file.ts";
import { listOf, OBJECT } from "./agent_list.ts";
import { mapping, type MappingRule } from "./agent_mapping.ts";
import { MODEL_FIELDS, modelFields, PROMPTS } from "./agent_model.ts";
import { FLAG, NAME } from "./agent_scalar.ts";
import { optional, type Shape } from "./agent_shape.ts";
import { SAVE_TARGET } from "./agent_slot_path.ts";

const ANSWER_SCHEMA: Shape<JsonObject> = {
  schema: OBJECT.schema,
  read: (part) => {
    const schema = OBJECT.read(part);
    const prepared = prepareSchema(schema);
    if ("broken" in prepared) {
      const { pointer, message } = prepared.broken;
      part.refuse(`is no JSON Schema that can be used: ${pointer === "" ? "" : `${pointer}: `}${message}`);
    }
    return schema;
  },
};

const FIELDS = {
  prompts: optional(PROMPTS),
  ...MODEL_FIELDS,
  store: optional(SAVE_TARGET, { mistakenFor: ["target"] }),
  hold: optional(FLAG, { description: "Wait for the user after the answer." }),
  "skip-prefix": optional(FLAG, { deprecated: "It means nothing for llm: leave it out." }),
  tools: optional(listOf(NAME), {
    isExtension: true,
    description: "Gadgets and MCP tools that the model may call.",
  }),
  prompt: optional(NAME, {
    isExtension: true,
    description: "A prompt of the project in place of prompts, with its output contract.",
  }),
  args: optional(OBJECT, { isExtension: true, description: "What the prompt is given." }),
  schema: optional(ANSWER_SCHEMA, { isExtension: true, description: "JSON Schema of the answer." }),
};

/** A model needs something to answer to: prompts, of the file or of the project. */
const PROMPTS_RULE: MappingRule = {
  schema: { anyOf: [{ required: ["prompts"] }, { required: ["prompt"], "x-extension": true }] },
  check: (part, { what, hasUnknown }) => {
    const [prompts, prompt] = [part.child("prompts"), part.child("prompt")];
    if (prompts === undefined && prompt === undefined) {
      if (!hasUnknown) part.refuse(`"prompts" is required in ${what}`, { code: "E603", at: "key" });
    } else if (prompts !== undefined && prompt !== undefined) {
      part.refuse(`"prompts" and "prompt" exclude each other; drop one of them`, { at: "key" });
    } else if (isEmptyList(prompts?.value) && isNothing(part.child("memory")?.value)) {
      const message = "has no prompts and no memory, so there is nothing to send to the model";
      part.refuse(message, { at: "key" });
    }
    if (prompt === undefined) part.child("args")?.refuse(`needs "prompt" beside it`, { at: "key" });
  },
};

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isNothing(value: unknown): boolean {
  return value === undefined || isEmptyList(value);
}

/** What a step says that lets a model answer. */
export const LLM_BODY = define<Extract<StepAction, { readonly kind: "llm" }>>(
  "LlmBody",
  mapping({ what: `"llm"`, fields: FIELDS, rules: [PROMPTS_RULE] }, (take) => {
    const store = take(FIELDS.store);
    const tools = take(FIELDS.tools);
    const path = take(FIELDS.prompt);
    const args = take(FIELDS.args) ?? {};
    const schema = take(FIELDS.schema);
    return {
      kind: "llm",
      prompts: take(FIELDS.prompts) ?? [],
      hold: take(FIELDS.hold) ?? false,
      ...modelFields(take),
      store,
      tools,
      ...(path === undefined ? {} : { prompt: { path, args } }),
      schema,
    };
  }),
);
