import { ParseError } from "../core/prompt_error.ts";
import { messageOf } from "../core/source_error.ts";

/**
 * The JSON value of a reply, which may be in one code fence.
 *
 * @throws {ParseError} when it is not JSON.
 */
export function replyJson(text: string): unknown {
  const value = parsed(unfenced(text.trim()));
  if (hasInfinity(value)) throw notJson("a number is too large");
  return value;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw notJson(messageOf(error));
  }
}

function notJson(reason: string): ParseError {
  return new ParseError(`Output is not valid JSON: ${reason}`);
}

/** The inside of a fence around everything; a word behind the opening run, and the rest of its line with it, are not of the value. */
function unfenced(text: string): string {
  const ticks = /^`{3,}/.exec(text)?.[0].length ?? 0;
  const end = ticks === 0 ? text.length : startOfLastRun(text);
  if (ticks === 0 || end < ticks || text.length - end < ticks) return text;
  const inside = text.slice(ticks, end);
  const word = /^[\p{L}_][^\s`]*/u.exec(inside)?.[0] ?? "";
  const lineEnd = word === "" ? -1 : inside.indexOf("\n");
  return lineEnd < 0 ? inside.slice(word.length) : inside.slice(lineEnd);
}

function startOfLastRun(text: string): number {
  let start = text.length;
  while (text[start - 1] === "`") start--;
  return start;
}

/** `JSON.parse` reads 1e999 as Infinity, which no JSON can say again. Without recursion: nothing bounds the levels of a reply. */
function hasInfinity(value: unknown): boolean {
  const open = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "number" && !Number.isFinite(next)) return true;
    if (typeof next !== "object" || next === null) continue;
    for (const child of Object.values(next)) open.push(child);
  }
  return false;
}
