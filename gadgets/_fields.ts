import { isRecord, type Json } from "../lib/core/core.ts";

/** The fields of a JSON object; none for every other value. */
export function fieldsOf(value: Json | undefined): { readonly [key: string]: Json | undefined } {
  return isRecord(value) ? value : {};
}

/** The items of a JSON array; none for every other value. */
export function itemsOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** A text as it is, another value as JSON, nothing as the empty text. */
export function textOf(value: Json | undefined): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
