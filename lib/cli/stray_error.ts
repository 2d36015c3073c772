import { shownPath } from "../catalog/paths.ts";
import { messageOf } from "../core/source_error.ts";

/** Orrery's own modules: they are on the way of an error, not where it comes from. */
const OWN = [new URL("../", import.meta.url).href, new URL("../../gadgets/", import.meta.url).href];

const FRAME = /^ +at (?:.*\()?(file:\/\/\/.+?)(?:[?#][^:\n]*)?:(\d+):\d+\)?$/gm;

/** What is known of an error that nobody waited for: the module that its stack names, and what it says. @param cwd absolute */
export function strayErrorText(error: unknown, cwd: string): string {
  const stack: unknown = error instanceof Error ? error.stack : undefined;
  const place = typeof stack === "string" ? placeOf(stack, cwd) : undefined;
  return `${place === undefined ? "" : `${place}: `}an error that nobody waited for: ${messageOf(error)}`;
}

function placeOf(stack: string, cwd: string): string | undefined {
  for (const [, url = "", line = ""] of stack.matchAll(FRAME)) {
    if (OWN.some((folder) => url.startsWith(folder))) continue;
    return `${shownPath(pathOf(url), cwd)}:${line}`;
  }
  return undefined;
}

function pathOf(url: string): string {
  const path = new URL(url).pathname;
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a name that is no UTF-8
  }
}
