// What counts as a value that a model has found (conversations.md 2.8). A value fits as a whole or not at all: of a wrong part nobody
// knows what was meant. Parts that are not there are left out, since none is required.
import { isJsonObject, type Json, losesDigits } from "../core/json.ts";
import type { ExtractionSchema } from "../parse/agent/agent.ts";

/** How a model's value was taken. `wrong`: it is not of its type. */
export type Extracted = { readonly found: Json } | "missing" | "wrong";

type Kind = Pick<ExtractionSchema, "type" | "enum" | "items" | "properties">;

/** Reads a value as its type says. Never throws. */
export function extractedValue(schema: Kind, value: Json | undefined): Extracted {
  if (value === undefined || value === null) return "missing";
  switch (schema.type) {
    case "string":
      return textOf(value, schema.enum);
    case "number":
      return numberOf(value, Number.isFinite);
    case "integer":
      return numberOf(value, Number.isInteger);
    case "boolean":
      return typeof value === "boolean" ? { found: value } : absentOr(value);
    case "array":
      return isList(value) ? listOf(value, schema.items) : absentOr(value);
    case "object":
      return isJsonObject(value) ? objectOf(value, schema.properties) : absentOr(value);
    default:
      return schema.type satisfies never;
  }
}

function textOf(value: Json, allowed: readonly string[] | undefined): Extracted {
  if (typeof value !== "string") return "wrong";
  if (allowed === undefined) return isAbsent(value) ? "missing" : { found: value };
  const chosen = [value, value.trim()].find((text) => allowed.includes(text)); // "none" may be a choice
  return chosen === undefined ? absentOr(value) : { found: chosen };
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

function numberOf(value: Json, fits: (number: number) => boolean): Extracted {
  const isNumber = typeof value === "string" && DECIMAL.test(value.trim()) && !losesDigits(value.trim());
  const number = isNumber ? Number(value) : value;
  return typeof number === "number" && fits(number) ? { found: number } : absentOr(value);
}

function listOf(value: readonly Json[], items: Kind | undefined): Extracted {
  if (items === undefined) return { found: value };
  const read = value.map((item) => extractedValue(items, item));
  if (read.includes("wrong")) return "wrong";
  const found = read.flatMap((item) => typeof item === "string" ? [] : [item.found]);
  return found.length === 0 && value.length > 0 ? "missing" : { found };
}

function objectOf(
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
