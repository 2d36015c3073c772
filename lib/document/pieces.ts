import type { DocumentNode, HeadingNode } from "../parse/document/tree.ts";
import { headingLine } from "../parse/document/lines.ts";
import { idKey } from "./block_index.ts";
import type { Piece } from "./live_node.ts";
import { slug } from "./slug.ts";
import { trimEnd, withNewline, withoutEmptyLines } from "./text_ends.ts";

/**
 * Pieces as they are inserted: with the document's line end, and the whole trimmed at both ends (documents.md 6.1, 6.8). Front matter is never
 * inserted (documents.md 3).
 */
export function trimmedPieces(pieces: readonly Piece[], newline: "\n" | "\r\n"): Piece[] {
  const all = pieces.filter(({ content }) => content.kind !== "front-matter");
  const isFull = ({ content }: Piece) => trimEnd(content.source) !== "";
  const start = all.findIndex(isFull);
  const kept = start === -1 ? [] : all.slice(start, all.findLastIndex(isFull) + 1);
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

/**
 * A heading that takes over an id: ` {id=ID}` is added to its line, so that the file keeps the id (documents.md 6.5).
 * Unchanged where its title gives the id anyway, and where no heading line can say the id.
 */
export function headingWithId(heading: HeadingNode, id: string): HeadingNode {
  if (idKey(slug(heading.title)) === idKey(id)) return heading;
  const end = heading.source.search(/\r?\n/);
  const line = end < 0 ? heading.source : heading.source.slice(0, end);
  const newLine = `${trimEnd(line)} {id=${id}}`;
  const read = headingLine(newLine);
  if (read?.explicitId !== id) return heading;
  return { ...heading, ...read, source: newLine + (end < 0 ? "" : heading.source.slice(end)) };
}
