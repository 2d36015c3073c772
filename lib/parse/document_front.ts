import type { DocumentLines } from "./document_lines.ts";
import { parameterLine } from "./parameter_line.ts";

const OPENING = /^---[ \t]*$/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*$/;

/** The line that closes the front matter of a document; undefined where it has none (documents.md 2.3). */
export function frontMatterClose(lines: DocumentLines): number | undefined {
  if (lines.count === 0 || !OPENING.test(lines.content(0))) return undefined;
  let close = 1;
  while (close < lines.count && !CLOSING.test(lines.content(close))) close++;
  return close < lines.count && looksLikeYaml(lines, close) ? close : undefined;
}

/** Two lines of dashes around prose are no front matter: its first line that is not empty tells. */
function looksLikeYaml(lines: DocumentLines, close: number): boolean {
  const first = lines.filled(1);
  if (first >= close) return true;
  const line = lines.content(first);
  return line.startsWith("#") || parameterLine(line) !== undefined;
}
