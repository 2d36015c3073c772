import { decodeSegment } from "../core/json.ts";
import type { JsonSchema } from "../core/gadget.ts";

/** What a reference leads to, and its path in the schema. */
export interface SchemaTarget {
  readonly node: unknown;
  readonly path: readonly string[];
}

/**
 * The part of a schema that a fragment without `#` names, as a JSON pointer or an anchor; undefined when
 * there is none.
 */
export function schemaTarget(source: JsonSchema, fragment: string): SchemaTarget | undefined {
  return fragment.startsWith("/") ? atPointer(source, fragment) : atAnchor(source, fragment);
}

function atPointer(source: JsonSchema, fragment: string): SchemaTarget | undefined {
  const path = decoded(fragment).slice(1).split("/").map(decodeSegment);
  let node: unknown = source;
  for (const key of path) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    node = Reflect.get(node, key);
  }
  return { node, path };
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function atAnchor(source: JsonSchema, anchor: string): SchemaTarget | undefined {
  const seen = new Set<object>();
  const search = (node: unknown, path: readonly string[]): SchemaTarget | undefined => {
    if (typeof node !== "object" || node === null || seen.has(node)) return undefined;
    seen.add(node);
    const { $anchor, $dynamicAnchor, $id }: JsonSchema = { ...node };
    if ([$anchor, $dynamicAnchor].includes(anchor) || $id === `#${anchor}`) return { node, path };
    for (const [key, child] of Object.entries(node)) {
      const found = search(child, [...path, key]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search(source, []);
}
