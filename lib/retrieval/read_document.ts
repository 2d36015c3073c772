import { extname } from "node:path";
import { FileError, fileText } from "../core/core.ts";
import { DocumentLines, headingLine } from "../parse/document/lines.ts";
import { MarkdownBlocks } from "../parse/document/markdown_blocks.ts";
import type { DocumentType } from "../parse/files/collection.ts";
import { htmlText } from "../parse/html_text.ts";
import {
  type DocumentText,
  pagesBetween,
  plainText,
  type TextHeading,
  type TextPage,
  type TextSpan,
} from "./plain_text.ts";

/** What is read, and how. */
export interface ReadDocumentOptions {
  /** As messages name it; its ending says what it is, but for PDF, which is known by its first bytes too. */
  readonly file: string;
  readonly type: DocumentType;
  readonly signal?: AbortSignal;
}

/**
 * The text of a document: of Markdown, HTML, PDF, and anything else that is UTF-8 text.
 *
 * @throws {FileError} `not-text` for what is neither, and `other` for a PDF that is broken, encrypted or has no text: with what to do
 */
export async function readDocument(
  bytes: Uint8Array,
  { file, type, signal }: ReadDocumentOptions,
): Promise<DocumentText> {
  const ending = extname(file).toLowerCase();
  if (ending === ".pdf" || isPdf(bytes)) {
    const { pdfText }: typeof import("./pdf_text.ts") = await import("./pdf_text.ts" as string);
    return await pdfText(bytes, { file, type, signal });
  }
  const text = textOf(bytes, file);
  switch (ending) {
    case ".md":
    case ".markdown":
      return markdownText(text, type);
    case ".html":
    case ".htm":
    case ".xhtml":
      return markdownText(htmlText(text, { baseUrl: "" }).text, type);
    default:
      return plainText(text, type);
  }
}

function isPdf(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes.subarray(0, 5)) === "%PDF-";
}

function textOf(bytes: Uint8Array, file: string): string {
  try {
    const text = fileText(file, bytes);
    if (!text.includes("\0")) return text;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new FileError(`${error.message}. ${EXPECTED}`, { path: file, code: "not-text", cause: error });
  }
  const message = `Cannot read ${
    JSON.stringify(file)
  }: it holds NUL characters, so it is no text. ${EXPECTED}`;
  throw new FileError(message, { path: file, code: "not-text" });
}

const EXPECTED = "Expected text in UTF-8, Markdown, HTML or PDF: save it as one of them";

/**
 * Markdown, without its front matter. Of slides each is a page: what stands between lines that are `---`, or, without any, below each
 * heading of the first two levels.
 */
export function markdownText(text: string, type: DocumentType): DocumentText {
  const lines = new DocumentLines(text);
  const start = frontMatterEnd(lines);
  const { headings, rules } = marksIn(lines, start);
  const pages = type === "slides"
    ? slidesOf(text, { start, headings, rules })
    : [{ number: 1, start, end: text.length }];
  return { text, pages, headings };
}

/** Where the text begins. What is not closed is no front matter. */
function frontMatterEnd(lines: DocumentLines): number {
  if (lines.count === 0 || !/^---[ \t]*$/.test(lines.content(0))) return 0;
  for (let line = 1; line < lines.count; line++) {
    if (/^---[ \t]*$/.test(lines.content(line))) return lines.offset(line + 1);
  }
  return 0;
}

interface Marks {
  readonly headings: readonly TextHeading[];
  readonly rules: readonly TextSpan[];
}

function marksIn(lines: DocumentLines, start: number): Marks {
  const headings: TextHeading[] = [];
  const rules: TextSpan[] = [];
  const blocks = new MarkdownBlocks(lines);
  for (let line = lines.lineAt(start, 0); line < lines.count; line++) {
    const content = blocks.read(line) ? "" : lines.content(line);
    const heading = headingLine(content);
    const span = { start: lines.offset(line), end: lines.offset(line) + content.length };
    if (heading !== undefined) {
      headings.push({ ...span, level: heading.level, title: titleOf(heading.title) });
    }
    if (/^---+[ \t]*$/.test(content) && (line === 0 || lines.isEmpty(line - 1))) rules.push(span);
  }
  return { headings, rules };
}

/** Without the `#`s that may close it, and without an explicit id. */
function titleOf(title: string): string {
  return title.replace(/ \{id=[^{}]*\}$/, "").replace(/(?:^| )#+$/, "").trim();
}

function slidesOf(
  text: string,
  { start, headings, rules }: Marks & { readonly start: number },
): readonly TextPage[] {
  if (rules.length > 0) {
    return pagesBetween(text, {
      start,
      borders: rules.map((rule) => ({ index: rule.start, 0: text.slice(rule.start, rule.end) })),
    });
  }
  const begins = headings.filter(({ level }) => level <= 2).map((heading) => ({
    index: heading.start,
    0: "",
  }));
  const isFirst = text.slice(start, begins[0]?.index ?? 0).trim() === "";
  return pagesBetween(text, { start, borders: isFirst ? begins.slice(1) : begins });
}
