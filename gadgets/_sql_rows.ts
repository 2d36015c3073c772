import type { Json } from "../lib/core/json.ts";

/** Bytes inside JSON. */
interface Base64 {
  readonly base64: string;
}

/** The names of a result's columns, made different from each other: the second `id` is `id_2`. */
export function columnNames(names: readonly string[]): readonly string[] {
  const used = new Set<string>();
  return names.map((name) => {
    let free = name;
    for (let number = 2; used.has(free); number++) free = `${name}_${number}`;
    used.add(free);
    return free;
  });
}

/** A row as JSON: bytes as base64; a whole number beyond ±(2^53 - 1), which JSON would round, and infinity as text. */
export function rowObject(
  columns: readonly string[],
  values: readonly unknown[],
): Readonly<Record<string, Json>> {
  // Not by assignment: a column can be called "__proto__".
  return Object.fromEntries(columns.map((name, index) => [name, toJsonValue(values[index])]));
}

function toJsonValue(value: unknown): Json {
  switch (typeof value) {
    case "bigint":
      return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
        ? Number(value)
        : String(value);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "string":
      return value;
    default:
      return value instanceof Uint8Array ? { ...base64Of(value) } : null;
  }
}

function base64Of(bytes: Uint8Array): Base64 {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x8000) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  }
  return { base64: btoa(parts.join("")) };
}
