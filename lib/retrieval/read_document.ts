import { fileText } from "../core/file_text.ts";
import { extname } from "node:path";
import { FileError } from "../core/world.ts";
import type { DocumentType } from "../parse/collection_file.ts";
import { htmlText } from "../parse/html_text.ts";
import type { DocumentText } from "./document_text.ts";
import { markdownText } from "./markdown_text.ts";
import { plainText } from "./plain_text.ts";

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
