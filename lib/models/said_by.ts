import { isRecord, type Json, type ModelErrorCode } from "../core/core.ts";

const MOST = 300;

/** Takes keys out of a text: before it is cut, since nobody knows half a key again. */
interface Masking {
  mask(text: string): string;
}

/** What a provider says in the body of an answer that is no stream: the message of its JSON, the title of its page, or its text. */
export function saidBy(body: string, masking: Masking): string {
  const text = body.trim();
  if (text === "") return "nothing";
  if (text.startsWith("<")) return `a page of HTML${titleOf(text, masking)}`;
  const json = maybeJson(text);
  return shortened(json === undefined ? text : maybeMessage(json) ?? text, masking);
}

/** The message of an error as providers write it: `{error: {message}}`, `{error}`, `{message}`, `{detail}`, or such things in a list. */
function maybeMessage(json: Json | undefined): string | undefined {
  if (typeof json === "string") return json;
  if (Array.isArray(json)) return maybeMessage(json[0]);
  if (!isRecord(json)) return undefined;
  return maybeMessage(json.error) ?? maybeMessage(json.message) ?? maybeMessage(json.detail) ??
    maybeMessage(json.response);
}

/** The text on one line, its end cut off when it is long. */
export function shortened(text: string, masking?: Masking): string {
  const line = (masking?.mask(text) ?? text).replaceAll(/\s+/g, " ").trim();
  return line.length > MOST ? `${line.slice(0, MOST)}…` : line;
}

function titleOf(page: string, masking: Masking): string {
  const title = /<title[^>]*>([^<]*)</i.exec(page)?.[1]?.trim();
  return title ? ` titled ${JSON.stringify(shortened(title, masking))}` : "";
}

function maybeJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** How providers say that the messages are longer than the model's window. */
const TOO_LONG = new RegExp(
  [
    "context[_ ]length",
    "context[_ ]window",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "too many (input )?tokens",
    "input token count .* exceeds",
    "exceeds the maximum number of tokens",
    "reduce the length of the messages",
    "maximum prompt length",
    "exceeds? .{0,40}context",
    "larger than the max(imum)? context",
    "request_too_large",
  ].join("|"),
  "i",
);

/** The account is empty: waiting does not help. */
const NO_CREDIT =
  /insufficient[_ ]quota|credit balance is too low|billing|payment required|exceeded your current quota/i;

/** Why a provider refused, from its status and what it says. */
export function codeOf(status: number, says: string): ModelErrorCode {
  if (status === 401 || status === 403 || status === 402) return "auth";
  if (status === 429 && NO_CREDIT.test(says)) return "auth";
  if (status === 429 || status === 503 || status === 529) return "rate-limit";
  if (status >= 500 || status === 408) return "server";
  if (status === 413 || TOO_LONG.test(says)) return "context";
  return "request";
}

/** The same for an error in a stream that has begun, where there may be no status: from its type or code. */
export function codeOfStreamError(kind: string, says: string): ModelErrorCode {
  const words = `${kind} ${says}`;
  if (TOO_LONG.test(words)) return "context";
  if (/authentication|permission|unauthorized|invalid_api_key/i.test(kind) || NO_CREDIT.test(words)) {
    return "auth";
  }
  if (/rate[_ ]?limit|overloaded|resource_exhausted|too_many_requests/i.test(words)) return "rate-limit";
  if (/invalid_request|invalid_argument|not_found|invalid_prompt/i.test(kind)) return "request";
  return "server";
}
