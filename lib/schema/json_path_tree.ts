// A JSONPath that was read: what it selects, as data (RFC 9535, 2.3 to 2.5).

import type { PathFunctionName } from "./json_path_functions.ts";

/** Segments that are applied one after another, to the whole value (`$`) or to the item that a filter looks at (`@`). */
export interface PathQuery {
  readonly isRelative: boolean;
  readonly segments: readonly PathSegment[];
}

/** `[...]`, or `..[...]`, which looks at everything below too. */
export interface PathSegment {
  readonly isDescendant: boolean;
  readonly selectors: readonly PathSelector[];
}

/** One of the selectors in brackets. */
export type PathSelector =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "wildcard" }
  | { readonly kind: "slice"; readonly start?: number; readonly end?: number; readonly step: number }
  | { readonly kind: "filter"; readonly test: PathTest };

/** What a filter asks of an item. */
export type PathTest =
  | { readonly kind: "any" | "all"; readonly tests: readonly PathTest[] }
  | { readonly kind: "not"; readonly test: PathTest }
  | { readonly kind: "exists"; readonly query: PathQuery }
  | {
    readonly kind: "compare";
    readonly operator: ComparisonOperator;
    readonly left: PathValue;
    readonly right: PathValue;
  }
  | { readonly kind: "matches"; readonly value: PathValue; readonly pattern: PathPattern };

/** How two values are compared. */
export type ComparisonOperator = "==" | "!=" | "<=" | ">=" | "<" | ">";

/** A value in a filter; a query in it selects one value at most. */
export type PathValue =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "query"; readonly query: PathQuery }
  | { readonly kind: "length"; readonly of: PathValue }
  | { readonly kind: "count" | "value"; readonly of: PathQuery };

/** The pattern of `match` or `search`. */
export interface PathPattern {
  readonly expression: RegExp;
  /** The highest power of the length of a text that looking for it can take. */
  readonly power: number;
  /** What that is multiplied with. */
  readonly ways: number;
}

/** What a call of a function is, where a test or a value can stand. */
export type PathCall =
  | {
    readonly name: PathFunctionName;
    readonly offset: number;
    readonly value: Extract<PathValue, { readonly of: unknown }>;
  }
  | {
    readonly name: PathFunctionName;
    readonly offset: number;
    readonly test: Extract<PathTest, { readonly kind: "matches" }>;
  };

/** Whether a query selects one value at most. */
export function isSingular({ segments }: PathQuery): boolean {
  return segments.every(({ isDescendant, selectors: [first, ...others] }) =>
    !isDescendant && others.length === 0 && (first?.kind === "name" || first?.kind === "index")
  );
}
