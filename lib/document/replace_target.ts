import type { BlockIndex } from "./block_index.ts";
import type { Group } from "./group.ts";
import { headingWithId } from "./kept_id.ts";
import {
  attach,
  detach,
  hangingBelow,
  type Place,
  placeBefore,
  placeBehind,
  type TreeNode,
} from "./tree_node.ts";
import { nodeBelow, nodeBelowAll } from "./walk.ts";

export interface Replaced {
  readonly node: TreeNode;
  /** Whether its descendants go too. */
  readonly isSection: boolean;
  readonly index: BlockIndex;
}

/**
 * Puts a group in the place of a block (documents.md 6.5): the first block of it becomes the node that is there, with its id
 * and its children. Gives the nodes of the group as they are in the document.
 */
export function replaceTarget(group: Group, { node, isSection, index }: Replaced): readonly TreeNode[] {
  const removed = isSection ? removeDescendants(node, index) : [];
  const heir = group.tops.find(({ content }) => content.kind !== "operation");
  if (heir === undefined) return replaceByNoBlock(group, { node, removed, index });
  const at = group.tops.indexOf(heir);
  attach(group.tops.slice(0, at), placeBefore(node));
  const end = becomeHeir(node, { heir, rest: group.tops.slice(at + 1), index });
  for (const gone of removed) gone.goneFrom = end;
  return group.nodes.map((each) => each === heir ? node : each);
}

/** Takes what is in the section, but the guests, which are of the section around it. */
function removeDescendants(node: TreeNode, index: BlockIndex): readonly TreeNode[] {
  const removed: TreeNode[] = [];
  for (const child of hangingBelow(node)) {
    if (child.isGuest) continue;
    const end = nodeBelowAll(child);
    for (let at: TreeNode | undefined = child; at !== undefined && at !== end; at = nodeBelow(at)) {
      index.take(at);
      removed.push(at);
    }
    detach(child);
  }
  node.appended.length = 0;
  return removed;
}

interface Heir {
  readonly heir: TreeNode;
  readonly rest: readonly TreeNode[];
  readonly index: BlockIndex;
}

/** Gives the place behind the group. */
function becomeHeir(node: TreeNode, { heir, rest, index }: Heir): Place {
  const { content } = heir;
  const own = hangingBelow(heir);
  const hasChildren = node.first !== undefined;
  node.followed = heir.followed;
  node.origin = heir.origin;
  node.content = content;
  if (content.kind === "heading") {
    if (content.explicitId !== undefined) index.take(node);
    else if (node.id !== undefined) node.content = headingWithId(content, node.id);
  }
  for (const child of own) detach(child);
  attach(own, { parent: node, previous: undefined, isGuest: false });
  const behindOwn = { parent: node, previous: own.at(-1), isGuest: true };
  attach(rest, hasChildren ? behindOwn : placeBehind(node));
  node.successors = [...rest, ...node.successors];
  const last = rest.at(-1);
  if (last !== undefined) return placeBehind(last);
  return hasChildren ? behindOwn : placeBehind(node);
}

interface NoHeir {
  readonly node: TreeNode;
  readonly removed: readonly TreeNode[];
  readonly index: BlockIndex;
}

/** A group without a block: the id is lost, and the children belong to the section around. */
function replaceByNoBlock(group: Group, { node, removed, index }: NoHeir): readonly TreeNode[] {
  const place = placeBefore(node);
  const children = hangingBelow(node);
  for (const child of children) detach(child);
  detach(node);
  index.take(node);
  attach([...group.tops, ...children], place);
  node.successors = [...group.tops, ...node.successors];
  const last = group.tops.at(-1);
  const end = last === undefined ? place : placeBehind(last);
  for (const gone of [node, ...removed]) gone.goneFrom = end;
  return group.nodes;
}
