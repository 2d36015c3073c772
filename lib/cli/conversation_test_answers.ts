// What servers answer in a test: `METHOD URL`, and an answer, or several in order.

import type { Json } from "../core/json.ts";
import type { Span } from "../core/source_error.ts";
import type { TestField } from "./test_field.ts";
import type { TextWanted } from "./test_field.ts";

/** The answers to one request. */
export interface RequestAnswers {
  /** `GET https://shop.example/orders` */
  readonly request: string;
  readonly span: Span;
  readonly answers: readonly ServerAnswer[];
  /** One answer counts for every such request, a list gives each once. */
  readonly isList: boolean;
  /** It is that of several conversations: none has to ask for it. */
  readonly isShared: boolean;
}

/** One answer of a server. */
export interface ServerAnswer {
  readonly span: Span;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** There is no answer: why the connection failed. */
  readonly error?: string;
  /** The body that is to be sent. */
  readonly sent?: TextWanted;
}

const ANSWER_KEYS = ["status", "type", "headers", "body", "events", "error", "sent"];
const CONTENT = ["body", "events", "error"];
const METHODS = ["GET", "POST", "PUT", "DELETE"];

/** Reads `http`. */
export function readAnswers(field: TestField): readonly RequestAnswers[] {
  return field.entries().map(([key, answers]) => ({
    request: requestOf(key, answers),
    span: answers.keySpan,
    answers: answers.oneOrMore().map(answerOf),
    isList: Array.isArray(answers.value),
    isShared: false,
  }));
}

function requestOf(key: string, field: TestField): string {
  const [method = "", url = "", ...rest] = key.trim().split(/\s+/);
  if (METHODS.includes(method) && rest.length === 0 && URL.canParse(url)) return requestKey(method, url);
  field.problem(
    `Expected a method (${METHODS.join(", ")}) and a URL, such as GET https://shop.example/orders`,
    "key",
  );
  return key;
}

/** A request as answers are found by it; a URL is one however it is written. */
export function requestKey(method: string, url: string): string {
  return `${method.toUpperCase()} ${new URL(url).href}`;
}

function answerOf(field: TestField): ServerAnswer {
  const answer = field.withKeys(ANSWER_KEYS);
  const given = CONTENT.filter((key) => answer.at(key).isThere);
  if (given.length > 1) answer.problem(`Expected one of ${CONTENT.join(", ")}, found ${given.join(" and ")}`);
  const sent = answer.at("sent").wanted();
  const error = answer.at("error").text();
  const { body, type } = contentOf(answer);
  return {
    span: answer.span,
    status: answer.at("status").wholeNumber({ from: 200, to: 599 }) ?? 200,
    headers: { "content-type": answer.at("type").text() ?? type, ...answer.at("headers").texts() },
    body,
    error,
    sent,
  };
}

function contentOf(answer: TestField): { readonly body: string; readonly type: string } {
  const events = answer.at("events");
  if (events.isThere) {
    return { type: "text/event-stream", body: events.items().map(({ value }) => eventOf(value)).join("") };
  }
  const { value } = answer.at("body");
  if (value === undefined) return { type: "text/plain", body: "" };
  return typeof value === "string"
    ? { type: "text/plain", body: value }
    : { type: "application/json", body: JSON.stringify(value) };
}

/** A server-sent event: its data, as text or as JSON. */
function eventOf(value: Json | undefined): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.split("\n").map((line) => `data: ${line}\n`).join("") + "\n";
}
