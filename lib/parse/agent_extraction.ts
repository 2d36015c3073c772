import { define, refTo } from "./agent_definition.ts";
import type { ExtractionSchema, ExtractionValue } from "./agent_file.ts";
import { listOf, mapOf, tellTwice } from "./agent_list.ts";
import { mapping, type Take } from "./agent_mapping.ts";
import { TEMPLATE_TEXT } from "./agent_model.ts";
import { onlyForTypes } from "./agent_rules.ts";
import { oneOf, TEXT } from "./agent_scalar.ts";
import { optional, required, type Shape, withDefault } from "./agent_shape.ts";
import { SAVE_TARGET } from "./agent_slot_path.ts";

const WORDS = listOf(TEXT, {
  isFilled: true,
  schema: { uniqueItems: true },
  check: (words) =>
    tellTwice(words, (word) => word, (part, word) => part.refuse(`${JSON.stringify(word)} is listed twice`)),
});

/** It may hold itself: what it is stands further down. */
const INNER: Shape<ExtractionSchema> = {
  schema: refTo("ExtractionSchema"),
  read: (part) => EXTRACTION_SCHEMA.read(part),
};

const FIELDS = {
  description: required(TEMPLATE_TEXT),
  type: withDefault(oneOf(["string", "number", "integer", "boolean", "array", "object"]), "string"),
  enum: optional(WORDS),
  examples: optional(listOf(TEMPLATE_TEXT)),
  items: optional(INNER),
  properties: optional(mapOf(INNER, { isFilled: true })),
};

const TYPE_RULE = onlyForTypes({ enum: "string", items: "array", properties: "object" }, "string");

function schemaFields(take: Take): ExtractionSchema {
  const words = take(FIELDS.enum);
  const items = take(FIELDS.items);
  const properties = take(FIELDS.properties);
  return {
    description: take(FIELDS.description),
    type: take(FIELDS.type),
    examples: take(FIELDS.examples) ?? [],
    enum: words,
    items,
    properties,
  };
}

/** What an extractor looks for inside a list or an object. */
export const EXTRACTION_SCHEMA = define<ExtractionSchema>(
  "ExtractionSchema",
  mapping({ what: "a schema", fields: FIELDS, rules: [TYPE_RULE] }, schemaFields),
);

const VALUE_FIELDS = { ...FIELDS, target: required(SAVE_TARGET, { mistakenFor: ["store"] }) };

/** What an extractor looks for. */
export const EXTRACTION_VALUE = define<ExtractionValue>(
  "ExtractionValue",
  mapping({ what: "a value", fields: VALUE_FIELDS, rules: [TYPE_RULE] }, (take) => ({
    ...schemaFields(take),
    target: take(VALUE_FIELDS.target),
  })),
);
