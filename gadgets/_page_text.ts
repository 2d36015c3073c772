import type { HttpResponse } from "../lib/core/world.ts";
import { binaryKind, looksBinary } from "./_file_kind.ts";
import { formatBytes } from "./_words.ts";

/** The text of what a server sent. */
export interface PageSource {
  /** As the server names it, without its parameters; the empty text when it does not. */
  readonly contentType: string;
  readonly text: string;
}

const TEXT_TYPE =
  /^text\/|[/+](?:json|xml|yaml|toml|javascript|ecmascript|x-www-form-urlencoded|graphql|sql|x-sh|ndjson|x-ndjson)$/;
/** How far into a page its own word on its encoding is looked for (HTML standard, 13.2.3.2). */
const META_BYTES = 1024;

/**
 * Decodes a body by its byte order mark, its content type, or what the page says of itself; UTF-8 by default.
 *
 * @throws {Error} when it is not text; names what it is.
 */
export function pageText({ url, headers, body, truncated }: HttpResponse): PageSource {
  const header = headers["content-type"] ?? "";
  const contentType = (header.split(";")[0] ?? "").trim().toLowerCase();
  const charset = byteOrderCharset(body) ?? charsetOf(header) ?? metaCharset(body, contentType);
  const isText = TEXT_TYPE.test(contentType);
  const isWide = /^utf-16/i.test(charset ?? "");
  // An unknown type is text when it looks like it; a known one too is not when it holds NUL bytes.
  if ((!isWide && looksBinary(body)) || (!isText && charset === undefined && !isUtf8(body, truncated))) {
    const kind = contentType === "" ? binaryKind(body) : contentType;
    throw new Error(
      `Cannot read ${url}: the content is not text but ${kind} (${formatBytes(body.length)}${
        truncated ? " or more" : ""
      })`,
    );
  }
  // With `stream`, a character that was cut in two at the end is left out.
  return { contentType, text: decoderFor(charset ?? "utf-8", url).decode(body, { stream: truncated }) };
}

function decoderFor(charset: string, url: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch (cause) {
    throw new Error(`Cannot read ${url}: the character encoding ${JSON.stringify(charset)} is not known`, {
      cause,
    });
  }
}

function byteOrderCharset(body: Uint8Array): string | undefined {
  const [first, second, third] = body;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xff && second === 0xfe ? "utf-16le" : undefined;
}

function charsetOf(header: string): string | undefined {
  return /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(header)?.[1];
}

function metaCharset(body: Uint8Array, contentType: string): string | undefined {
  if (!/html|xml/.test(contentType)) return undefined;
  const start = new TextDecoder("windows-1252").decode(body.subarray(0, META_BYTES));
  const found = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w:.-]+)/i.exec(start)?.[1] ??
    /^<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]+)/i.exec(start)?.[1];
  // A page that can be read as ASCII up to here cannot be what it says (HTML standard, 13.2.3.2, step 13).
  return found !== undefined && /^utf-16/i.test(found) ? "utf-8" : found;
}

function isUtf8(body: Uint8Array, truncated: boolean): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(body, { stream: truncated });
    return true;
  } catch {
    return false;
  }
}

/** Whether it is an HTML page, by its type or, without one, by how it begins. */
export function isHtml({ contentType, text }: PageSource): boolean {
  if (/^(?:text\/html|application\/xhtml\+xml)$/.test(contentType)) return true;
  return contentType === "" && /^\s*<(?:!doctype html|html)\b/i.test(text.slice(0, 200));
}
