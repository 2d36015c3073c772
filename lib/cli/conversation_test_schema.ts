import type { JsonObject } from "../core/json.ts";
import { mappingSchema, replyKeys, text, texts, wanted, wantedSchema } from "./test_schema.ts";

const anyMapping = { type: "object" };
const slots = {
  type: "object",
  description: "By destination.name; without a destination, of the conversation.",
};

const seenRef = { $ref: "#/$defs/seen" };
const saw = {
  "saw-prompts": { ...seenRef, description: "The prompts that a step's model was sent last, by step." },
  "saw-memory": {
    ...seenRef,
    description: "What of the conversation a step's model was sent last, by step.",
  },
};

/** The JSON Schema of `*.conversation-test.yml`, for editors. */
export function conversationTestSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Tests of conversations",
    ...mappingSchema(
      {
        ...settings(),
        tests: {
          type: "array",
          minItems: 1,
          items: { $ref: "#/$defs/test" },
          description: "The tests, each by itself.",
        },
      },
      ["tests"],
    ),
    $defs: {
      test: test(),
      conversation: mappingSchema(conversation(), ["turns"]),
      turn: turn(),
      reply: reply(),
      answer: answer(),
      seen: seen(),
      wanted: wantedSchema(),
    },
  };
}

/** What a file, a test and a conversation may each say; the nearest counts. */
function settings(): JsonObject {
  return {
    agent: { ...text, description: "The *.agent.yml that is tested, relative to this file." },
    user: { ...text, description: "Whose slots it has, as --user. Default: local." },
    module: { ...text, description: "As --module. Default: default." },
    session: { ...text, description: "As --session. Default: the id of the agent." },
    context: {
      description: "What preloaded slots come from, or a file with it, as --context.",
      anyOf: [
        text,
        mappingSchema({
          user: anyMapping,
          module: anyMapping,
          session: anyMapping,
          "user-config": anyMapping,
          "user-context-log": anyMapping,
        }),
      ],
    },
    collection: { ...text, description: "A *.collection.yml for retrievers. Default: that of the project." },
    env: { ...texts, description: "What ${env.NAME} stands for. The environment is not read." },
    http: {
      type: "object",
      description: "What servers answer, by METHOD URL: one answer for every request, or a list, each once.",
      propertyNames: { pattern: "^(GET|POST|PUT|DELETE) \\S+$" },
      additionalProperties: {
        anyOf: [{ $ref: "#/$defs/answer" }, { type: "array", items: { $ref: "#/$defs/answer" } }],
      },
    },
    steps: {
      type: "integer",
      minimum: 1,
      description: "How many steps may run without a hold. Default: 250.",
    },
  };
}

function conversation(): JsonObject {
  return {
    ...settings(),
    "slots-before": { ...slots, description: `Set before the first step. ${slots.description}` },
    model: {
      type: "object",
      description: "What models say: for each step its replies, in order, each once.",
      additionalProperties: { type: "array", items: { $ref: "#/$defs/reply" } },
    },
    turns: {
      type: "array",
      minItems: 1,
      items: { $ref: "#/$defs/turn" },
      description: "What is said, and what is to come of it.",
    },
    "slots-after": { ...slots, description: `Behind the last turn. ${slots.description}` },
    ...saw,
  };
}

function test(): JsonObject {
  const name = { ...text, description: "What the test shows, in a few words." };
  const conversations = {
    type: "array",
    minItems: 1,
    items: { $ref: "#/$defs/conversation" },
    description: "Several, one after the other: what outlives a conversation is there in the next.",
  };
  return {
    ...mappingSchema({ name, ...conversation(), conversations }, ["name"]),
    oneOf: [{ required: ["turns"] }, { required: ["conversations"] }],
  };
}

function turn(): JsonObject {
  return mappingSchema({
    say: { ...text, description: "What the person says. Without it the first turn begins the conversation." },
    retry: { type: "boolean", description: "Tries the step that failed again." },
    expect: {
      description: "What the agent says: all of it, in order.",
      anyOf: [wanted, { type: "array", items: wanted }],
    },
    status: {
      enum: ["held", "completed", "failed"],
      description: "Whether it waits for the person, has come to its end, or a step failed.",
    },
    error: { ...wanted, description: "Why it fails, or why the message is not taken." },
    hold: {
      description: "The step, or the steps, at which it waits.",
      anyOf: [text, { type: "array", items: text }],
    },
    slots: {
      ...slots,
      description:
        `Behind the turn: values, null for none, or how a text is to be (contains, matches). ${slots.description}`,
    },
    ...saw,
  });
}

function reply(): JsonObject {
  return {
    description: "Text; the answer of a step that asks for a form; or one of the mappings of script/FILE.",
    anyOf: [
      text,
      mappingSchema(replyKeys()),
      { type: ["object", "array", "number", "boolean"] },
    ],
  };
}

function answer(): JsonObject {
  return mappingSchema({
    status: { type: "integer", minimum: 200, maximum: 599, description: "Default 200." },
    type: { ...text, description: "Content-Type. Default: by what is answered." },
    headers: { ...texts, description: "Headers of the answer." },
    body: { description: "Text, or what is sent as JSON." },
    events: { type: "array", description: "Server-sent events: the data of each, as text or as JSON." },
    error: { ...text, description: "There is no answer: why the connection failed. It is tried once more." },
    sent: { ...wanted, description: "The body of the request." },
  });
}

function seen(): JsonObject {
  return {
    type: "object",
    description: "What the model of a step was sent last: a list of ROLE: TEXT.",
    additionalProperties: {
      type: "array",
      items: mappingSchema({ system: wanted, user: wanted, assistant: wanted }),
    },
  };
}
