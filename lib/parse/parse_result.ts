import { DocumentLines } from "./document_lines.ts";
import type { DocumentNode, DocumentProblem } from "./document_node.ts";
import { documentNodes } from "./document_nodes.ts";

/** How the text of a result is read. */
export interface ParseResultOptions {
  /** The line end of the document that it goes into. */
  readonly newline: "\n" | "\r\n";
  /** Whether its operations are ones; false: they are text, and nothing is said of them. */
  readonly operations: boolean;
}

/** A result as nodes. */
export interface ResultNodes {
  /** None for an empty text. Lines count from the first one that is not empty; the last source has no line end. */
  readonly nodes: readonly DocumentNode[];
  /** Only when there may be operations. */
  readonly problems: readonly DocumentProblem[];
}

/** Splits what a model, a command or a document gave, as a text of its own (documents.md 6.1). */
export function parseResult(text: string, options: ParseResultOptions): ResultNodes {
  const kinds = { frontMatter: false, operations: options.operations };
  const whole = trimmed(withNewlines(text, options.newline));
  const found = documentNodes(new DocumentLines(whole), kinds);
  const { nodes, problems } = found.missing === undefined
    ? found
    : documentNodes(new DocumentLines(`${whole}${options.newline}${found.missing}`), kinds);
  return { nodes, problems: options.operations ? problems : [] };
}

/** Without a byte order mark, the empty lines at the start and the white space at the end. Its line ends are one kind. */
function trimmed(text: string): string {
  let start = 0;
  for (let at = 0; " \t\r\n\uFEFF".includes(text[at] ?? "."); at++) {
    if (text[at] === "\n" || text[at] === "\uFEFF") start = at + 1;
  }
  return text.slice(start).trimEnd();
}

/** With one kind of line end. CRs before a line end go too: one that is left would make another line end of it. */
function withNewlines(text: string, newline: string): string {
  if (newline === "\n" && !text.includes("\r")) return text;
  return text.split("\n").map(withoutEndingReturns).join(newline);
}

function withoutEndingReturns(line: string): string {
  let end = line.length;
  while (end > 0 && line.charCodeAt(end - 1) === 13) end--;
  return end === line.length ? line : line.slice(0, end);
}
