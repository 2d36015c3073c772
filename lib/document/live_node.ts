import type { DocumentNode } from "../parse/document/tree.ts";
import type { Origin } from "./origin.ts";

/** A node with the node that it follows in its own source: between those two nothing is written when they still meet. */
export interface Piece {
  readonly content: DocumentNode;
  readonly followed?: DocumentNode;
}

/**
 * A node of a document that runs. It stays the same object when a result takes its place (documents.md 6.5): then its
 * content and its origin are the new ones.
 */
export interface LiveNode extends Piece {
  /** Counts from 0 in the order in which nodes came into the document: the same in every run that does the same. */
  readonly serial: number;
  readonly origin: Origin;
  /** Of headings, and of what took the place of one. */
  readonly id: string | undefined;
  /** The id before it got a number. */
  readonly baseId: string | undefined;
  /** Whether it was taken out of the document. */
  readonly isGone: boolean;
}

/** A reference that was looked up: where a result goes. */
export interface Target {
  readonly node: LiveNode;
  /** Whether the reference ended in a star: the node and all its descendants. */
  readonly isSection: boolean;
}

/** The pieces of nodes that stand in this order in one text. */
export function piecesOf(nodes: readonly DocumentNode[]): readonly Piece[] {
  return nodes.map((content, at) => ({ content, followed: nodes[at - 1] }));
}
