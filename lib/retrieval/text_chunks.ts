import type { DocumentType } from "../parse/collection_file.ts";
import { type DocumentText, type TextHeading, type TextSpan, trimmedSpan } from "./document_text.ts";
import { type PieceLimits, sentences, textPieces } from "./text_pieces.ts";

/** A part of a document that is found as one. */
export interface TextChunk extends TextSpan {
  /** The page that it begins on, from 1; what is repeated of the one before does not count. */
  readonly page: number;
  /** The titles above it that are not in it, the highest first. */
  readonly context: readonly string[];
}

/** A chunk is about `target` long, so that a model gets few words too many; a single sentence may make it longer. */
const LIMITS: PieceLimits = { target: 1000, most: 1500 };
/** A section or an end shorter than this goes with its neighbour. */
const SMALL = 250;
/** What a chunk of a book or paper repeats of the one before, so that no thought is cut in two. */
const OVERLAP = 200;
const LONGEST_SLIDE = 3000;

/** No chunk is longer, in UTF-16 units. */
export const LONGEST_CHUNK = Math.max(LIMITS.most + OVERLAP + SMALL, LONGEST_SLIDE);

/**
 * Cuts a document by its type (conversations.md 2.8). `text`: whole paragraphs of one section, or whole sentences of a long one; `book`,
 * `paper`: the same inside each page, with an overlap; `slides`: one a page. The same text gives the same chunks; all but blanks is in
 * one of them.
 */
export function textChunks(document: DocumentText, type: DocumentType): readonly TextChunk[] {
  const spans = type === "slides"
    ? slides(document)
    : type === "text"
    ? runs(document).flatMap((run) => sectionChunks(document, run))
    : overlapping(document, document.pages.flatMap((page) => sectionChunks(document, page)));
  return placed(document, spans);
}

/** A chunk, and where its own text begins. */
interface ChunkSpan extends TextSpan {
  readonly own: number;
}

function ownSpan({ start, end }: TextSpan): ChunkSpan {
  return { start, end, own: start };
}

function slides({ text, pages }: DocumentText): readonly ChunkSpan[] {
  return pages.flatMap((page) => {
    const slide = trimmedSpan(text, page);
    if (slide === undefined) return [];
    const isFine = slide.end - slide.start <= LONGEST_SLIDE;
    return (isFine ? [slide] : joined(textPieces(text, slide, LIMITS))).map(ownSpan);
  });
}

/** Pages that follow each other, as one. */
function runs({ pages }: DocumentText): readonly TextSpan[] {
  const found: { start: number; end: number; last: number }[] = [];
  for (const { start, end, number } of pages) {
    const run = found.at(-1);
    if (run === undefined || run.last + 1 !== number) found.push({ start, end, last: number });
    else [run.end, run.last] = [end, number];
  }
  return found;
}

function sectionChunks(document: DocumentText, span: TextSpan): readonly ChunkSpan[] {
  return sectionsIn(document, span).flatMap((section) =>
    joined(textPieces(document.text, section, LIMITS)).map(ownSpan)
  );
}

/** From heading to heading; one without anything below it, and a small one, goes with the next. */
function sectionsIn({ text, headings }: DocumentText, { start, end }: TextSpan): readonly TextSpan[] {
  const inside = headings.slice(firstBehind(headings, start), firstBehind(headings, end));
  const starts = [start, ...inside.map((heading) => heading.start), end];
  const sections: { start: number; end: number; isOpen: boolean }[] = [];
  for (const [index, from] of starts.slice(0, -1).entries()) {
    const to = starts[index + 1] ?? end;
    const body = inside[index - 1]?.end ?? from;
    const isEmpty = trimmedSpan(text, { start: body, end: to }) === undefined;
    const before = sections.at(-1);
    if (before?.isOpen && (to - before.start <= LIMITS.target || isEmpty || isHead(text, before, from))) {
      [before.end, before.isOpen] = [to, isEmpty || to - before.start < SMALL];
    } else sections.push({ start: from, end: to, isOpen: isEmpty || to - from < SMALL });
  }
  return sections;
}

/** Nothing but a short heading, which belongs to what follows it however long that is. */
function isHead(text: string, { start }: TextSpan, end: number): boolean {
  return !text.slice(start, Math.min(end, start + SMALL)).trim().includes("\n");
}

/** The index of the first heading that begins at an offset or behind it. */
function firstBehind(headings: readonly TextHeading[], offset: number): number {
  let [low, high] = [0, headings.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((headings[middle]?.start ?? Infinity) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Pieces in a row as chunks of about the wanted length; a small rest goes with the one before. */
function joined(pieces: readonly TextSpan[]): readonly TextSpan[] {
  const chunks: { start: number; end: number }[] = [];
  for (const { start, end } of pieces) {
    const last = chunks.at(-1);
    const most = last !== undefined && last.end - last.start < SMALL ? LIMITS.most : LIMITS.target;
    if (last !== undefined && end - last.start <= most) last.end = end;
    else chunks.push({ start, end });
  }
  const [before, rest] = chunks.slice(-2);
  if (before === undefined || rest === undefined || rest.end - rest.start >= SMALL) return chunks;
  return rest.end - before.start > LIMITS.most
    ? chunks
    : [...chunks.slice(0, -2), { start: before.start, end: rest.end }];
}

/** Each chunk begins with the end of the one before, unless a heading or a page that is left out stands between them. */
function overlapping(
  { text, pages, headings }: DocumentText,
  chunks: readonly ChunkSpan[],
): readonly ChunkSpan[] {
  let page = 0;
  return chunks.map((chunk, index) => {
    const before = chunks[index - 1];
    const earlier = page;
    while ((pages[page]?.end ?? Infinity) < chunk.end) page++;
    const isNext = (pages[page]?.number ?? 0) - (pages[earlier]?.number ?? 0) <= 1;
    const heading = headings[firstBehind(headings, before?.end ?? 0)];
    if (before === undefined || !isNext || (heading?.start ?? Infinity) <= chunk.own) return chunk;
    return { ...chunk, start: overlapStart(text, before) ?? chunk.own };
  });
}

/** Where the last sentences of a chunk begin, or its last words; undefined when it is one long word. */
function overlapStart(text: string, { own, end }: ChunkSpan): number | undefined {
  const tail = { start: Math.max(own, end - OVERLAP), end };
  const [first, second] = sentences(text, tail);
  if (tail.start === own) return first?.start;
  const blank = text.slice(tail.start, end).search(/\s/);
  const start = second?.start ?? (blank < 0 ? end : tail.start + blank);
  return trimmedSpan(text, { start, end })?.start;
}

function placed({ pages, headings }: DocumentText, chunks: readonly ChunkSpan[]): readonly TextChunk[] {
  const above: TextHeading[] = [];
  let [page, heading] = [0, 0];
  return chunks.map(({ start, end, own }) => {
    while ((pages[page + 1]?.start ?? Infinity) <= own) page++;
    for (let next = headings[heading]; next !== undefined && next.start < own; next = headings[++heading]) {
      while ((above.at(-1)?.level ?? 0) >= next.level) above.pop();
      above.push(next);
    }
    const first = headings[heading];
    const below = first?.start === own ? first.level : Infinity; // it ends the sections of its own level
    const context = above.filter((each) => each.level < below && each.start < start);
    return { start, end, page: pages[page]?.number ?? 1, context: context.map(({ title }) => title) };
  });
}
