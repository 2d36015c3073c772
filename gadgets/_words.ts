import type { Json } from "../lib/core/core.ts";

/** `1 file`, `2 files`, `1,234 files`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** A whole number with commas between the thousands, in every locale. */
export function formatNumber(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** A size in the largest unit that leaves at least 1: `12 bytes`, `64.0 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return counted(bytes, "byte");
  const exponent = Math.min(4, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** exponent).toFixed(1)} ${["", "KiB", "MiB", "GiB", "TiB"][exponent]}`;
}

/** The text cut to `max` UTF-16 units, with a mark where it was cut and no half characters. */
export function cutEnd(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** The end of a text, at most `max` UTF-16 units, beginning with a whole line where that is possible. */
export function cutStart(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = text.slice(text.length - max).replace(/^[\uDC00-\uDFFF]/, "");
  const lineFeed = end.indexOf("\n");
  return `…${lineFeed < 0 || lineFeed > end.length - 2 ? end : end.slice(lineFeed)}`;
}

/** The items of a JSON array; none for every other value. */
export function itemsOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** A text as it is, another value as JSON, nothing as the empty text. */
export function textOf(value: Json | undefined): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
