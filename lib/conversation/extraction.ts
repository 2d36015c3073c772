// The form that an extractor asks for (conversations.md 2.8), as JSON Schema. No value is required: what was not said is left out.
import { isJsonObject, type Json, type JsonObject, losesDigits } from "../core/core.ts";
import type { ExtractionSchema, ExtractionValue } from "../parse/agent/agent.ts";
import { slotKey } from "./slots.ts";

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

// What counts as a value that a model has found (conversations.md 2.8). A value fits as a whole or not at all: of a wrong part nobody
// knows what was meant. Parts that are not there are left out, since none is required.

/** How a model's value was taken. `wrong`: it is not of its type. */
type Extracted = { readonly found: Json } | "missing" | "wrong";

type Kind = Pick<ExtractionSchema, "type" | "enum" | "items" | "properties">;

/** Reads a value as its type says. Never throws. */
export function extractedValue(schema: Kind, value: Json | undefined): Extracted {
  if (value === undefined || value === null) return "missing";
  switch (schema.type) {
    case "string":
      return foundText(value, schema.enum);
    case "number":
      return foundNumber(value, Number.isFinite);
    case "integer":
      return foundNumber(value, Number.isInteger);
    case "boolean":
      return typeof value === "boolean" ? { found: value } : absentOr(value);
    case "array":
      return isList(value) ? foundList(value, schema.items) : absentOr(value);
    case "object":
      return isJsonObject(value) ? foundObject(value, schema.properties) : absentOr(value);
    default:
      return schema.type satisfies never;
  }
}

function foundText(value: Json, allowed: readonly string[] | undefined): Extracted {
  if (typeof value !== "string") return "wrong";
  if (allowed === undefined) return isAbsent(value) ? "missing" : { found: value };
  const chosen = [value, value.trim()].find((text) => allowed.includes(text)); // "none" may be a choice
  return chosen === undefined ? absentOr(value) : { found: chosen };
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

function foundNumber(value: Json, fits: (number: number) => boolean): Extracted {
  const isNumber = typeof value === "string" && DECIMAL.test(value.trim()) && !losesDigits(value.trim());
  const number = isNumber ? Number(value) : value;
  return typeof number === "number" && fits(number) ? { found: number } : absentOr(value);
}

function foundList(value: readonly Json[], items: Kind | undefined): Extracted {
  if (items === undefined) return { found: value };
  const read = value.map((item) => extractedValue(items, item));
  if (read.includes("wrong")) return "wrong";
  const found = read.flatMap((item) => typeof item === "string" ? [] : [item.found]);
  return found.length === 0 && value.length > 0 ? "missing" : { found };
}

function foundObject(
  value: { readonly [key: string]: Json },
  properties: Readonly<Record<string, Kind>> | undefined,
): Extracted {
  if (properties === undefined) return { found: value };
  const read = Object.entries(properties).map(([name, schema]) =>
    [name, extractedValue(schema, Object.hasOwn(value, name) ? value[name] : undefined)] as const
  );
  if (read.some(([, part]) => part === "wrong")) return "wrong";
  const found = read.flatMap(([name, part]) => typeof part === "string" ? [] : [[name, part.found] as const]);
  return found.length === 0 ? "missing" : { found: Object.fromEntries(found) };
}

/** How models say that they found nothing. */
function isAbsent(text: string): boolean {
  return /^(?:null|none)?$/i.test(text.trim());
}

function absentOr(value: Json): Extracted {
  return typeof value === "string" && isAbsent(value) ? "missing" : "wrong";
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/**
 * What a model calls the values of an extractor, in their order: the name of the slot, or `session.name` where slots of two destinations
 * would have one name (conversations.md 2.8).
 */
export function extractionNames(values: readonly ExtractionValue[]): readonly string[] {
  const plain = values.map(({ target }) => target.name);
  const names = values.map(({ target }) =>
    plain.filter((name) => name === target.name).length > 1 ? slotKey(target) : target.name
  );
  const areUnique = new Set(names).size === names.length; // a slot may itself be named "session.x"
  return areUnique ? names : values.map(({ target }) => slotKey(target));
}
