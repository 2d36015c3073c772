import type { Place, TreeNode } from "./tree_node.ts";

/** The node below this one in the text. Amortised constant: a walk over everything passes each link twice. */
export function nodeBelow(node: TreeNode): TreeNode | undefined {
  return node.first ?? nodeBelowAll(node);
}

/** The node below this one and everything that hangs below it. */
export function nodeBelowAll(node: TreeNode): TreeNode | undefined {
  let at: TreeNode | undefined = node;
  while (at !== undefined && at.behind === undefined) at = at.parent;
  return at?.behind;
}

/** The node above this one in the text; the root above the first. */
export function nodeAbove(node: TreeNode): TreeNode | undefined {
  if (node.before === undefined) return node.parent;
  let at = node.before;
  while (at.last !== undefined) at = at.last;
  return at;
}

/** The first node behind a gap. */
export function nodeAt({ parent, previous }: Place): TreeNode | undefined {
  if (previous !== undefined) return nodeBelowAll(previous);
  return nodeBelow(parent);
}

/** The gap where the run goes on for a node that is gone, and for the nodes of that gap that are gone by now too. */
export function settledPlace(place: Place): Place {
  let at = place;
  for (;;) {
    const next = at.previous?.goneFrom ?? at.parent.goneFrom;
    if (next === undefined) return at;
    at = next;
  }
}

/** The parent in the section tree, where a guest is a sibling of its host; the root for what has none. */
export function sectionOf(node: TreeNode): TreeNode | undefined {
  let at: TreeNode | undefined = node;
  while (at !== undefined && at.isGuest) at = at.parent;
  return at?.parent;
}

/** A node and its descendants in the section tree, in the order of the text. */
export function* wholeSection(node: TreeNode): Generator<TreeNode> {
  yield node;
  for (const { node: descendant } of descendants(node)) yield descendant;
}

/** A node of a section, and how far below its heading it is: children have the depth 1. */
export interface Descendant {
  readonly node: TreeNode;
  readonly depth: number;
}

/**
 * The descendants in the section tree, in the order of the text. `isWorth` is asked whether those of a certain depth below a
 * node are wanted at all; default: they are.
 */
export function* descendants(
  root: TreeNode,
  isWorth: (depth: number) => boolean = () => true,
): Generator<Descendant> {
  const open = [{ from: root.first, depth: 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (let node = next.from; node !== undefined; node = node.behind) {
      if (node.isGuest && node.parent === root) continue;
      const depth = node.isGuest ? next.depth - 1 : next.depth;
      yield { node, depth };
      if (node.first === undefined || !isWorth(node.hasGuests ? depth : depth + 1)) continue;
      open.push({ from: node.behind, depth: next.depth }, { from: node.first, depth: depth + 1 });
      break;
    }
  }
}

/** Whether a node stands above another one in the text. Walks no farther than the shorter way tells. */
export function isAbove(node: TreeNode, other: TreeNode): boolean {
  const path = pathTo(node);
  const otherPath = pathTo(other);
  let at = 0;
  while (at < path.length && path[at] === otherPath[at]) at++;
  const mine = path[at];
  const others = otherPath[at];
  if (mine === undefined) return others !== undefined;
  return others !== undefined && isBefore(mine, others);
}

function isBefore(node: TreeNode, sibling: TreeNode): boolean {
  let fromNode = node.behind;
  let fromSibling = sibling.behind;
  for (;;) {
    if (fromNode === sibling || fromSibling === undefined) return true;
    if (fromSibling === node || fromNode === undefined) return false;
    fromNode = fromNode.behind;
    fromSibling = fromSibling.behind;
  }
}

function pathTo(node: TreeNode): readonly TreeNode[] {
  const path: TreeNode[] = [];
  for (let at: TreeNode | undefined = node; at !== undefined; at = at.parent) path.push(at);
  return path.reverse();
}
