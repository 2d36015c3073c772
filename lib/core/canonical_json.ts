import { isRecord } from "./json.ts";

/** JSON with the keys of every object in order: two values that are the same as data have the same text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inside: unknown) => isRecord(inside) ? sorted(inside) : inside) ??
    "null";
}

function sorted(object: object): object {
  const keys = Object.keys(object);
  if (keys.every((key, index) => index === 0 || (keys[index - 1] ?? "") < key)) return object;
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => a < b ? -1 : 1));
}
