import { attach, type TreeNode } from "./tree_node.ts";

/** Hangs nodes below a base by the levels of their headings (documents.md 5.4); gives those directly below it. */
export function hangByLevel(nodes: readonly TreeNode[], base: TreeNode): readonly TreeNode[] {
  const open: { readonly node: TreeNode; readonly level: number }[] = [];
  const tops: TreeNode[] = [];
  for (const node of nodes) {
    const level = node.content.kind === "heading" ? node.content.level : Infinity;
    while (open.length > 0 && (open.at(-1)?.level ?? 0) >= level) open.pop();
    const parent = open.at(-1)?.node ?? base;
    if (parent === base) tops.push(node);
    attach([node], { parent, previous: parent.last, isGuest: false });
    if (level !== Infinity) open.push({ node, level });
  }
  return tops;
}
