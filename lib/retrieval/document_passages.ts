import type { DocumentText, TextHeading, TextPage } from "./document_text.ts";
import type { IndexedPassage } from "./indexed_document.ts";
import { readDocument } from "./read_document.ts";
import type { SourceDocument } from "./source_document.ts";
import { type TextChunk, textChunks } from "./text_chunks.ts";

/**
 * Reads a document and cuts it into passages.
 *
 * @throws {SourceError} at its place in the collection file, for a page in `exclude` that it does not have
 * @throws {FileError} for a file that cannot be read as what it is
 */
export async function documentPassages(
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
