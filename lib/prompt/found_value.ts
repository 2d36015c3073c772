import { shown } from "../schema/issue.ts";

/** A value that is not what it has to be, in the words of an error: the text of a function would say too much. */
export function foundValue(value: unknown): string {
  return typeof value === "function" ? "a function" : shown(value);
}
