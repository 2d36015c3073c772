import type { JsonObject } from "../core/json.ts";
import { CONDITION, OPERATION } from "./agent_condition.ts";
import { EXTRACTION_SCHEMA, EXTRACTION_VALUE } from "./agent_extraction.ts";
import { EXTRACTOR_BODY } from "./agent_extractor.ts";
import { FLOW } from "./agent_flow.ts";
import { SOURCE_PATH } from "./agent_json_path.ts";
import { LLM_BODY } from "./agent_llm.ts";
import { MESSAGE_BODY } from "./agent_message.ts";
import { EFFORT, PROMPT, SELECTION, TEMPLATE_TEXT } from "./agent_model.ts";
import { GADGET_BODY, RUN_BODY } from "./agent_own_steps.ts";
import { API_BODY, SSE_BODY, VALUE_TEMPLATE } from "./agent_request.ts";
import { AGENT_ROOT, STRUCTURE } from "./agent_root.ts";
import { MODULE_PATH, SCOPE_SELECTION, SESSION_PATH } from "./agent_scope.ts";
import { DESTINATION, SAVE_TARGET, SLOT_PATH } from "./agent_slot_path.ts";
import { COUNTER_BODY, RETRIEVER_BODY, SET_SLOT_BODY } from "./agent_slot_steps.ts";
import { LOAD_TO_SLOT, USER_PATH, VALUE_SOURCE } from "./agent_source.ts";
import { STEP, STEP_ID, STEP_LIST } from "./agent_step.ts";
import { SUMMARIZER_BODY } from "./agent_summarizer.ts";
import { GOAL, VALIDATOR_BODY } from "./agent_validator.ts";

const DEFINITIONS = [
  STRUCTURE,
  LOAD_TO_SLOT,
  VALUE_SOURCE,
  SESSION_PATH,
  MODULE_PATH,
  USER_PATH,
  SOURCE_PATH,
  SCOPE_SELECTION,
  STEP,
  STEP_ID,
  STEP_LIST,
  CONDITION,
  OPERATION,
  MESSAGE_BODY,
  LLM_BODY,
  FLOW,
  SET_SLOT_BODY,
  API_BODY,
  SSE_BODY,
  VALIDATOR_BODY,
  GOAL,
  EXTRACTOR_BODY,
  EXTRACTION_VALUE,
  EXTRACTION_SCHEMA,
  RETRIEVER_BODY,
  COUNTER_BODY,
  SUMMARIZER_BODY,
  GADGET_BODY,
  RUN_BODY,
  PROMPT,
  SELECTION,
  EFFORT,
  SAVE_TARGET,
  SLOT_PATH,
  DESTINATION,
  TEMPLATE_TEXT,
  VALUE_TEMPLATE,
];

/** The JSON Schema of `*.agent.yml`, for editors: of the tables that the reader reads by. What only Orrery knows has `x-extension`. */
export function agentSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "LLM agent (*.agent.yml, *.agent.yaml), version 0.1",
    ...AGENT_ROOT.schema,
    $defs: Object.fromEntries(DEFINITIONS.map(({ name, definition }) => [name, definition])),
  };
}
