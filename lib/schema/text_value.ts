import { parseJson } from "../core/core.ts";

/**
 * A leaf of a call's parameters: text as it was written, its type not decided yet. The gadget's schema
 * decides.
 */
export class TextValue {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** For the `leaf` of a parser whose calls are typed by their gadgets. */
export function undecided(text: string): TextValue {
  return new TextValue(text);
}

const TYPED = /^[ \t\r]*(?:true|false|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)[ \t\r]*$/;

/**
 * The value of a text that no schema types (calls.md 3, "Values without a schema"): on one line and with
 * blanks around it dropped, `true` and `false` are booleans, plain numbers from -(2^53 - 1) to 2^53 - 1 are numbers, and
 * all else stays as written.
 */
export function untypedValue(text: string): string | number | boolean {
  if (!TYPED.test(text)) return text;
  const word = trimBlanks(text);
  if (word === "true" || word === "false") return word === "true";
  const number = Number(word);
  if (Math.abs(number) > Number.MAX_SAFE_INTEGER) return text;
  return number === 0 ? 0 : number; // -0 is 0
}

/**
 * The tree with every `TextValue` leaf read by {@linkcode untypedValue}; parts without such a leaf are not
 * copied.
 */
export function untypedTree(tree: unknown): unknown {
  if (tree instanceof TextValue) return untypedValue(tree.text);
  return typeof tree === "object" && tree !== null ? mapChildren(tree, untypedTree) : tree;
}

/**
 * A copy of an array or object with `convert` applied to each item or own property; the same one when nothing
 * changed. A key such as `__proto__` stays a plain property.
 */
export function mapChildren(
  container: object,
  convert: (child: unknown, key: string | number) => unknown,
): object {
  if (Array.isArray(container)) {
    const items = container.map((item: unknown, index) => convert(item, index));
    return items.every((item, index) => item === container[index]) ? container : items;
  }
  const entries = Object.entries(container);
  let changed = false;
  for (const entry of entries) {
    const [key, child] = entry;
    const value = convert(child, key);
    if (value === child) continue;
    changed = true;
    entry[1] = value;
  }
  return changed ? Object.fromEntries(entries) : container;
}

/** Values nested deeper than this are refused, as results of gadgets are. */
const MAX_LEVELS = 500;

/** About how many characters of JSON one value takes. */
const CHARACTERS_PER_VALUE = 10;

/** How large a tree is, and whether it can be read at all. */
export interface Measure {
  /** About how many values it holds, with those that its texts may hold as JSON. */
  readonly size: number;
  /** Too many levels (a cycle has too many), or a name that cannot be one. */
  readonly problem?: string;
}

/** Measures a tree without recursion, level by level. */
export function measure(tree: unknown): Measure {
  let level: Iterable<unknown> = [tree];
  let size = 0;
  for (let depth = 0;; depth++) {
    if (depth > MAX_LEVELS) return { size, problem: `more than ${MAX_LEVELS} levels` };
    const next: Level = {};
    for (const value of level) {
      size += value instanceof TextValue ? 1 + value.text.length / CHARACTERS_PER_VALUE : 1;
      if (typeof value !== "object" || value === null || value instanceof TextValue) continue;
      const problem = addChildren(value, next);
      if (problem !== undefined) return { size, problem };
    }
    if (next.values === undefined) return { size };
    level = next.values;
  }
}

/** The values of one level. A set: a value that holds itself twice would double each level. Most trees have one level below the first. */
interface Level {
  values?: Set<unknown>;
}

function addItems(items: readonly unknown[], next: Level): undefined {
  for (const item of items) if (typeof item === "object") (next.values ??= new Set()).add(item);
}

function addChildren(container: object, next: Level): string | undefined {
  if (Object.hasOwn(container, "__proto__")) return `"__proto__" cannot be a name`;
  if (Array.isArray(container)) return addItems(container, next);
  for (const name of Object.keys(container)) {
    const child: unknown = Reflect.get(container, name);
    if (!name.isWellFormed()) return `the name ${JSON.stringify(name)} holds half a character`;
    if (typeof child === "object") (next.values ??= new Set()).add(child);
  }
  return undefined;
}

/** True for the UTF-16 unit of a blank: a space, a tab or a CR and nothing else (calls.md 7); String.trim would also take NBSP and BOM. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d;
}

/** The text without blanks at both ends. */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

/** JSON text of an array or object, read; or why it could not be. */
type JsonText = { readonly value: object } | { readonly problem: string };

/**
 * Reads the JSON text of an array or object; anything else, nesting that is too deep and a name `__proto__`
 * at any depth are problems (calls.md 3 and 7).
 */
export function readJsonText(text: string): JsonText {
  if (!/^\s*[[{]/.test(text)) return { problem: "not JSON" };
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    return { problem: error instanceof RangeError ? message : `broken JSON: ${message}` };
  }
  if (typeof value !== "object" || value === null) return { problem: "not JSON" };
  const { problem } = measure(value);
  return problem === undefined ? { value } : { problem };
}
