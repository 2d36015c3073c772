import type { DocumentType } from "../parse/files/collection.ts";

/** Text without markup: pages end with form feeds, and the headings of books and papers are known by their numbers or words. */
export function plainText(text: string, type: DocumentType): DocumentText {
  const hasHeadings = type === "book" || type === "paper";
  return { text, pages: formFeedPages(text), headings: hasHeadings ? numberedHeadings(text) : [] };
}

const NUMBERED = /^(\d{1,2}(?:\.\d{1,2}){0,4})\.? +\p{Lu}[^\n]{0,90}$/u;
const NAMED =
  /^(?:chapter|part|section|appendix|kapitel|teil|abschnitt|anhang) +(?:\d{1,3}|[A-Z]|[IVXLC]{1,6})\b[^\n]{0,90}$/i;
const WORDS =
  /^(?:abstract|introduction|conclusions?|references|bibliography|acknowledge?ments|zusammenfassung|einleitung|fazit|literatur(?:verzeichnis)?)$/i;

/** Short lines below a blank one, or the first of a page, that begin as headings do and end as none does. */
export function numberedHeadings(text: string): readonly TextHeading[] {
  const headings: TextHeading[] = [];
  let start = 0;
  let isAlone = true;
  for (const line of text.split(/[\n\f]/)) {
    const title = line.trim();
    const level: number | undefined = isAlone && title.length <= LONGEST && !/[.:;,]$/.test(title)
      ? levelOf(title)
      : undefined;
    const end = start + line.length;
    if (level !== undefined) headings.push({ start, end, level, title });
    isAlone = title === "" || level !== undefined || text[end] === "\f";
    start = end + 1;
  }
  return headings;
}

const LONGEST = 120;

function levelOf(title: string): number | undefined {
  const number = NUMBERED.exec(title)?.[1];
  if (number !== undefined) return number.split(".").length;
  return NAMED.test(title) || WORDS.test(title) ? 1 : undefined;
}

/** The pages of a text that is parted by form feeds, as printers and `pdftotext` do it. */
function formFeedPages(text: string): readonly TextPage[] {
  return pagesBetween(text, { start: 0, borders: text.matchAll(/\f/g) });
}

/** Pages, numbered from 1, between what parts them. */
export function pagesBetween(
  text: string,
  { start, borders }: {
    readonly start: number;
    readonly borders: Iterable<{ readonly index: number; readonly 0: string }>;
  },
): readonly TextPage[] {
  const pages: TextPage[] = [];
  let from = start;
  for (const { index, 0: found } of borders) {
    pages.push({ number: pages.length + 1, start: from, end: index });
    from = index + found.length;
  }
  return [...pages, { number: pages.length + 1, start: from, end: text.length }];
}

/** A part of a text: offsets in UTF-16 units, from 0. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** A page, or what a file has in its place: a slide, or all of it. */
export interface TextPage extends TextSpan {
  /** From 1. */
  readonly number: number;
}

/** A heading, where it stands. */
export interface TextHeading extends TextSpan {
  /** From 1, the highest. */
  readonly level: number;
  readonly title: string;
}

/** The text of a document. */
export interface DocumentText {
  readonly text: string;
  /** In order; what lies between them is not searched. */
  readonly pages: readonly TextPage[];
  /** In order, and inside pages. */
  readonly headings: readonly TextHeading[];
}

/** A span without the blanks at its ends; undefined when nothing else is in it. */
export function trimmedSpan(text: string, { start, end }: TextSpan): TextSpan | undefined {
  let [from, to] = [start, end];
  while (from < to && isBlank(text, from)) from++;
  while (to > from && isBlank(text, to - 1)) to--;
  return from < to ? { start: from, end: to } : undefined;
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code <= 32 || code > 127 && /\s/.test(text.charAt(at));
}
