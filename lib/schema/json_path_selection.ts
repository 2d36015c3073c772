// What a JSONPath selects of one value, in the order of RFC 9535. All work is counted: a value may come from anywhere, and a path that is
// harmless for most would keep the process busy for hours with another.

import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { compareTexts, isSame } from "./json_path_comparison.ts";
import type {
  ComparisonOperator,
  PathPattern,
  PathQuery,
  PathSelector,
  PathTest,
  PathValue,
} from "./json_path_tree.ts";

/** About a second or two. */
const MAX_STEPS = 10_000_000;
/** Steps of a regular expression are so much shorter than ours. */
const PATTERN_STEPS = 50;

type Maybe = Json | undefined;

/** The work on one value. */
export class PathSelection {
  readonly #root: Json;
  #steps = 0;

  constructor(root: Json) {
    this.#root = root;
  }

  /** @throws {Error} when it takes too much */
  select(query: PathQuery, item: Json = this.#root): readonly Json[] {
    let nodes: readonly Json[] = [query.isRelative ? item : this.#root];
    for (const { isDescendant, selectors } of query.segments) {
      const found: Json[] = [];
      for (const node of nodes) {
        for (const place of isDescendant ? this.#descendants(node) : [node]) {
          for (const selector of selectors) this.#apply(selector, place, found);
        }
      }
      nodes = found;
    }
    return nodes;
  }

  /** A value and all below it, each before what it holds. */
  *#descendants(top: Json): Generator<Json> {
    const open = [top];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      this.#count();
      yield node;
      const children = childrenOf(node);
      for (let at = children.length - 1; at >= 0; at--) open.push(children[at] ?? null);
    }
  }

  #apply(selector: PathSelector, node: Json, found: Json[]): void {
    this.#count();
    switch (selector.kind) {
      case "name":
        if (isJsonObject(node) && Object.hasOwn(node, selector.name)) found.push(node[selector.name] ?? null);
        return;
      case "index": {
        const item = Array.isArray(node) ? node.at(selector.index) : undefined;
        if (item !== undefined) found.push(item);
        return;
      }
      case "wildcard":
        return this.#take(childrenOf(node), found);
      case "slice":
        return this.#take(Array.isArray(node) ? sliceOf(node, selector) : [], found);
      case "filter":
        return this.#take(childrenOf(node).filter((child) => this.#holds(selector.test, child)), found);
      default:
        return selector satisfies never;
    }
  }

  #take(items: readonly Json[], found: Json[]): void {
    this.#count(items.length);
    for (const item of items) found.push(item);
  }

  #holds(test: PathTest, item: Json): boolean {
    this.#count();
    switch (test.kind) {
      case "any":
        return test.tests.some((each) => this.#holds(each, item));
      case "all":
        return test.tests.every((each) => this.#holds(each, item));
      case "not":
        return !this.#holds(test.test, item);
      case "exists":
        return this.select(test.query, item).length > 0;
      case "compare":
        return this.#compare(this.#value(test.left, item), test.operator, this.#value(test.right, item));
      case "matches":
        return this.#matches(this.#value(test.value, item), test.pattern);
      default:
        return test satisfies never;
    }
  }

  #value(value: PathValue, item: Json): Maybe {
    switch (value.kind) {
      case "literal":
        return value.value;
      case "query":
        return this.select(value.query, item)[0];
      case "length":
        return this.#length(this.#value(value.of, item));
      case "count":
        return this.select(value.of, item).length;
      case "value": {
        const nodes = this.select(value.of, item);
        return nodes.length === 1 ? nodes[0] : undefined;
      }
      default:
        return value satisfies never;
    }
  }

  #length(value: Maybe): Maybe {
    if (typeof value !== "string") {
      return typeof value === "object" && value !== null ? childrenOf(value).length : undefined;
    }
    this.#count(value.length / PATTERN_STEPS);
    return value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
  }

  /** RFC 9535, 2.3.5.2.2: nothing is the same as nothing, and only two numbers or two texts have an order. */
  #compare(left: Maybe, operator: ComparisonOperator, right: Maybe): boolean {
    const same = () => isSame(left, right, () => this.#count());
    const less = (a: Maybe, b: Maybe) =>
      typeof a === "number" && typeof b === "number"
        ? a < b
        : typeof a === "string" && typeof b === "string" && compareTexts(a, b) < 0;
    switch (operator) {
      case "==":
        return same();
      case "!=":
        return !same();
      case "<":
        return less(left, right);
      case ">":
        return less(right, left);
      case "<=":
        return less(left, right) || same();
      case ">=":
        return less(right, left) || same();
      default:
        return operator satisfies never;
    }
  }

  #matches(value: Maybe, { expression, power, ways }: PathPattern): boolean {
    if (typeof value !== "string") return false;
    this.#count(Math.max(1, value.length) ** power * ways / PATTERN_STEPS);
    return expression.test(value);
  }

  #count(steps = 1): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) {
      throw new Error(`it takes more than ${MAX_STEPS.toLocaleString("en")} steps on a value of this size`);
    }
  }
}

function childrenOf(node: Json): readonly Json[] {
  if (Array.isArray(node)) return node;
  return isJsonObject(node) ? Object.values(node) : [];
}

/** RFC 9535, 2.3.4.2.2. */
function sliceOf(
  items: readonly Json[],
  { start, end, step }: Extract<PathSelector, { readonly kind: "slice" }>,
): readonly Json[] {
  const { length } = items;
  const within = (at: number, low: number, high: number): number =>
    Math.min(Math.max(at >= 0 ? at : length + at, low), high);
  const found: Json[] = [];
  if (step > 0) {
    const upper = within(end ?? length, 0, length);
    for (let at = within(start ?? 0, 0, length); at < upper; at += step) found.push(items[at] ?? null);
  } else if (step < 0) {
    const lower = end === undefined ? -1 : within(end, -1, length - 1);
    for (let at = within(start ?? length - 1, -1, length - 1); at > lower; at += step) {
      found.push(items[at] ?? null);
    }
  }
  return found;
}
