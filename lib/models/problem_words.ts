import type { ModelErrorCode } from "../core/model.ts";

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
