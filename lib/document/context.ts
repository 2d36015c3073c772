import { hasText } from "./node_text.ts";
import type { LiveNode } from "./live_node.ts";
import { isSource, isWritten } from "./origin.ts";
import type { TreeNode } from "./tree_node.ts";
import { nodeBelow, sectionOf } from "./walk.ts";

/** What a model is told of the document above an operation, in document order. */
export interface Context {
  /** Blocks of `.system` sections, which a person wrote or put there. */
  readonly system: readonly LiveNode[];
  /** All other headings and texts. */
  readonly ambient: readonly LiveNode[];
}

/** The blocks above an operation (documents.md 7.2 to 7.4). */
export function contextAbove(
  operation: TreeNode,
  { root, hasOperations }: { readonly root: TreeNode; readonly hasOperations: boolean },
): Context {
  const system: LiveNode[] = [];
  const ambient: LiveNode[] = [];
  const inSystem = new Set<TreeNode>();
  for (let node = nodeBelow(root); node !== undefined && node !== operation; node = nodeBelow(node)) {
    const section = sectionOf(node);
    const isInside = section !== undefined && inSystem.has(section);
    const isSystem = isWritten(node.origin) && (isInside || isSystemHeading(node));
    if (isInside || isSystem) inSystem.add(node);
    if (!isSent(node, hasOperations)) continue;
    if (isSystem && node.content.kind !== "operation") system.push(node);
    else ambient.push(node);
  }
  return { system, ambient };
}

function isSystemHeading({ content, origin }: TreeNode): boolean {
  return content.kind === "heading" && content.title.startsWith(".system") && isSource(origin);
}

function isSent(node: TreeNode, hasOperations: boolean): boolean {
  if (node.content.kind === "front-matter") return false;
  return node.content.kind === "operation" ? hasOperations : hasText(node);
}
