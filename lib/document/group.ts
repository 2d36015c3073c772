import type { Piece } from "./live_node.ts";
import type { Origin } from "./origin.ts";
import { hangByLevel } from "./section_tree.ts";
import { detach, TreeNode } from "./tree_node.ts";
import { trimmedPieces } from "./trimmed_pieces.ts";
import { underHeader } from "./wrapper.ts";

/** Nodes that are inserted together; the tops are not in the document yet, the others hang below them. */
export interface Group {
  /** In the order of the text. */
  readonly nodes: readonly TreeNode[];
  readonly tops: readonly TreeNode[];
}

export interface GroupOptions {
  /** A heading line that all of it stands under. */
  readonly header?: string;
  readonly origin: Origin;
  readonly newline: "\n" | "\r\n";
  readonly nextSerial: () => number;
}

/** Makes the nodes of a result (documents.md 6.1, 6.2). */
export function makeGroup(pieces: readonly Piece[], options: GroupOptions): Group {
  const { header, origin, newline, nextSerial } = options;
  const trimmed = trimmedPieces(pieces, newline);
  const all = header === undefined ? trimmed : underHeader(header, { pieces: trimmed, newline });
  const nodes = all.map((piece) => new TreeNode(piece, { origin, serial: nextSerial() }));
  const [wrapper, ...below] = nodes;
  if (header !== undefined && wrapper !== undefined) {
    hangByLevel(below, wrapper);
    return { nodes, tops: [wrapper] };
  }
  return { nodes, tops: loose(nodes, nextSerial) };
}

/** The tops of nodes without a wrapper, each with what belongs to it. */
function loose(nodes: readonly TreeNode[], nextSerial: () => number): readonly TreeNode[] {
  const [first] = nodes;
  if (first === undefined) return [];
  const base = new TreeNode(first, { origin: first.origin, serial: nextSerial() });
  const tops = hangByLevel(nodes, base);
  for (const top of tops) detach(top);
  return tops;
}
