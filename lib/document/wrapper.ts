import type { HeadingNode } from "../parse/document_node.ts";
import { headingLine } from "../parse/heading_line.ts";
import type { Piece } from "./live_node.ts";

/** Pieces below a header line: it takes text that stands first into its block (documents.md 6.2). */
export function underHeader(
  header: string,
  { pieces, newline }: { readonly pieces: readonly Piece[]; readonly newline: "\n" | "\r\n" },
): Piece[] {
  const [first] = pieces;
  const text = first?.content.kind === "text" ? newline + first.content.source : "";
  const content = headingNode(header, { text, line: first?.content.line ?? 1 });
  if (first === undefined || text === "") return [{ content }, ...pieces];
  const rest = pieces.slice(1).map((piece) =>
    piece.followed === first.content ? { content: piece.content, followed: content } : piece
  );
  return [{ content }, ...rest];
}

/** A heading block of a line and the text behind it, which begins with a line end or is empty. */
export function headingNode(
  header: string,
  { text, line }: { readonly text: string; readonly line: number },
): HeadingNode {
  const heading = headingLine(header) ?? { level: 1, title: header };
  return { kind: "heading", source: header + text, line, ...heading };
}
