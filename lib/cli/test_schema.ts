// What the JSON Schemas of all kinds of tests are made of.

import type { JsonObject } from "../core/json.ts";

/** A mapping with these keys and no others. */
export function mappingSchema(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required: [...required], additionalProperties: false };
}

/** How a text is to be: the text, or one of `equals`, `contains` and `matches`. */
export function wantedSchema(): JsonObject {
  const text = { type: "string" };
  return {
    anyOf: [text, {
      ...mappingSchema({ equals: text, contains: text, matches: text }),
      minProperties: 1,
      maxProperties: 1,
    }],
  };
}
