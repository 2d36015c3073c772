// What `POST /v1/chat/completions` takes and gives, as OpenAI has it; fields that are not named here are let through unread, since
// clients send more than they use.
import { didYouMeanNames, type Effort, EFFORT_RULE, effortFrom, EFFORTS, objectOf } from "../../core/core.ts";
import type { FromJsonSchema } from "../../schema/input_type.ts";
import { MAX_FILE_BODY_BYTES } from "../guard.ts";
import { badField } from "./answer.ts";

const TEXT = { type: "string", maxLength: 10_485_760 } as const;
const DATA_URL = { type: "string", maxLength: MAX_FILE_BODY_BYTES } as const;
const ID = { type: "string", minLength: 1, maxLength: 200 } as const;
const STRING = { type: "string" } as const;
const WORD = { ...STRING, maxLength: 100 } as const;
const STRING_OR_NULL = { type: ["string", "null"] } as const;
const INTEGER = { type: "integer" } as const;
const NULL = { type: "null" } as const;
const orNull = <const Schema>(schema: Schema) => ({ anyOf: [NULL, schema] } as const);

const PART = objectOf({
  type: WORD,
  text: TEXT,
  refusal: TEXT,
  image_url: objectOf({
    url: { ...DATA_URL, description: "A data: URL; nothing is fetched." },
    detail: WORD,
  }, ["url"]),
  file: objectOf({
    file_data: { ...DATA_URL, description: "A data: URL." },
    filename: { type: "string", maxLength: 1000 },
  }),
}, ["type"]);

const TOOL_CALL = objectOf({
  id: ID,
  type: { const: "function" },
  function: objectOf({ name: ID, arguments: TEXT }, ["name", "arguments"]),
}, ["id", "type", "function"]);

const MESSAGE = objectOf({
  role: { enum: ["developer", "system", "user", "assistant", "tool"] },
  content: { anyOf: [TEXT, NULL, { type: "array", maxItems: 10_000, items: PART }] },
  name: { type: "string", maxLength: 200 },
  tool_calls: orNull({ type: "array", maxItems: 1000, items: TOOL_CALL }),
  tool_call_id: ID,
}, ["role"]);

const TOOL = objectOf({
  type: WORD,
  function: objectOf({
    name: { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" },
    description: TEXT,
    parameters: { type: "object", description: "A JSON Schema." },
  }, ["name"]),
}, ["type", "function"]);

const TOOL_CHOICE = {
  anyOf: [
    NULL,
    { enum: ["auto", "none", "required"] },
    objectOf({
      type: { const: "function" },
      function: objectOf({ name: ID }, ["name"]),
    }, ["type", "function"]),
  ],
} as const;

const RESPONSE_FORMAT = {
  anyOf: [
    NULL,
    objectOf({ type: { enum: ["text", "json_object"] } }, ["type"]),
    objectOf({
      type: { const: "json_schema" },
      json_schema: objectOf({ name: ID, schema: { type: "object" } }, ["schema"]),
    }, ["type", "json_schema"]),
  ],
} as const;

const NUMBER = (
  minimum: number,
  maximum: number,
) => ({ type: ["number", "null"], minimum, maximum } as const);
const COUNT = { type: ["integer", "null"], minimum: 1, maximum: 100_000_000 } as const;
const FLAG = { type: ["boolean", "null"] } as const;
const ABSENT = { description: "Not taken: it would have to change the answer." } as const;

/** The body of a request. */
export const CHAT_REQUEST = objectOf({
  model: { type: "string", minLength: 1, maxLength: 1000 },
  messages: { type: "array", minItems: 1, maxItems: 10_000, items: MESSAGE },
  stream: FLAG,
  stream_options: orNull(objectOf({ include_usage: FLAG })),
  tools: orNull({ type: "array", maxItems: 1000, items: TOOL }),
  tool_choice: TOOL_CHOICE,
  parallel_tool_calls: FLAG,
  response_format: RESPONSE_FORMAT,
  temperature: NUMBER(0, 2),
  top_p: NUMBER(0, 1),
  presence_penalty: NUMBER(-2, 2),
  frequency_penalty: NUMBER(-2, 2),
  max_tokens: COUNT,
  max_completion_tokens: COUNT,
  stop: { anyOf: [NULL, TEXT, { type: "array", maxItems: 16, items: TEXT }] },
  seed: { type: ["integer", "null"] },
  logit_bias: orNull({ type: "object", additionalProperties: { type: "number" } }),
  reasoning_effort: { type: ["string", "null"], maxLength: 100 },
  n: { type: ["integer", "null"], description: "1: no more than one answer is made." },
  logprobs: { ...FLAG, description: "Not true: there are none." },
  top_logprobs: ABSENT,
  functions: ABSENT,
  function_call: ABSENT,
  audio: ABSENT,
  web_search_options: ABSENT,
  modalities: orNull({ type: "array", maxItems: 10, items: WORD }),
  user: { type: ["string", "null"], maxLength: 200, description: "Of an agent: whose conversation it is." },
  metadata: orNull(objectOf({
    conversation: { ...ID, description: "Of an agent: the conversation to go on with." },
  })),
}, ["model", "messages"]);

const USAGE = objectOf({
  prompt_tokens: INTEGER,
  completion_tokens: INTEGER,
  total_tokens: INTEGER,
}, ["prompt_tokens", "completion_tokens", "total_tokens"]);

/** An answer that is not streamed. */
export const CHAT_COMPLETION = objectOf({
  id: STRING,
  object: { const: "chat.completion" },
  created: { type: "integer", description: "s since 1970" },
  model: STRING,
  choices: {
    type: "array",
    items: objectOf({
      index: INTEGER,
      message: objectOf({
        role: { const: "assistant" },
        content: STRING_OR_NULL,
        tool_calls: { type: "array", items: TOOL_CALL },
      }, ["role", "content"]),
      finish_reason: { enum: ["stop", "length", "tool_calls", "content_filter"] },
    }, ["index", "message", "finish_reason"]),
  },
  usage: USAGE,
}, ["id", "object", "created", "model", "choices", "usage"]);

/** An error, with every status that is none of success. */
export const OPENAI_ERROR = objectOf({
  error: objectOf({
    message: STRING,
    type: STRING,
    param: STRING_OR_NULL,
    code: STRING_OR_NULL,
  }, ["message", "type", "param", "code"]),
}, ["error"]);

/** A model of the list. */
export const LISTED_MODEL = objectOf({
  id: STRING,
  object: { const: "model" },
  created: INTEGER,
  owned_by: STRING,
}, ["id", "object", "created", "owned_by"]);

/** `GET /v1/models`. */
export const MODEL_LIST = objectOf({
  object: { const: "list" },
  data: { type: "array", items: LISTED_MODEL },
}, ["object", "data"]);

/** The body of a request, whose fields have the types that the schema says. */
export type ChatBody = FromJsonSchema<typeof CHAT_REQUEST>;

/** How hard models of what is run are to think. @throws {HttpProblem} */
export function effortOf({ reasoning_effort: word }: ChatBody): Effort | undefined {
  if (word === undefined || word === null || EFFORT_RULE.isFine(word)) return effortFrom(word);
  const text = `expected ${EFFORT_RULE.wanted}, found ${JSON.stringify(word)}${
    didYouMeanNames(word, EFFORTS)
  }`;
  throw badField("reasoning_effort", text);
}

/** What is asked for and nobody here can do: left out silently, an answer would not be what it seems. @throws {HttpProblem} */
export function refuseUnsupported(body: ChatBody): void {
  const { n, logprobs, modalities, tools } = body;
  if (typeof n === "number" && n !== 1) {
    throw badField("n", `found ${n}, but one request gives one answer; leave it out`, "unsupported_value");
  }
  if (logprobs === true) {
    throw badField("logprobs", "there are no log probabilities; leave it out", "unsupported_value");
  }
  for (const [name, instead] of NOT_HERE) {
    const value = body[name];
    if (value !== undefined && value !== null) throw badField(name, instead, "unsupported_value");
  }
  const other = modalities?.find((each) => each !== "text");
  if (other !== undefined) {
    throw badField("modalities", `found ${JSON.stringify(other)}, but answers are text`, "unsupported_value");
  }
  const index = tools?.findIndex(({ type }) => type !== "function") ?? -1;
  if (index !== -1) {
    const found = JSON.stringify(tools?.[index]?.type);
    throw badField(`tools[${index}].type`, `found ${found}, expected "function"`, "unsupported_value");
  }
}

/** What would change the answer, with what to do. */
const NOT_HERE = [
  ["top_logprobs", "there are no log probabilities; leave it out"],
  ["functions", "functions are given as tools"],
  ["function_call", "what has to be called is said by tool_choice"],
  ["audio", "answers are text; leave it out"],
  ["web_search_options", "nothing is searched for the answer; leave it out, or offer a tool for it"],
] as const;
