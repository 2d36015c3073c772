// The library takes a time that grows with the square of the levels, and calls itself for each: thousands of them would stop everything.

import { spanAt } from "../core/span_at.ts";
import type { LineProblem } from "../parse/front_matter.ts";
import { handlebarsTags } from "./handlebars_tags.ts";

const MOST_LEVELS = 200;

/** What is wrong with a Handlebars text whose blocks or brackets are too many inside each other; undefined when they are not. */
export function tooManyLevels(body: string): LineProblem | undefined {
  if (!["{{#", "{{~#", "{{^", "{{~^", "("].some((opening) => isOften(body, opening))) return undefined;
  let levels = 0;
  for (const { start, end } of handlebarsTags(body)) {
    const tag = body.slice(start, end);
    if (/^\{\{~?(?:#|\^\s*[^\s~}])/.test(tag)) levels++;
    else if (/^\{\{~?\//.test(tag)) levels = Math.max(0, levels - 1);
    if (levels + bracketLevels(tag) <= MOST_LEVELS) continue;
    const { line, column } = spanAt(body, start);
    return {
      line,
      column,
      message: `there are more than ${MOST_LEVELS} levels of Handlebars inside each other`,
    };
  }
  return undefined;
}

/** Whether there may be so many levels at all: then one of the ways to open one comes this often. */
function isOften(body: string, opening: string): boolean {
  let at = -1;
  for (let count = 0; count <= MOST_LEVELS / 5; count++) {
    at = body.indexOf(opening, at + 1);
    if (at === -1) return false;
  }
  return true;
}

function bracketLevels(tag: string): number {
  let levels = 0;
  let most = 0;
  for (const char of tag.match(/[()]/g) ?? []) {
    levels = char === "(" ? levels + 1 : Math.max(0, levels - 1);
    most = Math.max(most, levels);
  }
  return most;
}
