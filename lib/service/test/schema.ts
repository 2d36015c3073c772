// What the JSON Schemas of files of tests have alike.

import type { JsonObject } from "../../core/core.ts";

export const text = { type: "string" };
export const pattern = { type: "string", format: "regex" };
/** A mapping of texts; a number or a truth value is its text. */
export const texts = { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } };
/** How a text is to be. */
export const wanted = { $ref: "#/$defs/wanted" };
export const name = said(text, "What the test shows, in a few words.");

export function mapping(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required: [...required], additionalProperties: false };
}

/** The same schema with what it is for. */
export function said(schema: JsonObject, description: string): JsonObject {
  return { ...schema, description };
}

export function list(items: JsonObject, description?: string): JsonObject {
  return { type: "array", items, ...(description !== undefined && { description }) };
}

export function ref(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}

export function fileOf(title: string, properties: JsonObject, $defs: JsonObject): JsonObject {
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
export const reply = {
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
