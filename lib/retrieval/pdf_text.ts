// pdf.js is long: this module is loaded when a PDF is read.
import { getDocumentProxy } from "unpdf";
import { FileError, messageOf, timerTurn } from "../core/core.ts";
import { type DocumentText, numberedHeadings, type TextHeading, type TextPage } from "./plain_text.ts";
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

// pdf.js looks up the first pages of a file ahead (`pageDictCache` of its catalog) and forgets those promises. Where a page is broken, one
// of them is rejected with nobody listening, which would end the process; the page itself is told about when it is read.

/** What its parser throws; the names are its own. */
const OF_PARSER = /^(?:FormatError|ParserEOFException|MissingDataException|XRef(?:Entry|Parse)Exception)$/;

/** Of the event loop, until all of them have been told of: one in Deno 2.9, two in 2.6. */
const TURNS = 3;

/** Lets what pdf.js forgets be, until it is disposed of: to be used around all work with one file. */
function forgottenPromises(): AsyncDisposable {
  const onRejection = (event: PromiseRejectionEvent): void => {
    const { reason } = event;
    if (reason instanceof Error && OF_PARSER.test(reason.name)) event.preventDefault();
  };
  globalThis.addEventListener("unhandledrejection", onRejection);
  return {
    async [Symbol.asyncDispose]() {
      for (let turn = 0; turn < TURNS; turn++) await timerTurn();
      globalThis.removeEventListener("unhandledrejection", onRejection);
    },
  };
}

/** A piece of text as it stands on a page of a PDF. */
interface PdfItem {
  readonly text: string;
  readonly endsLine: boolean;
  /** Of its letters. */
  readonly height: number;
  /** From below. */
  readonly y: number;
}

/** A line of a page. */
interface PdfLine {
  readonly text: string;
  /** Of its largest letters. */
  readonly height: number;
  /** More room is above it than between two lines of a paragraph. */
  readonly gap: boolean;
}

/** Room that parts paragraphs, by the height of letters. */
const GAP = 1.75;

/** The lines of a page. A word that was cut at the end of a line is put together again. */
function pdfLines(items: readonly PdfItem[]): readonly PdfLine[] {
  const lines: { text: string; height: number; y: number; gap: boolean }[] = [];
  let isNew = true;
  for (const { text, height, y, endsLine } of items) {
    const line = lines.at(-1);
    if (text !== "" && (isNew || line === undefined)) {
      lines.push({ text, height, y, gap: line !== undefined && isGap(line, { height, y }) });
    } else if (text !== "" && line !== undefined) {
      [line.text, line.height] = [line.text + text, Math.max(line.height, height)];
    }
    isNew = endsLine || isNew && text === "";
  }
  return withWholeWords(lines.filter(({ text }) => text.trim() !== ""));
}

interface Place {
  readonly height: number;
  readonly y: number;
}

/** Text that goes on further up is in another column. */
function isGap(above: Place, below: Place): boolean {
  const room = above.y - below.y;
  return room < 0 || room > GAP * Math.max(above.height, below.height, 1);
}

function withWholeWords(lines: readonly PdfLine[]): readonly PdfLine[] {
  const whole: PdfLine[] = [];
  for (const line of lines) {
    const before = whole.at(-1);
    const isCut = before !== undefined && !line.gap && /\p{Ll}-\s*$/u.test(before.text.slice(-4)) &&
      /^\p{Ll}/u.test(line.text);
    if (!isCut) whole.push(line);
    else {
      const [word = "", rest = ""] = firstWord(line.text);
      whole[whole.length - 1] = { ...before, text: before.text.trimEnd().slice(0, -1) + word };
      if (rest !== "") whole.push({ ...line, text: rest });
    }
  }
  return whole;
}

function firstWord(text: string): readonly [string, string] {
  const end = text.search(/\s/);
  return end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end).trimStart()];
}
