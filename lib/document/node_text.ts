import { trimEnd, trimLines, withNewline } from "./text_ends.ts";
import type { LiveNode } from "./live_node.ts";

/** A node's text as it is sent or returned: with its heading line, trimmed, with LF as line end. */
export function nodeText(node: LiveNode): string {
  return trimLines(withNewline(node.content.source, "\n"));
}

/** The same without the heading line (documents.md 9.1, 9.5). */
function nodeBody(node: LiveNode): string {
  if (node.content.kind !== "heading") return nodeText(node);
  const text = withNewline(node.content.source, "\n");
  const end = text.indexOf("\n");
  return end < 0 ? "" : trimLines(text.slice(end + 1));
}

/** The texts of several nodes, with one empty line between. */
export function nodeTexts(nodes: readonly LiveNode[]): string {
  return joined(nodes.map(nodeText));
}

/** The same without the heading lines. */
export function nodeBodies(nodes: readonly LiveNode[]): string {
  return joined(nodes.map(nodeBody));
}

/** Whether there is any text in it. */
export function hasText(node: LiveNode): boolean {
  return trimEnd(node.content.source) !== "";
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}
