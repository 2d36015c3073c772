import type { BlockIndex } from "./block_index.ts";
import { slug } from "./slug.ts";
import type { TreeNode } from "./tree_node.ts";

/**
 * Gives ids to headings that have none: explicit ones first, then by title in document order (documents.md 5.3). What comes
 * back are warnings: an explicit id that is taken gets a number, while its text says it without.
 */
export function giveIds(nodes: Iterable<TreeNode>, index: BlockIndex): readonly string[] {
  const untitled: { readonly node: TreeNode; readonly title: string }[] = [];
  const warnings: string[] = [];
  for (const node of nodes) {
    if (node.content.kind !== "heading" || node.id !== undefined) continue;
    const { explicitId, title } = node.content;
    if (explicitId === undefined) untitled.push({ node, title });
    else warnings.push(...giveExplicitId(node, { id: explicitId, index }));
  }
  for (const { node, title } of untitled) index.give(node, slug(title));
  return warnings;
}

/** Gives a node the id that its line says. */
export function giveExplicitId(
  node: TreeNode,
  { id, index }: { readonly id: string; readonly index: BlockIndex },
): readonly string[] {
  index.give(node, id);
  return node.id === id ? [] : [`id "${id}" is taken; the new block is "${node.id}"`];
}
