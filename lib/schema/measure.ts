import { TextValue } from "./text_value.ts";

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
  let level = new Set<unknown>([tree]); // a set: a value that holds itself twice would double each level
  let size = 0;
  for (let depth = 0; level.size > 0; depth++) {
    if (depth > MAX_LEVELS) return { size, problem: `more than ${MAX_LEVELS} levels` };
    const next = new Set<unknown>();
    for (const value of level) {
      size += value instanceof TextValue ? 1 + value.text.length / CHARACTERS_PER_VALUE : 1;
      if (typeof value !== "object" || value === null || value instanceof TextValue) continue;
      const problem = addChildren(value, next);
      if (problem !== undefined) return { size, problem };
    }
    level = next;
  }
  return { size };
}

function addChildren(container: object, children: Set<unknown>): string | undefined {
  if (Object.hasOwn(container, "__proto__")) return `"__proto__" cannot be a name`;
  const isArray = Array.isArray(container);
  for (const [name, child] of Object.entries(container)) {
    if (!isArray && !name.isWellFormed()) return `the name ${JSON.stringify(name)} holds half a character`;
    if (typeof child === "object") children.add(child);
  }
  return undefined;
}
