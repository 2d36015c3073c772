import { DocumentLines } from "./document_lines.ts";
import type { DocumentTree } from "./document_node.ts";
import { documentNodes } from "./document_nodes.ts";

/** How a document is read. */
export interface ParseDocumentOptions {
  /** Kept in the tree, for messages. */
  readonly file?: string;
  /** False: lines of operations are text, and nothing is said of them. Default: true. */
  readonly operations?: boolean;
}

/**
 * Splits the text of an executable document into its nodes (documents.md 2). Nothing is lost: `printDocument` gives the
 * same text back. What is wrong with the text is in `problems`; the YAML of front matter and bodies is not read.
 *
 * ```ts
 * import { parseDocument } from "orrery";
 *
 * const { nodes } = parseDocument("# Plan\n\n@llm\nprompt: Go on.\n");
 * console.log(nodes.map(({ kind, line }) => `${line} ${kind}`)); // => [ "1 heading", "3 operation" ]
 * ```
 */
export function parseDocument(text: string, options: ParseDocumentOptions = {}): DocumentTree {
  const lines = new DocumentLines(text);
  const { nodes, problems } = documentNodes(lines, {
    frontMatter: true,
    operations: options.operations ?? true,
  });
  return {
    file: options.file,
    newline: lines.newline,
    nodes,
    problems,
  };
}

/**
 * The text of a document: the sources of its nodes, joined.
 *
 * ```ts
 * import { parseDocument, printDocument } from "orrery";
 *
 * const text = "# Plan\r\n\r\n@llm\r\nprompt: Go on.";
 * console.log(printDocument(parseDocument(text)) === text); // => true
 * ```
 */
export function printDocument(tree: Pick<DocumentTree, "nodes">): string {
  return tree.nodes.map(({ source }) => source).join("");
}
