import { headingLine } from "../parse/document/lines.ts";
import type { DocumentNode, HeadingNode } from "../parse/document/tree.ts";
import { idKey, slug } from "./block_index.ts";
import type { Piece } from "./live_node.ts";

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

const EMPTY_LINE = /[ \t]*\r?\n/y;

/** The text without empty lines at its start. A line of blanks counts as empty. */
function withoutEmptyLines(text: string): string {
  let start = 0;
  for (;;) {
    EMPTY_LINE.lastIndex = start;
    if (!EMPTY_LINE.test(text)) return text.slice(start);
    start = EMPTY_LINE.lastIndex;
  }
}

/** The text without white space at its end. */
export function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Without empty lines at its start and without white space at its end (documents.md 6.1). */
export function trimLines(text: string): string {
  return withoutEmptyLines(trimEnd(text));
}

/** The text without the empty lines at its end and without the line end before them. */
export function withoutEmptyEnd(text: string): string {
  let end = text.length;
  for (;;) {
    let start = end;
    while (start > 0 && isBlank(text.charCodeAt(start - 1))) start--;
    if (start > 0 && text.charCodeAt(start - 1) !== LF) return text.slice(0, end);
    if (start === 0) return "";
    end = text.charCodeAt(start - 2) === CR ? start - 2 : start - 1;
  }
}

/** Whether its last line is complete. */
export function endsLine(text: string): boolean {
  return text.charCodeAt(text.length - 1) === LF;
}

/** Whether its last line is complete and has only blanks. */
export function endsInEmptyLine(text: string): boolean {
  if (!endsLine(text)) return false;
  let at = text.length - 1;
  if (text.charCodeAt(at - 1) === CR) at--;
  while (at > 0 && isBlank(text.charCodeAt(at - 1))) at--;
  return at === 0 || text.charCodeAt(at - 1) === LF;
}

/** The text with every line end, but a lone CR, as given. */
export function withNewline(text: string, newline: "\n" | "\r\n"): string {
  return newline === "\n" ? text.replaceAll("\r\n", "\n") : text.replaceAll(/\r?\n/g, "\r\n");
}

const LF = 10;
const CR = 13;

const isBlank = (code: number): boolean => code === 32 || code === 9;
const isSpace = (code: number): boolean => isBlank(code) || code === LF || code === CR;

/** Nodes with their headings shifted so that the lowest level among them is this one (documents.md 7.8). */
export function alignHeadings(nodes: readonly DocumentNode[], level: number): readonly DocumentNode[] {
  const levels = nodes.flatMap((node) => node.kind === "heading" ? [node.level] : []);
  const shift = level - levels.reduce((least, each) => Math.min(least, each), Infinity);
  return nodes.map((node) => {
    if (node.kind !== "heading") return node;
    const shifted = node.level + shift;
    return { ...node, level: shifted, source: "#".repeat(shifted) + node.source.slice(node.level) };
  });
}
