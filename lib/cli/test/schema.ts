// The JSON Schemas of files of tests: they say what fits, to editors and to `orrery test` itself.

import type { JsonObject } from "../../core/core.ts";

const text = { type: "string" };
const pattern = { type: "string", format: "regex" };
const anyMapping = { type: "object" };
/** A mapping of texts; a number or a truth value is its text. */
const texts = { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } };
/** How a text is to be. */
const wanted = { $ref: "#/$defs/wanted" };
const name = said(text, "What the test shows, in a few words.");

function mapping(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required: [...required], additionalProperties: false };
}

/** The same schema with what it is for. */
function said(schema: JsonObject, description: string): JsonObject {
  return { ...schema, description };
}

function list(items: JsonObject, description?: string): JsonObject {
  return { type: "array", items, ...(description !== undefined && { description }) };
}

function ref(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}

function fileOf(title: string, properties: JsonObject, $defs: JsonObject): JsonObject {
  const tests = { ...list(ref("test"), "The tests, each by itself."), minItems: 1 };
  const one = mapping({ equals: text, contains: text, matches: pattern });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title,
    ...mapping({ ...properties, tests }, ["tests"]),
    $defs: { ...$defs, wanted: { anyOf: [text, { ...one, minProperties: 1, maxProperties: 1 }] } },
  };
}

/** What every reply of a model may have. */
const reply = {
  text: said(text, "What it says."),
  chunks: list(text, "What it says, piece by piece."),
  object: { description: "What it says, as JSON." },
  error: {
    ...mapping({ status: { type: "integer" }, message: text, retryAfterMs: { type: "integer" } }),
    description:
      "It fails: with the status of a provider, a message, milliseconds until it may be asked again.",
  },
  calls: list(mapping({ name: text, input: {} }, ["name"]), "The tools that it calls."),
};

/** The JSON Schema of `*.document-test.yml`. */
export function documentTestSchema(): JsonObject {
  return fileOf("Tests of executable documents", {
    document: said(text, "The document that is tested, relative to this file."),
    files: said(texts, "Files of all tests, over those of the project: path to text."),
  }, {
    test: mapping({
      name,
      document: said(text, "Another document than that of the file."),
      files: said(texts, "More files, over those of all tests."),
      input: {
        description: "What the document is given.",
        ...mapping({
          prompt: said(text, "As --prompt."),
          values: said(texts, "As --input: name to value."),
          blocks: list({ ...text, pattern: ".#." }, "As --block: notes.md#summary."),
        }),
      },
      model: list(ref("reply"), "What the model says, in order: replies as those of script/FILE."),
      commands: list(
        ref("command"),
        "What the commands of @shell give, in order, in place of running them.",
      ),
      allow: list(
        { enum: ["write", "run"] },
        "What the document may do. Real commands run in a copy of the project.",
      ),
      expect: said(ref("expect"), "What is to come of the document."),
    }, ["name", "expect"]),
    reply: mapping({
      ...reply,
      delayMs: said({ type: "integer", minimum: 0 }, "Milliseconds before each piece. Default 0."),
      when: said(pattern, "A regular expression: the last message must match."),
      repeat: said({ type: "boolean" }, "It is never used up. Default false."),
    }),
    command: mapping({
      when: said(pattern, "A regular expression: the script must match."),
      output: said(text, "What it prints."),
      exit: said({ type: "integer" }, "The exit code. Default 0."),
    }),
    expect: mapping({
      exit: said({ enum: [0, 1, 2] }, "Default 0, or anything else where an error is expected."),
      error: said(wanted, "What is told of the failure."),
      value: said({ anyOf: [wanted, { type: "null" }] }, "What the run gives; null: nothing."),
      result: said(wanted, "The whole result document."),
      blocks: {
        type: "object",
        additionalProperties: wanted,
        description: "By reference, without their heading lines.",
      },
      messages: list(
        list(mapping({ system: wanted, user: wanted, assistant: wanted, tool: wanted })),
        "Of each model call, in order: a list of ROLE: TEXT.",
      ),
    }),
  });
}

const slots = {
  type: "object",
  description: "By destination.name; without a destination, of the conversation.",
};
const saw = {
  "saw-prompts": said(ref("seen"), "The prompts that a step's model was sent last, by step."),
  "saw-memory": said(ref("seen"), "What of the conversation a step's model was sent last, by step."),
};

/** What a file, a test and a conversation may each say; the nearest counts. */
const settings = {
  agent: said(text, "The *.agent.yml that is tested, relative to this file."),
  user: said(text, "Whose slots it has, as --user. Default: local."),
  module: said(text, "As --module. Default: default."),
  session: said(text, "As --session. Default: the id of the agent."),
  context: {
    description: "What preloaded slots come from, or a file with it, as --context.",
    anyOf: [
      text,
      mapping({
        user: anyMapping,
        module: anyMapping,
        session: anyMapping,
        "user-config": anyMapping,
        "user-context-log": anyMapping,
      }),
    ],
  },
  collection: said(text, "A *.collection.yml for retrievers. Default: that of the project."),
  env: said(texts, "What ${env.NAME} stands for. The environment is not read."),
  http: {
    type: "object",
    description: "What servers answer, by METHOD URL: one answer for every request, or a list, each once.",
    propertyNames: { pattern: "^(GET|POST|PUT|DELETE) \\S+$" },
    additionalProperties: { anyOf: [ref("answer"), list(ref("answer"))] },
  },
  steps: {
    type: "integer",
    minimum: 1,
    description: "How many steps may run without a hold. Default: 250.",
  },
};

const conversation = {
  "slots-before": said(slots, `Set before the first step. ${slots.description}`),
  model: {
    type: "object",
    description: "What models say: for each step its replies, in order, each once.",
    additionalProperties: list(ref("reply")),
  },
  turns: { ...list(ref("turn"), "What is said, and what is to come of it."), minItems: 1 },
  "slots-after": said(slots, `Behind the last turn. ${slots.description}`),
  ...saw,
};

/** The JSON Schema of `*.conversation-test.yml`. */
export function conversationTestSchema(): JsonObject {
  const conversations = {
    ...list(
      ref("conversation"),
      "Several, one after the other: what outlives a conversation is there in the next.",
    ),
    minItems: 1,
  };
  return fileOf("Tests of conversations", settings, {
    test: {
      ...mapping({ name, ...settings, ...conversation, conversations }, ["name"]),
      if: { required: ["conversations"] },
      then: { properties: Object.fromEntries(Object.keys(conversation).map((key) => [key, false])) },
      else: { required: ["turns"] },
    },
    conversation: mapping({ ...settings, ...conversation }, ["turns"]),
    turn: mapping({
      say: said(text, "What the person says. Without it the first turn begins the conversation."),
      retry: said({ type: "boolean" }, "Tries the step that failed again."),
      expect: { description: "What the agent says: all of it, in order.", anyOf: [list(wanted), wanted] },
      status: {
        enum: ["held", "completed", "failed"],
        description: "Whether it waits for the person, has come to its end, or a step failed.",
      },
      error: said(wanted, "Why it fails, or why the message is not taken."),
      hold: { description: "The step, or the steps, at which it waits.", anyOf: [text, list(text)] },
      slots: said(
        slots,
        `Behind the turn: values, null for none, or how a text is to be (contains, matches). ${slots.description}`,
      ),
      ...saw,
    }),
    reply: {
      description: "Text; the answer of a step that asks for a form; or one of the mappings of script/FILE.",
      anyOf: [text, mapping(reply), { type: ["object", "array", "number", "boolean"] }],
    },
    answer: mapping({
      status: said({ type: "integer", minimum: 200, maximum: 599 }, "Default 200."),
      type: said(text, "Content-Type. Default: by what is answered."),
      headers: said(texts, "Headers of the answer."),
      body: { description: "Text, or what is sent as JSON." },
      events: list({}, "Server-sent events: the data of each, as text or as JSON."),
      error: said(text, "There is no answer: why the connection failed. It is tried once more."),
      sent: said(wanted, "The body of the request."),
    }),
    seen: {
      type: "object",
      description: "What the model of a step was sent last: a list of ROLE: TEXT.",
      additionalProperties: list(mapping({ system: wanted, user: wanted, assistant: wanted })),
    },
  });
}
