import type { Span } from "./source_error.ts";

/**
 * The place of an offset in a text: line and column from 1, a line ends with LF.
 *
 * @param offset in UTF-16 units, from 0; one beyond the text means its end
 */
export function spanAt(
  text: string,
  offset: number,
  options: { readonly file?: string; readonly length?: number } = {},
): Span {
  const end = Math.min(Math.max(0, offset), text.length);
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { ...options, line, column: end - lineStart + 1 };
}

/** `column 7`, and for a text of several lines `line 2, column 7`: how a message names a place in a short text. */
export function placeInWords(text: string, span: Span): string {
  return text.includes("\n") ? `line ${span.line}, column ${span.column}` : `column ${span.column}`;
}
