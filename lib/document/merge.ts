// Where the nodes of a result go: the table of documents.md 6.3, with 6.4 and 6.5.

import type { MergeMode } from "../parse/operation_fields.ts";
import type { BlockIndex } from "./block_index.ts";
import type { Group } from "./group.ts";
import { replaceTarget } from "./replace_target.ts";
import { attach, detach, type Place, placeBefore, placeBehind, type TreeNode } from "./tree_node.ts";
import { settledPlace } from "./walk.ts";

export interface MergePlace {
  readonly operation: TreeNode;
  readonly mode: MergeMode;
  /** Absent: the operation itself. */
  readonly to?: { readonly node: TreeNode; readonly isSection: boolean };
}

/** Hangs a group into the document. Removed nodes lose their ids; the new ones have none yet, but that of a replaced block. */
export function merge(group: Group, place: MergePlace, index: BlockIndex): readonly TreeNode[] {
  const { operation, mode, to } = place;
  if (mode === "replace") {
    return to === undefined ? replaceOperation(group, operation) : replaceTarget(group, { ...to, index });
  }
  if (mode === "prepend") attach(group.tops, placeBefore(to?.node ?? operation));
  else if (to === undefined) append(group, { owner: operation, place: placeBehindOperation(operation) });
  else if (to.isSection) attach(group.tops, placeAtEnd(to.node));
  else append(group, { owner: to.node, place: placeBelowText(to.node) });
  return group.nodes;
}

function append(group: Group, { owner, place }: { readonly owner: TreeNode; readonly place: Place }): void {
  attach(group.tops, place);
  for (const top of group.tops) owner.appended.push(top);
}

/** Behind what was appended to it already, or where it was when it is gone. */
function placeBehindOperation(operation: TreeNode): Place {
  const last = lastThere(operation.appended);
  if (last !== undefined) return placeBehind(endOf(last));
  return operation.goneFrom === undefined ? placeBehind(operation) : settledPlace(operation.goneFrom);
}

/** Behind a heading's own text and what was appended to it, before its children. */
function placeBelowText(node: TreeNode): Place {
  const last = lastThere(node.appended);
  if (last !== undefined) return placeBehind(endOf(last));
  return { parent: node, previous: undefined, isGuest: false };
}

/** Behind a heading's last descendant. */
function placeAtEnd(node: TreeNode): Place {
  let previous = node.last;
  while (previous?.isGuest) previous = previous.before;
  return { parent: node, previous, isGuest: false };
}

/** The last of some nodes that is in the document; what replaced one stands for it. */
function lastThere(nodes: TreeNode[]): TreeNode | undefined {
  for (;;) {
    const last = nodes.at(-1);
    if (last === undefined || !last.isGone) return last;
    nodes.pop();
    for (const successor of last.successors) nodes.push(successor);
  }
}

/** The last node that belongs to a node without hanging below it: what replaced it, or was appended to an operation. */
function endOf(node: TreeNode): TreeNode {
  let at = node;
  for (;;) {
    const next = lastThere(at.successors) ??
      (at.content.kind === "operation" ? lastThere(at.appended) : undefined);
    if (next === undefined || next.parent === at) return at;
    at = next;
  }
}

function replaceOperation(group: Group, operation: TreeNode): readonly TreeNode[] {
  const place = placeBefore(operation);
  detach(operation);
  attach(group.tops, place);
  const last = group.tops.at(-1);
  operation.successors = [...group.tops];
  operation.goneFrom = last === undefined ? place : placeBehind(last);
  return group.nodes;
}
