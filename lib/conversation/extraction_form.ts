// The form that an extractor asks for (conversations.md 2.8), as JSON Schema. No value is required: what was not said is left out.

import type { JsonObject } from "../core/json.ts";
import type { ExtractionSchema, ExtractionValue } from "../parse/agent/agent.ts";
import { extractionNames } from "./extraction_names.ts";

/** Fills the placeholders of a text. */
type Fill = (text: string) => string;

/** The schema of the values; placeholders in descriptions and examples are filled. */
export function extractionForm(values: readonly ExtractionValue[], fill: Fill): JsonObject {
  const names = extractionNames(values);
  return objectOf(values.map((value, index) => [names[index] ?? "", value]), fill);
}

function objectOf(entries: readonly (readonly [string, ExtractionSchema])[], fill: Fill): JsonObject {
  const properties = Object.fromEntries(entries.map(([name, schema]) => [name, schemaOf(schema, fill)]));
  return { type: "object", properties, additionalProperties: false };
}

function schemaOf(schema: ExtractionSchema, fill: Fill): JsonObject {
  const { type, items, properties } = schema;
  const form = properties === undefined ? { type } : objectOf(Object.entries(properties), fill);
  return {
    ...form,
    description: describe(schema, fill),
    ...(schema.enum === undefined ? {} : { enum: schema.enum }),
    ...(items === undefined ? {} : { items: schemaOf(items, fill) }),
  };
}

function describe({ description, examples }: ExtractionSchema, fill: Fill): string {
  const lines = examples.map((example) => `\n- ${fill(example)}`);
  return `${fill(description)}${lines.length === 0 ? "" : `\nExamples:${lines.join("")}`}`;
}
