/// <reference lib="dom" />
// Requests of the page to its own server; the cookie says who asks.

import { isRecord } from "../core/json.ts";

/** What the server has answered: JSON, or why not, in words for a person. */
export type ServerAnswer =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | {
    readonly ok: false;
    readonly status: number;
    /** A short stable name. */
    readonly code: string;
    readonly problem: string;
    readonly value: Readonly<Record<string, unknown>>;
  };

/** The code of no answer at all. */
export const UNREACHABLE = "unreachable";

/** Asks for JSON. Never fails: a server that cannot be reached is a problem with the status 0. */
export function getJson(path: string): Promise<ServerAnswer> {
  return answerOf(fetch(path, { headers: { accept: "application/json" } }));
}

/** Sends JSON. */
export function postJson(path: string, body: unknown): Promise<ServerAnswer> {
  return answerOf(fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body),
  }));
}

/** What comes of a request. */
export async function answerOf(asked: Promise<Response>): Promise<ServerAnswer> {
  try {
    const response = await asked;
    const text = await response.text();
    const json: unknown = text === "" ? {} : JSON.parse(text);
    const value = isRecord(json) ? json : {};
    if (response.ok) return { ok: true, value };
    if (response.status === 401) dispatchEvent(new Event("server-out"));
    const { code = "" } = value;
    return {
      ok: false,
      status: response.status,
      code: String(code),
      problem: problemWords(value, response),
      value,
    };
  } catch {
    return {
      ok: false,
      status: 0,
      code: UNREACHABLE,
      problem: "The server does not answer: is orrery serve still running?",
      value: {},
    };
  }
}

function problemWords({ detail, title }: Readonly<Record<string, unknown>>, { status }: Response): string {
  if (typeof detail === "string") return detail;
  return typeof title === "string" ? title : `The server answers with ${status}`;
}
