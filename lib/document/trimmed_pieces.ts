import type { DocumentNode } from "../parse/document_node.ts";
import type { Piece } from "./live_node.ts";
import { trimEnd, withNewline, withoutEmptyLines } from "./text_ends.ts";

/** Pieces as they are inserted: with the document's line end, and the whole trimmed at both ends (documents.md 6.1, 6.8). */
export function trimmedPieces(pieces: readonly Piece[], newline: "\n" | "\r\n"): Piece[] {
  const kept = withoutEmptyEnds(pieces);
  const changed = new Map<DocumentNode, DocumentNode>();
  return kept.map(({ content, followed }, at) => {
    let source = withNewline(content.source, newline);
    if (at === 0) source = withoutEmptyLines(source);
    if (at === kept.length - 1) source = trimEnd(source);
    const own = { ...content, source };
    const piece = { content: own, followed: followed && changed.get(followed) };
    changed.set(content, own);
    return piece;
  });
}

/** Front matter is never inserted (documents.md 3). */
function withoutEmptyEnds(pieces: readonly Piece[]): readonly Piece[] {
  const all = pieces.filter(({ content }) => content.kind !== "front-matter");
  let start = 0;
  let end = all.length;
  while (start < end && isEmpty(all[start])) start++;
  while (end > start && isEmpty(all[end - 1])) end--;
  return all.slice(start, end);
}

function isEmpty(piece: Piece | undefined): boolean {
  return piece !== undefined && trimEnd(piece.content.source) === "";
}
