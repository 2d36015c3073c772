import type { TextPage } from "./document_text.ts";

/** The pages of a text that is parted by form feeds, as printers and `pdftotext` do it. */
export function formFeedPages(text: string): readonly TextPage[] {
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
