// What the JSON Schemas of all kinds of tests are made of.

import type { JsonObject } from "../core/json.ts";

/** A text. */
export const text = { type: "string" };
/** A mapping of texts; a number or a truth value is its text. */
export const texts = { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } };
/** How a text is to be. */
export const wanted = { $ref: "#/$defs/wanted" };

/** A mapping with these keys and no others. */
export function mappingSchema(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required: [...required], additionalProperties: false };
}

/** How a text is to be: the text, or one of `equals`, `contains` and `matches`. */
export function wantedSchema(): JsonObject {
  return {
    anyOf: [text, {
      ...mappingSchema({ equals: text, contains: text, matches: text }),
      minProperties: 1,
      maxProperties: 1,
    }],
  };
}

/** What every reply of a model may have. */
export function replyKeys(): JsonObject {
  return {
    text: { ...text, description: "What it says." },
    chunks: { type: "array", items: text, description: "What it says, piece by piece." },
    object: { description: "What it says, as JSON." },
    error: {
      ...mappingSchema({ status: { type: "integer" }, message: text, retryAfterMs: { type: "integer" } }),
      description:
        "It fails: with the status of a provider, a message, milliseconds until it may be asked again.",
    },
    calls: {
      type: "array",
      items: mappingSchema({ name: text, input: {} }, ["name"]),
      description: "The tools that it calls.",
    },
  };
}
