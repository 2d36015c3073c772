import {
  type Files,
  messageOf,
  PermissionRefused,
  ProblemsError,
  sha256,
  SourceError,
} from "../core/core.ts";
import type { DocumentType } from "../parse/files/collection.ts";
import {
  type DocumentText,
  type TextHeading,
  type TextPage,
  type TextSpan,
  trimmedSpan,
} from "./plain_text.ts";
import {
  INDEX_VERSION,
  type IndexedDocument,
  type IndexedPassage,
  type NewDocument,
  type PassageIndex,
  type SourceDocument,
} from "./passage_index.ts";
import { readDocument } from "./read_document.ts";

/** What is put in, and how it is read. */
export interface IndexDocumentsOptions {
  readonly documents: readonly SourceDocument[];
  readonly files: Pick<Files, "readBytes">;
  readonly signal?: AbortSignal;
}

/**
 * Makes an index hold exactly these documents. Every file is read; only what is new or has changed is cut and put in.
 *
 * @throws {ProblemsError} with everything that cannot be read, at its place in the collection file; then the index is as it was
 * @throws {PermissionRefused} for a file that may not be read
 */
export async function indexDocuments(index: PassageIndex, options: IndexDocumentsOptions): Promise<void> {
  const missing = index.replace(await loaded(options, index.keys()));
  // Another process has taken some away meanwhile: then all are given.
  if (missing.length > 0) index.replace(await loaded(options, new Set()));
}

async function loaded(
  { documents, files, signal }: IndexDocumentsOptions,
  known: ReadonlySet<string>,
): Promise<readonly (IndexedDocument | NewDocument)[]> {
  const problems: SourceError[] = [];
  const all: (IndexedDocument | NewDocument)[] = [];
  for (const document of documents) {
    signal?.throwIfAborted();
    try {
      const bytes = await files.readBytes(document.path, { signal });
      const indexed = await indexedDocument(document, bytes);
      const isKnown = known.has(indexed.key);
      all.push(
        isKnown ? indexed : { ...indexed, passages: await documentPassages(bytes, { document, signal }) },
      );
    } catch (error) {
      if (signal?.aborted || error instanceof PermissionRefused) throw error;
      problems.push(error instanceof SourceError ? error : fileProblem(document, error));
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems);
  return all;
}

/** A document cannot be read; its file is named as it was written. */
export function fileProblem({ path, file, problem }: SourceDocument, error: unknown): SourceError {
  const message = messageOf(error).replace(JSON.stringify(path), () => JSON.stringify(file));
  return problem(message, { cause: error });
}

/** Its key is another one when anything that decides its passages has changed. */
async function indexedDocument(document: SourceDocument, bytes: Uint8Array): Promise<IndexedDocument> {
  const { id, name, link, role, path, type, exclude } = document;
  const content = await contentHash(bytes);
  const key = sha256(JSON.stringify([INDEX_VERSION, id, name, path, type, exclude, content]));
  return { key, role, id, name, link };
}

async function contentHash(bytes: Uint8Array): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes.slice())).toHex();
}

/**
 * Reads a document and cuts it into passages.
 *
 * @throws {SourceError} at its place in the collection file, for a page in `exclude` that it does not have
 * @throws {FileError} for a file that cannot be read as what it is
 */
async function documentPassages(
  bytes: Uint8Array,
  { document, signal }: { readonly document: SourceDocument; readonly signal?: AbortSignal },
): Promise<readonly IndexedPassage[]> {
  const { file, type, name } = document;
  const whole = await readDocument(bytes, { file, type, signal });
  const wanted = withoutPages(whole, document);
  return textChunks(wanted, type).map((chunk) => passageOf(wanted, chunk, name));
}

function withoutPages({ text, pages, headings }: DocumentText, document: SourceDocument): DocumentText {
  const { exclude, file, problem } = document;
  const gone = exclude.find((number) => number > pages.length);
  if (gone !== undefined) {
    const count = pages.length === 1 ? "1 page" : `${pages.length} pages`;
    throw problem(`there is no page ${gone}: ${JSON.stringify(file)} has ${count}`, { page: gone });
  }
  const kept = pages.filter(({ number }) => !exclude.includes(number));
  return { text, pages: kept, headings: exclude.length === 0 ? headings : headingsIn(kept, headings) };
}

/** Both are in order. */
function headingsIn(pages: readonly TextPage[], headings: readonly TextHeading[]): readonly TextHeading[] {
  let page = 0;
  return headings.filter(({ start }) => {
    while ((pages[page]?.end ?? Infinity) <= start) page++;
    return (pages[page]?.start ?? Infinity) <= start;
  });
}

function passageOf(
  { text, headings }: DocumentText,
  { start, end, page, context }: TextChunk,
  name: string,
): IndexedPassage {
  const own = headings.filter((heading) => heading.start >= start && heading.start < end);
  const above = context.length === 0 ? "" : `${context.join(" > ")}\n\n`;
  return {
    text: above + text.slice(start, end).replaceAll("\r\n", "\n").replaceAll("\f", "\n\n"),
    titles: [name, ...context, ...own.map(({ title }) => title)].join("\n"),
    page,
    start,
    end,
  };
}

/** A part of a document that is found as one. */
interface TextChunk extends TextSpan {
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

/**
 * Cuts a document by its type (conversations.md 2.8). `text`: whole paragraphs of one section, or whole sentences of a long one; `book`,
 * `paper`: the same inside each page, with an overlap; `slides`: one a page. The same text gives the same chunks; all but blanks is in
 * one of them.
 */
function textChunks(document: DocumentText, type: DocumentType): readonly TextChunk[] {
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

// Borders in a text, each kind finer than the one before. All of them are found in one pass.

/** How long pieces may be, in UTF-16 units. */
interface PieceLimits {
  /** Of a paragraph, and of what is cut out of a sentence. */
  readonly target: number;
  /** Of a sentence that stays whole. */
  readonly most: number;
}

/**
 * The paragraphs of a span; of one that is too long its sentences, and of a sentence that is too long its lines, words, or parts of
 * them. They are in order, hold all but blanks, and neither begin nor end with one.
 */
function textPieces(text: string, span: TextSpan, { target, most }: PieceLimits): readonly TextSpan[] {
  const levels: readonly Level[] = [
    { cut: paragraphs, most: target },
    { cut: sentences, most },
    { cut: lines, most: target },
    { cut: words, most: target },
  ];
  return [...piecesBelow(text, span, { levels, target })];
}

type Cut = (text: string, span: TextSpan) => Iterable<TextSpan>;

interface Level {
  readonly cut: Cut;
  readonly most: number;
}

function* piecesBelow(
  text: string,
  span: TextSpan,
  { levels: [level, ...finer], target }: { readonly levels: readonly Level[]; readonly target: number },
): Generator<TextSpan> {
  if (level === undefined) {
    yield* parts(text, span, target);
    return;
  }
  for (const part of level.cut(text, span)) {
    const piece = trimmedSpan(text, part);
    if (piece === undefined) continue;
    if (piece.end - piece.start <= level.most) yield piece;
    else yield* piecesBelow(text, piece, { levels: finer, target });
  }
}

function paragraphs(text: string, span: TextSpan): Iterable<TextSpan> {
  return between(text, span, { border: /\n[^\S\n]*\n|\f/g });
}

/** What ends with `.`, `!`, `?` or `…` before a blank, but for abbreviations and ordinal numbers. */
function sentences(text: string, span: TextSpan): Iterable<TextSpan> {
  return between(text, span, { border: /\s+|(?<=[。！？])/g, isBorder: endsSentence });
}

function lines(text: string, span: TextSpan): Iterable<TextSpan> {
  return between(text, span, { border: /\n/g });
}

function words(text: string, span: TextSpan): Iterable<TextSpan> {
  return between(text, span, { border: /\s+/g });
}

function* between(
  text: string,
  { start, end }: TextSpan,
  { border, isBorder = () => true }: {
    readonly border: RegExp;
    readonly isBorder?: (text: string, from: number, to: number) => boolean;
  },
): Generator<TextSpan> {
  const inside = text.slice(start, end);
  let from = start;
  for (const { index, 0: found } of inside.matchAll(border)) {
    const [at, behind] = [start + index, start + index + found.length];
    if (!isBorder(inside, index, index + found.length)) continue;
    yield { start: from, end: at };
    from = behind;
  }
  yield { start: from, end };
}

const ENDS = /[.!?…。！？]["'”’»)\]]{0,3}$/;
const LOWER = /^["'“„«(]{0,2}\p{Ll}/u;
/** One letter as in "z. B." and "J. Doe", a number as in "3. April", and words that are always cut short. */
const SHORT =
  /(?:^|[\s(])(?:\p{L}|\d{1,4}|Dr|Prof|Mr|Mrs|Ms|St|Nr|No|Fig|Abb|vs|etc|ca|bzw|usw|vgl|inkl|exkl|evtl|ggf|approx|e\.g|i\.e|z\.B|d\.h|u\.a)\.$/u;
const LOOK_BACK = 10;

function endsSentence(text: string, from: number, to: number): boolean {
  const before = text.slice(Math.max(0, from - LOOK_BACK), from);
  if (!ENDS.test(before)) return false;
  return !LOWER.test(text.slice(to, to + 4)) && !SHORT.test(before);
}

/** Never between the two halves of a character. */
function* parts(text: string, { start, end }: TextSpan, most: number): Generator<TextSpan> {
  for (let from = start; from < end;) {
    const to = Math.min(end, from + most);
    const isHalf = to < end && /[\uD800-\uDBFF]/.test(text.charAt(to - 1));
    yield { start: from, end: isHalf ? to - 1 : to };
    from = isHalf ? to - 1 : to;
  }
}
