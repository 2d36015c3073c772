import { decodeSegment, didYouMean } from "../lib/core/core.ts";

/** What a pointer leads to, or why it leads nowhere, in words that go after "at "a/b": ". */
export type Pointed = { readonly value: unknown } | { readonly problem: string };

/**
 * Follows an RFC 6901 pointer; as in call files (calls.md 3) its first `/` may be left out. Own properties only: no pointer reaches
 * a prototype.
 */
export function followPointer(value: unknown, pointer: string): Pointed {
  let here = value;
  for (const segment of pointerSegments(pointer)) {
    if (/~(?![01])/.test(segment)) return { problem: `"~" must be followed by 0 or 1 in "${segment}"` };
    const key = decodeSegment(segment);
    const next = Array.isArray(here) ? itemOf(here, key) : propertyOf(here, key);
    if ("problem" in next) return next;
    here = next.value;
  }
  return { value: here };
}

function pointerSegments(pointer: string): readonly string[] {
  if (pointer === "") return [];
  return (pointer.startsWith("/") ? pointer.slice(1) : pointer).split("/");
}

function itemOf(items: readonly unknown[], key: string): Pointed {
  if (!/^(?:0|[1-9][0-9]*)$/.test(key)) {
    return { problem: `an array has no "${key}", expected an index from 0` };
  }
  if (Number(key) >= items.length) return { problem: `no item ${key} in an array of ${items.length}` };
  return { value: items[Number(key)] };
}

function propertyOf(value: unknown, key: string): Pointed {
  if (typeof value !== "object" || value === null) return { problem: `no "${key}" in ${kindOf(value)}` };
  if (Object.hasOwn(value, key)) return { value: Reflect.get(value, key) };
  return {
    problem: `no key "${key}"${
      didYouMean(key, Object.keys(value)).replace(/^ /, "; ").replace("Did", "did")
    }`,
  };
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
