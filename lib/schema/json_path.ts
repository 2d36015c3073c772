// JSONPath of our own (RFC 9535): the packages for it get filters wrong, or take no account of what a value from outside costs them.

import type { Json } from "../core/json.ts";
import { readPath } from "./json_path_reader.ts";
import { PathProblem } from "./json_path_scanner.ts";
import { PathSelection } from "./json_path_selection.ts";

/** A JSONPath that has been read. */
export interface JsonPath {
  /**
   * All that it selects, in order; the same value twice where it is selected twice.
   *
   * @throws {Error} when that takes more than ten million steps: `it takes …`
   */
  select(value: Json): readonly Json[];
}

/**
 * Reads a JSONPath (RFC 9535). A regular expression that could run without end, and one that is not written out, are problems.
 *
 * @returns `problem` is a sentence, `found "x" at column 3, expected …`; `offset` is where, from 0
 */
export function parseJsonPath(
  text: string,
): { readonly ok: JsonPath } | { readonly problem: string; readonly offset: number } {
  try {
    const query = readPath(text);
    return { ok: { select: (value) => new PathSelection(value).select(query) } };
  } catch (error) {
    if (!(error instanceof PathProblem)) throw error;
    return { problem: error.message, offset: error.offset };
  }
}
