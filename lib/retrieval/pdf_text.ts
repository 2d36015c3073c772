// pdf.js is long: this module is loaded when a PDF is read.

import { getDocumentProxy } from "unpdf";
import { messageOf } from "../core/source_error.ts";
import { FileError } from "../core/world.ts";
import type { DocumentText, TextHeading, TextPage } from "./document_text.ts";
import { type PdfItem, pdfLines } from "./pdf_lines.ts";
import { forgottenPromises } from "./pdf_rejections.ts";
import { numberedHeadings } from "./plain_text.ts";
import type { ReadDocumentOptions } from "./read_document.ts";

/**
 * The text of a PDF, page by page; headings are what is larger than the rest, in books and papers also what is numbered as one.
 *
 * @throws {FileError} `other` for one that is broken, encrypted, or has pictures of text only; says what to do
 */
export async function pdfText(
  bytes: Uint8Array,
  { file, type, signal }: ReadDocumentOptions,
): Promise<DocumentText> {
  await using _forgotten = forgottenPromises();
  const pdf = await open(bytes, file);
  try {
    const read: PdfItem[][] = [];
    for (let number = 1; number <= pdf.numPages; number++) {
      signal?.throwIfAborted();
      read.push(await itemsOf(pdf, number));
    }
    const document = documentOf(read);
    if (document.text.trim() === "") {
      throw unreadable(file, "it has no text, only pictures: run text recognition (OCR) on it first");
    }
    const isLong = type === "book" || type === "paper";
    const hasLarge = document.headings.length > 0 || !isLong;
    return hasLarge ? document : { ...document, headings: numberedHeadings(document.text) };
  } catch (error) {
    throw signal?.aborted || error instanceof FileError ? error : brokenPdf(file, error);
  } finally {
    await pdf.loadingTask.destroy();
  }
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

/** Nothing of it is drawn, so that no font is needed; what its parser has to say besides goes to nobody. */
async function open(bytes: Uint8Array, file: string): Promise<Pdf> {
  try {
    return await getDocumentProxy(bytes, { verbosity: 0, disableFontFace: true, useSystemFonts: false });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "PasswordException") throw brokenPdf(file, error);
    throw unreadable(file, "it is protected with a password: save it without one");
  }
}

async function itemsOf(pdf: Pdf, number: number): Promise<PdfItem[]> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  page.cleanup();
  return items.flatMap((item) => {
    if (!("str" in item)) return [];
    const y: unknown = item.transform[5];
    return [{ text: item.str, endsLine: item.hasEOL, height: item.height, y: typeof y === "number" ? y : 0 }];
  });
}

function brokenPdf(file: string, error: unknown): FileError {
  const reason = messageOf(error).replace(/\.$/, "");
  return unreadable(
    file,
    `it is no PDF, or a broken one (${reason}): open it in a viewer and save it anew`,
    error,
  );
}

function unreadable(file: string, reason: string, cause?: unknown): FileError {
  return new FileError(`Cannot read ${JSON.stringify(file)}: ${reason}`, {
    path: file,
    code: "other",
    cause,
  });
}

const PAGE_BREAK = "\n\n";

function documentOf(read: readonly (readonly PdfItem[])[]): DocumentText {
  const pages: TextPage[] = [];
  const headings: TextHeading[] = [];
  const texts: string[] = [];
  const sizes = headingSizes(read.flat());
  let start = 0;
  for (const items of read) {
    const lines = pdfLines(items);
    const text = lines.map(({ text, gap }) => `${gap ? "\n" : ""}${text}`).join("\n");
    let at = start;
    for (const { text: line, gap, height } of lines) {
      const begin = at + (gap ? 1 : 0);
      at = begin + line.length + 1;
      const level = sizes.indexOf(rounded(height)) + 1;
      const title = line.trim();
      if (level === 0 || title.length > LONGEST_TITLE || !/\p{L}/u.test(title)) continue;
      headings.push({ start: begin, end: begin + line.length, level, title });
    }
    pages.push({ number: pages.length + 1, start, end: start + text.length });
    texts.push(text);
    start += text.length + PAGE_BREAK.length;
  }
  return { text: texts.join(PAGE_BREAK), pages, headings };
}

const LONGEST_TITLE = 120;
/** So much larger than what most is written in. */
const LARGER = 1.15;
const MOST_SIZES = 4;

/** The sizes of headings, the largest first: few of the text is in them. */
function headingSizes(items: readonly PdfItem[]): readonly number[] {
  const counts = new Map<number, number>();
  for (const { text, height } of items) {
    if (text.trim() !== "") counts.set(rounded(height), (counts.get(rounded(height)) ?? 0) + text.length);
  }
  const [usual = 0] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
  const all = items.reduce((sum, { text }) => sum + text.length, 0);
  return [...counts].filter(([size, count]) => size > usual * LARGER && count < all / 5).map(([size]) => size)
    .sort((a, b) => b - a).slice(0, MOST_SIZES);
}

function rounded(height: number): number {
  return Math.round(height * 2) / 2;
}
