import { isRecord, type JsonObject } from "../core/json.ts";
import type { AgentPart } from "./agent_part.ts";
import { ANYTHING, PRINTABLE, refused } from "./agent_scalar.ts";
import type { Shape } from "./agent_shape.ts";

/** What a list has to be besides what its items are. */
export interface ListRules<Item> {
  /** Default: it may be empty. */
  readonly isFilled?: boolean;
  /** Looks at the items together. */
  readonly check?: (items: readonly ReadItem<Item>[]) => void;
  /** What the schema can say of `check`. */
  readonly schema?: { readonly uniqueItems: true };
}

/** An item, and where it stands. */
export interface ReadItem<Item> {
  readonly part: AgentPart;
  readonly value: Item;
}

/** A list of equal things. */
export function listOf<Item>(item: Shape<Item>, rules: ListRules<Item> = {}): Shape<readonly Item[]> {
  const { isFilled = false, check, schema } = rules;
  return {
    schema: { type: "array", items: item.schema, ...(isFilled ? { minItems: 1 } : {}), ...schema },
    read: (part) => {
      if (!Array.isArray(part.value)) return refused(part, { wanted: "a list", standIn: [] });
      if (isFilled && part.value.length === 0) part.refuse("must not be empty");
      const items = part.items.map((each) => ({ part: each, value: item.read(each) }));
      check?.(items);
      return items.map(({ value }) => value);
    },
  };
}

/** Tells of each item whose key an earlier one has; the empty key stands for one that could not be read. */
export function tellTwice<Item>(
  items: readonly ReadItem<Item>[],
  keyOf: (item: Item) => string,
  tell: (part: AgentPart, key: string) => void,
): void {
  const seen = new Set<string>();
  for (const { part, value } of items) {
    const key = keyOf(value);
    if (key !== "" && seen.has(key)) tell(part, key);
    seen.add(key);
  }
}

/** A mapping whose keys are the author's own. */
export function mapOf<Value>(
  value: Shape<Value>,
  { isFilled = false }: { readonly isFilled?: boolean } = {},
): Shape<Readonly<Record<string, Value>>> {
  return {
    schema: {
      type: "object",
      additionalProperties: value.schema,
      ...(isFilled ? { minProperties: 1 } : {}),
    },
    read: (part) => {
      if (!isRecord(part.value)) return refused(part, { wanted: "a mapping", standIn: {} });
      if (isFilled && part.keys.length === 0) part.refuse("must not be empty");
      return Object.fromEntries(part.keys.flatMap((key) => {
        const child = part.child(key);
        return child === undefined ? [] : [[key, value.read(child)] as const];
      }));
    },
  };
}

/** A mapping of anything, for templates. */
export const PRINTABLES: Shape<JsonObject> = { schema: { type: "object" }, read: mapOf(PRINTABLE).read };

/** A mapping of anything. */
export const OBJECT: Shape<JsonObject> = { schema: { type: "object" }, read: mapOf(ANYTHING).read };
