// The nodes of a document as one ordered tree whose preorder is the text from top to bottom.
//
// One thing does not fit into such a tree. When a result with several top nodes replaces a heading that has children, the
// first takes the heading's place and its children, but the others stand above those children in the text, and belong to the
// heading's parent. They are guests: they hang below the first, and count as its siblings.

import type { DocumentNode } from "../parse/document_node.ts";
import type { LiveNode, Piece } from "./live_node.ts";
import type { Origin } from "./origin.ts";

/** A gap between two nodes: below `parent`, behind all of `previous`, or before the first child. */
export interface Place {
  readonly parent: TreeNode;
  readonly previous: TreeNode | undefined;
  /** Whether what is put there is a guest of `parent`. */
  readonly isGuest: boolean;
}

export class TreeNode implements LiveNode {
  readonly serial: number;
  content: DocumentNode;
  followed: DocumentNode | undefined;
  origin: Origin;
  id: string | undefined;
  baseId: string | undefined;

  parent: TreeNode | undefined;
  first: TreeNode | undefined;
  last: TreeNode | undefined;
  before: TreeNode | undefined;
  behind: TreeNode | undefined;
  isGuest = false;
  /** Whether guests hang below it, or did. */
  hasGuests = false;

  /** The top nodes that were appended to it, in their order; some may be gone. */
  readonly appended: TreeNode[] = [];
  /** What came behind it when a result replaced it: it counts where this node counted. */
  successors: TreeNode[] = [];
  /** Of a node that is gone: where the run goes on. */
  goneFrom: Place | undefined;

  constructor(piece: Piece, options: { readonly origin: Origin; readonly serial: number }) {
    this.content = piece.content;
    this.followed = piece.followed;
    this.origin = options.origin;
    this.serial = options.serial;
  }

  get isGone(): boolean {
    return this.goneFrom !== undefined;
  }
}

/** Puts nodes, each with all that is below it, into a gap, in their order. */
export function attach(nodes: readonly TreeNode[], place: Place): void {
  let previous = place.previous;
  for (const node of nodes) {
    attachOne(node, { ...place, previous });
    previous = node;
  }
}

function attachOne(node: TreeNode, { parent, previous, isGuest }: Place): void {
  const behind = previous === undefined ? parent.first : previous.behind;
  node.parent = parent;
  node.isGuest = isGuest;
  if (isGuest) parent.hasGuests = true;
  node.before = previous;
  node.behind = behind;
  if (previous === undefined) parent.first = node;
  else previous.behind = node;
  if (behind === undefined) parent.last = node;
  else behind.before = node;
}

/** Takes a node with all that is below it out of the tree. */
export function detach(node: TreeNode): void {
  const { parent, before, behind } = node;
  if (before !== undefined) before.behind = behind;
  else if (parent !== undefined) parent.first = behind;
  if (behind !== undefined) behind.before = before;
  else if (parent !== undefined) parent.last = before;
  node.parent = node.before = node.behind = undefined;
}

/** What hangs directly below a node, guests included. */
export function hangingBelow(node: TreeNode): TreeNode[] {
  const children: TreeNode[] = [];
  for (let child = node.first; child !== undefined; child = child.behind) children.push(child);
  return children;
}

/** The gap behind a node and all that hangs below it. */
export function placeBehind(node: TreeNode): Place {
  return { parent: parentInTree(node), previous: node, isGuest: node.isGuest };
}

/** The gap before a node. */
export function placeBefore(node: TreeNode): Place {
  return { parent: parentInTree(node), previous: node.before, isGuest: node.isGuest };
}

function parentInTree(node: TreeNode): TreeNode {
  if (node.parent === undefined) throw new Error("This node is not in the document.");
  return node.parent;
}
