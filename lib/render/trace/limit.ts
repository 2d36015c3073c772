// A trace may hold more than anybody wants in one page: long values are cut, the longest most, until all of it fits.

import type { TraceRow } from "./page.ts";
import type { TraceValue } from "./values.ts";

/** How much a page may hold. */
export interface TraceLimit {
  /** Of all values together, as HTML in UTF-8. */
  readonly valueBytes: number;
  readonly rows: number;
}

/** Rows that fit, and what is missing. */
export interface LimitedRows {
  readonly rows: readonly LimitedRow[];
  /** Of the rows that are not shown. */
  readonly missingRows: number;
  readonly cutValues: number;
}

/** A row whose values fit. */
export type LimitedRow = Omit<TraceRow, "values"> & { readonly values: readonly LimitedValue[] };

/** A value, or its beginning. */
export type LimitedValue = TraceValue & {
  /** How many characters are missing; 0 for most. */
  readonly missing: number;
};

/** The rows with their values cut to the same length, as long as that is needed. */
export function limitedRows(rows: readonly TraceRow[], limit: TraceLimit): LimitedRows {
  const kept = rows.slice(0, limit.rows);
  const sizes = kept.flatMap(({ values }) => values.map(({ text }) => htmlBytes(text)));
  const share = fairShare(sizes, limit.valueBytes);
  let cutValues = 0;
  const limited = kept.map((row, index) => ({
    ...row,
    below: Math.min(row.below, kept.length - index - 1), // some may be missing
    values: row.values.map((value) => {
      const text = startOfHtml(value.text, share);
      const missing = value.text.length - text.length;
      if (missing > 0) cutValues++;
      return { ...value, text, missing };
    }),
  }));
  return { rows: limited, missingRows: rows.length - kept.length, cutValues };
}

/** The largest size to which all have to be cut so that they fit together. */
export function fairShare(sizes: readonly number[], budget: number): number {
  const sorted = [...sizes].sort((a, b) => a - b);
  let left = budget;
  for (const [index, size] of sorted.entries()) {
    const share = left / (sorted.length - index);
    if (size > share) return Math.max(0, Math.floor(share));
    left -= size;
  }
  return Infinity;
}

/** How many bytes of UTF-8 the text takes in HTML. */
export function htmlBytes(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) bytes += bytesOf(text.charCodeAt(at));
  return bytes;
}

/** The beginning of a text that takes at most so many bytes in HTML; no pair of surrogates is cut apart. */
function startOfHtml(text: string, most: number): string {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    bytes += bytesOf(text.charCodeAt(at));
    if (bytes > most) return text.slice(0, isSecondHalf(text, at) ? at - 1 : at);
  }
  return text;
}

function isSecondHalf(text: string, at: number): boolean {
  return at > 0 && /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1));
}

/** What a UTF-16 unit takes: `&`, quotes and brackets become entities, a surrogate is half of four bytes. */
function bytesOf(code: number): number {
  if (code < 0x80) return ENTITY_BYTES[code] ?? 1;
  if (code < 0x800 || (code >= 0xd800 && code < 0xe000)) return 2;
  return 3;
}

const ENTITY_BYTES: Readonly<Record<number, number>> = { 0x22: 6, 0x26: 5, 0x27: 5, 0x3c: 4, 0x3e: 4 };
