// What goes wrong, as RFC 9457 has it. Only what was thrown to be told is told: of everything else a reference goes out, and the error
// itself to stderr.

import type { Json, JsonObject } from "../core/json.ts";

/** A problem, ready to be told. */
export interface ProblemDetails {
  readonly status: number;
  /** A short stable name for programs: `not-found`, `limit`, … */
  readonly code: string;
  /** What was found, what was expected, what to do. */
  readonly detail: string;
  /** Further members: `file`, `line`, `column`, `problems`, `steps`, … */
  readonly more?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Thrown by whoever answers a request. */
export class HttpProblem extends Error {
  override readonly name = "HttpProblem";
  readonly details: ProblemDetails;

  constructor(
    status: number,
    code: string,
    options: {
      readonly detail: string;
      readonly more?: JsonObject;
      readonly headers?: Readonly<Record<string, string>>;
    },
  ) {
    super(options.detail);
    this.details = { status, code, ...options };
  }
}

/** The JSON of a problem. */
export function problemJson(
  { status, code, detail, more }: ProblemDetails,
): { readonly [key: string]: Json } {
  return { ...more, type: "about:blank", title: titleOf(status), status, detail, code };
}

/** The words that a status is known by. */
export function titleOf(status: number): string {
  return TITLES.get(status) ?? (status < 500 ? "Bad Request" : "Internal Server Error");
}

const TITLES: ReadonlyMap<number, string> = new Map([
  [400, "Bad Request"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "Not Found"],
  [405, "Method Not Allowed"],
  [406, "Not Acceptable"],
  [408, "Request Timeout"],
  [409, "Conflict"],
  [410, "Gone"],
  [413, "Content Too Large"],
  [415, "Unsupported Media Type"],
  [421, "Misdirected Request"],
  [422, "Unprocessable Content"],
  [429, "Too Many Requests"],
  [500, "Internal Server Error"],
  [502, "Bad Gateway"],
  [503, "Service Unavailable"],
  [504, "Gateway Timeout"],
]);
