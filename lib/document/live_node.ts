import { extname } from "node:path";
import type { DocumentNode } from "../parse/document/tree.ts";
import { trimEnd, trimLines, withNewline } from "./pieces.ts";

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

/** What brought a node into a document. All but `file` and `import` is generated text. */
export type OriginKind =
  | "file"
  | "import"
  /** Imported, and an answer that was saved in this run. */
  | "saved"
  | "llm"
  | "shell"
  | "run"
  | "tool"
  | "input"
  | "return"
  | "error";

/** Where a node comes from. */
export interface Origin {
  readonly by: OriginKind;
  /** The file that its paths resolve against and its messages name; that of the inserting operation for generated text. */
  readonly file?: string;
}

/** Whether a person wrote it, so that it may become system text (documents.md 7.4). */
export function isWritten(origin: Origin): boolean {
  return origin.by === "file" || origin.by === "import";
}

/**
 * Whether its own headings say what is system text: of imported files only in those whose operations would run too. Any other, such as the
 * result of an earlier run, may hold what a model or a tool wrote (documents.md 6.6, 7.4).
 */
export function isSource(origin: Origin): boolean {
  return origin.by === "file" || (origin.by === "import" && extname(origin.file ?? "") === ".md");
}

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
