// Answers. The headers that all of them have are added behind every route (server.ts).

import { problemJson } from "./problem.ts";
import type { ProblemDetails } from "./problem.ts";

/** Headers of an answer; never made of what a request says, but for ids and percent-encoded paths. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** What may be said of an answer besides its body. */
export interface AnswerOptions {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: AnswerHeaders;
}

/** On every answer: nobody guesses its type, frames it, or learns where its reader came from. `no-referrer` would do the last, too, and
 * takes the Origin from the forms of our own pages. */
export const SAFE_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "x-frame-options": "DENY",
} as const satisfies AnswerHeaders;

/** On every page: it loads from here alone, and runs no script that stands in it. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; " +
  "frame-ancestors 'none'; require-trusted-types-for 'script'";

/** A value as JSON. */
export function json(value: unknown, options: AnswerOptions = {}): Response {
  return text(JSON.stringify(value) ?? "null", { ...options, type: "application/json" });
}

/** A text. @param options.type default `text/plain; charset=utf-8` */
export function text(body: string, options: AnswerOptions & { readonly type?: string } = {}): Response {
  const { status = 200, headers, type = "text/plain; charset=utf-8" } = options;
  return new Response(body, {
    status,
    headers: { "content-type": type, "cache-control": "no-store", ...headers },
  });
}

/** What JSX gives. */
export interface Page {
  toString(): string | Promise<string>;
}

/** A page. @param page what JSX gives, which may be a promise; without the doctype */
export async function html(
  page: Page | Promise<Page>,
  { headers, ...options }: AnswerOptions = {},
): Promise<Response> {
  const body = `<!DOCTYPE html>\n${await (await page).toString()}`;
  return text(body, {
    ...options,
    type: "text/html; charset=utf-8",
    headers: { "content-security-policy": PAGE_POLICY, ...headers },
  });
}

/** Nothing but a status. @param options.status default 204 */
export function empty({ status = 204, headers }: AnswerOptions = {}): Response {
  return new Response(null, { status, headers: { "cache-control": "no-store", ...headers } });
}

/** Sends the browser on with a GET. @param location a path of ours: never text of the request as it came */
export function seeOther(location: string, headers: AnswerHeaders = {}): Response {
  return empty({ status: 303, headers: { ...headers, location } });
}

/** A problem as `application/problem+json` (RFC 9457). */
export function problem(details: ProblemDetails): Response {
  return text(JSON.stringify(problemJson(details)), {
    status: details.status,
    type: "application/problem+json",
    headers: details.headers,
  });
}
