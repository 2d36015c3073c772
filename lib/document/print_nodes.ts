import type { TreeNode } from "./tree_node.ts";
import { endsInEmptyLine, endsLine, withoutEmptyEnd } from "./text_ends.ts";

/** How the text of a document is written. */
export interface PrintOptions {
  readonly newline: "\n" | "\r\n";
  /** Whether it begins with a byte order mark. */
  readonly hasMark: boolean;
}

/** The text of nodes in their order, bytes kept where they can be (documents.md 6.8). */
export function printNodes(nodes: Iterable<TreeNode>, { newline, hasMark }: PrintOptions): string {
  const out: string[] = [];
  let above: TreeNode | undefined;
  for (const node of nodes) {
    if (above !== undefined && node.followed !== above.content) out.push(gap(out, newline));
    out.push(node.content.source);
    above = node;
  }
  if (above !== undefined && above.origin.by !== "file") {
    out.push(withoutEmptyEnd(out.pop() ?? "") + newline);
  }
  return (hasMark ? "\uFEFF" : "") + out.join("");
}

/** What is missing to an empty line behind what is written; nothing at the start of the document. */
function gap(out: readonly string[], newline: string): string {
  const last = out.findLast((text) => text !== "");
  if (last === undefined || endsInEmptyLine(last)) return "";
  return endsLine(last) ? newline : newline + newline;
}
