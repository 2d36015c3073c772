import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";

/** Whether two JSON values are the same as data; undefined is nothing, which is the same as nothing only. `count` is called for each part. */
export function isSame(left: Json | undefined, right: Json | undefined, count: () => void): boolean {
  const open: (readonly [Json | undefined, Json | undefined])[] = [[left, right]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    count();
    const [a, b] = pair;
    if (a === b) continue;
    if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
      for (const [at, item] of a.entries()) open.push([item, b[at]]);
    } else if (isObject(a) && isObject(b) && Object.keys(a).length === Object.keys(b).length) {
      for (const [key, item] of Object.entries(a)) {
        if (!Object.hasOwn(b, key)) return false;
        open.push([item, b[key]]);
      }
    } else return false;
  }
  return true;
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return value !== undefined && isJsonObject(value);
}

/** Below 0 when `a` comes first by code points, as RFC 9535 wants it and `<` does not have it beyond U+FFFF. */
export function compareTexts(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
}
