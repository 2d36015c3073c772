import type { JsonObject } from "../core/json.ts";
import { mappingSchema, replyKeys, text, texts, wanted, wantedSchema } from "./test_schema.ts";

/** The JSON Schema of `*.document-test.yml`, for editors. */
export function documentTestSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Tests of executable documents",
    ...mappingSchema({
      document: { ...text, description: "The document that is tested, relative to this file." },
      files: { ...texts, description: "Files of all tests, over those of the project: path to text." },
      tests: {
        type: "array",
        minItems: 1,
        items: { $ref: "#/$defs/test" },
        description: "The tests, each by itself.",
      },
    }, ["tests"]),
    $defs: { test: test(), reply: reply(), command: command(), expect: expect(), wanted: wantedSchema() },
  };
}

function test(): JsonObject {
  return mappingSchema({
    name: { ...text, description: "What the test shows, in a few words." },
    document: { ...text, description: "Another document than that of the file." },
    files: { ...texts, description: "More files, over those of all tests." },
    input: {
      description: "What the document is given.",
      ...mappingSchema({
        prompt: { ...text, description: "As --prompt." },
        values: { ...texts, description: "As --input: name to value." },
        blocks: {
          type: "array",
          items: { ...text, pattern: ".#." },
          description: "As --block: notes.md#summary.",
        },
      }),
    },
    model: {
      type: "array",
      items: { $ref: "#/$defs/reply" },
      description: "What the model says, in order: replies as those of script/FILE.",
    },
    commands: {
      type: "array",
      items: { $ref: "#/$defs/command" },
      description: "What the commands of @shell give, in order, in place of running them.",
    },
    allow: {
      type: "array",
      items: { enum: ["write", "run"] },
      description: "What the document may do. Real commands run in a copy of the project.",
    },
    expect: { $ref: "#/$defs/expect", description: "What is to come of the document." },
  }, ["name", "expect"]);
}

function reply(): JsonObject {
  return mappingSchema({
    ...replyKeys(),
    delayMs: { type: "integer", minimum: 0, description: "Milliseconds before each piece. Default 0." },
    when: { ...text, description: "A regular expression: the last message must match." },
    repeat: { type: "boolean", description: "It is never used up. Default false." },
  });
}

function command(): JsonObject {
  return mappingSchema({
    when: { ...text, description: "A regular expression: the script must match." },
    output: { ...text, description: "What it prints." },
    exit: { type: "integer", description: "The exit code. Default 0." },
  });
}

function expect(): JsonObject {
  return mappingSchema({
    exit: { enum: [0, 1, 2], description: "Default 0, or anything else where an error is expected." },
    error: { ...wanted, description: "What is told of the failure." },
    value: { anyOf: [wanted, { type: "null" }], description: "What the run gives; null: nothing." },
    result: { ...wanted, description: "The whole result document." },
    blocks: {
      type: "object",
      additionalProperties: wanted,
      description: "By reference, without their heading lines.",
    },
    messages: {
      type: "array",
      description: "Of each model call, in order: a list of ROLE: TEXT.",
      items: {
        type: "array",
        items: mappingSchema({ system: wanted, user: wanted, assistant: wanted, tool: wanted }),
      },
    },
  });
}
