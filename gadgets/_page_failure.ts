import { STATUS_REASONS } from "../lib/core/status_reasons.ts";
import type { HttpResponse } from "../lib/core/world.ts";
import { htmlText } from "../lib/parse/html_text.ts";
import { isHtml, pageText } from "./_page_text.ts";
import { cutEnd } from "./_words.ts";

const MAX_ERROR_TEXT = 500;

/** The error for a status of 400 or more: what was asked, the status, and what the server says of it. */
export function describeFailure(method: string, response: HttpResponse): string {
  const what = `${method} ${response.url} answered with status ${response.status}${
    reasonOf(response.status)
  }`;
  const text = errorText(response);
  return text === "" ? what : `${what}: ${cutEnd(text, MAX_ERROR_TEXT)}`;
}

/** What the server says of it, when that is text. */
function errorText(response: HttpResponse): string {
  try {
    const source = pageText(response);
    const text = isHtml(source) ? htmlText(source.text, { baseUrl: response.url }).text : source.text;
    return text.trim();
  } catch {
    return "";
  }
}

function reasonOf(status: number): string {
  const reason = STATUS_REASONS[status];
  return reason === undefined ? "" : ` (${reason})`;
}
