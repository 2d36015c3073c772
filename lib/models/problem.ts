// The words for what goes wrong with a model of a provider, and the code of each. No message holds a key, nor the SDK's own error, which
// holds the request.
import {
  isRecord,
  messageOf,
  ModelError,
  type ModelErrorCode,
  type ModelId,
  modelIdText,
  notCapableText,
  PermissionRefused,
} from "../core/core.ts";
import type { Provider } from "./provider.ts";

/** A value that must not be seen, and the variable that it comes from. */
export interface ProviderSecret {
  readonly name: string;
  readonly value: string;
}

/** Words for what goes wrong with one model of one provider. */
export interface ProviderProblem {
  /** A model error that names model and host, says what came, and what to do. */
  error(
    what: string,
    options: {
      readonly code: ModelErrorCode;
      readonly status?: number;
      readonly retryAfterMs?: number;
      readonly flag?: string;
      /** It had begun to answer: its address is right. */
      readonly hasBegun?: boolean;
    },
  ): ModelError;
  /** The text without any secret, on one line, its end cut off when it is long. */
  shown(text: string): string;
}

/** @param keyName the variable of the key that is sent */
export function providerProblem(
  id: ModelId,
  { provider, keyName, secrets }: {
    readonly provider: Provider;
    readonly keyName: string | undefined;
    readonly secrets: readonly ProviderSecret[];
  },
): ProviderProblem {
  const longestFirst = [...secrets].sort((a, b) => b.value.length - a.value.length); // one may hold another
  const mask = (text: string): string =>
    longestFirst.reduce((masked, { name, value }) => masked.replaceAll(value, `[secret ${name}]`), text);
  const host = URL.parse(provider.baseURL)?.host ?? provider.baseURL;
  return {
    error(what, { hasBegun = false, ...options }) {
      const advice = hasBegun ? "" : adviceFor(options, { provider, keyName });
      return new ModelError(mask(`${modelIdText(id)} at ${host}: ${what}${advice}`), options);
    },
    shown: (text) => shortened(mask(text)), // before it is cut, since nobody knows half a key again
  };
}

function adviceFor(
  { code, status }: { readonly code: ModelErrorCode; readonly status?: number },
  { provider: { name, urlFrom }, keyName }: {
    readonly provider: Provider;
    readonly keyName: string | undefined;
  },
): string {
  const address = urlFrom ?? `models.providers.${name}.baseURL`;
  switch (code) {
    case "auth":
      if (keyName === undefined) {
        return `. No key was sent: name its variable in models.providers.${name}.apiKeyEnv`;
      }
      return status === 401
        ? `. Put a valid key into ${keyName}`
        : `. Check the account of the key in ${keyName}`;
    case "context":
      return ". Send less, or choose a model with a larger window";
    case "network":
      return urlFrom === undefined ? "" : `. Check that ${address} is right, and that the server is running`;
    case "answer":
      return `. Check ${address}: most of these addresses end in /v1`;
    case "request":
      return status === 404 ? `. Check the model's name, and ${address}` : "";
    default:
      return "";
  }
}

const MOST = 300;

/** The text on one line, its end cut off when it is long. */
export function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > MOST ? `${line.slice(0, MOST)}…` : line;
}

/** An answer that is a refusal: its body is the message of JSON, the title of a page, or a text. */
export function refusal(
  { status, body, retryAfterMs }: {
    readonly status: number;
    readonly body: string;
    readonly retryAfterMs: number | undefined;
  },
  problem: ProviderProblem,
): ModelError {
  const says = saidBy(body, problem);
  const code = codeOf(says, { status });
  return problem.error(`${REFUSED[code] ?? "the request was refused"} (${status}: ${says})`, {
    code,
    status,
    retryAfterMs,
  });
}

const REFUSED: { readonly [code in ModelErrorCode]?: string } = {
  "auth": "the key was refused",
  "context": "the messages are too long for this model",
  "rate-limit": "too many requests, or it is overloaded",
  "server": "the provider failed",
};

/** What a provider says in the body of an answer that is no stream. */
export function saidBy(body: string, { shown }: ProviderProblem): string {
  const text = body.trim();
  if (text === "") return "nothing";
  if (!text.startsWith("<")) return shown(maybeMessage(maybeJson(text)) ?? text);
  const title = /<title[^>]*>([^<]*)</i.exec(text)?.[1]?.trim();
  return `a page of HTML${title ? ` titled ${JSON.stringify(shown(title))}` : ""}`;
}

function maybeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The message of an error as providers write it: `{error: {message}}`, `{error}`, `{message}`, `{detail}`, or such things in a list. */
function maybeMessage(said: unknown): string | undefined {
  if (typeof said === "string") return said;
  if (Array.isArray(said)) return maybeMessage(said[0]);
  if (!isRecord(said)) return undefined;
  return maybeMessage(said.error) ?? maybeMessage(said.message) ?? maybeMessage(said.detail) ??
    maybeMessage(said.response);
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

/** Why a provider refused, from what it says, its status, and the type or code that it gives: a stream that has begun may have no status. */
export function codeOf(
  says: string,
  { status, kind = "" }: { readonly status?: number; readonly kind?: string },
): ModelErrorCode {
  const words = `${kind} ${says}`;
  if (status === 401 || status === 403 || status === 402) return "auth";
  if ((status ?? 429) === 429 && NO_CREDIT.test(words)) return "auth";
  if (status === 429 || status === 503 || status === 529) return "rate-limit";
  if (status === 408 || (status ?? 0) >= 500) return "server";
  if (status === 413 || TOO_LONG.test(words)) return "context";
  if (status !== undefined) return "request";
  if (/authentication|permission|unauthorized|invalid_api_key/i.test(kind)) return "auth";
  if (/rate[_ ]?limit|overloaded|resource_exhausted|too_many_requests/i.test(words)) return "rate-limit";
  return /invalid_request|invalid_argument|not_found|invalid_prompt/i.test(kind) ? "request" : "server";
}

/**
 * What an answer asks to wait, in milliseconds: `retry-after-ms`, or `Retry-After`, whose date is read against the answer's own `Date`.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? NaN);
  return waitMs(exact / 1000, NaN) ??
    waitMs(headers.get("retry-after"), Date.parse(headers.get("date") ?? ""));
}

/** Milliseconds from seconds, or until a date (RFC 9110, 10.2.3). */
export function waitMs(asked: unknown, now: number): number | undefined {
  const seconds = typeof asked === "string" && asked.trim() !== "" ? Number(asked) : asked;
  const ms = typeof seconds !== "number"
    ? NaN
    : Number.isNaN(seconds)
    ? Date.parse(String(asked)) - now
    : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, Math.ceil(ms));
}

/** There is no connection, or none that is allowed. */
export function noConnection(error: unknown, problem: ProviderProblem): ModelError {
  if (error instanceof ModelError) return error;
  if (error instanceof PermissionRefused) {
    return problem.error(error.message, { code: "permission", flag: error.flag });
  }
  return problem.error(`cannot connect: ${networkReason(error, problem)}`, { code: "network" });
}

/** Why there is no connection any more, in words, from whatever a `fetch` throws. */
export function networkReason(error: unknown, { shown }: ProviderProblem): string {
  const text = chainOf(error).map(messageOf).join(": ");
  if (/refused|ECONNREFUSED/i.test(text)) return "nothing answers there (connection refused)";
  if (/ENOTFOUND|EAI_|dns error|failed to lookup|name or service not known/i.test(text)) {
    return "there is no address for this host";
  }
  if (/certificate|tls handshake|InvalidCertificate/i.test(text)) {
    return `its certificate is not accepted (${shown(text)})`;
  }
  if (
    /reset|closed before|connection closed|broken pipe|unexpected e(nd|of)|incomplete|reading a body/i.test(
      text,
    )
  ) {
    return "the connection was closed";
  }
  return shown(text);
}

/** The connection broke while the answer came; the message says why. */
export class BrokenAnswer extends Error {
  override readonly name = "BrokenAnswer";
}

/** What is known of the answer when it goes wrong. */
export interface AnswerSoFar {
  readonly problem: ProviderProblem;
  /** How much of it had come. */
  readonly characters: number;
  readonly signal: AbortSignal | undefined;
}

/** Turns whatever the AI SDK throws, or tells as an error in its stream, into a model error. */
export function sdkProblem(error: unknown, so: AnswerSoFar): ModelError {
  const { problem, signal } = so;
  if (signal?.aborted) {
    return new ModelError("The call of the model was aborted", { code: "aborted", cause: signal.reason });
  }
  const chain = chainOf(error);
  const notCapable = chain.map(notCapableText).find((text) => text !== undefined);
  if (notCapable !== undefined) return new ModelError(notCapable, { code: "config" });
  const inner = chain.find((each) => each instanceof ModelError || each instanceof BrokenAnswer);
  if (inner instanceof ModelError) return inner;
  if (inner instanceof BrokenAnswer) return brokenOff(so, inner.message);
  if (isWithoutReason(error)) return brokenOff(so);
  const name = error instanceof Error ? error.name : TOLD;
  const says = problem.shown(name === TOLD ? maybeMessage(error) ?? JSON.stringify(error) : messageOf(error));
  const status = Number(fieldOf(error, "statusCode") ?? 0);
  if (name === TOLD || status >= 400) {
    const kind = `${fieldOf(error, "type")} ${fieldOf(error, "code")}`;
    const told = status >= 400 ? { status, kind } : { kind };
    const what = `the provider ended its answer with an error (${status >= 400 ? `${status}: ` : ""}${says})`;
    return problem.error(what, { ...told, code: codeOf(says, told) });
  }
  if (REQUEST_ERRORS.includes(name)) {
    return problem.error(`the request cannot be made: ${says}`, { code: "request" });
  }
  return problem.error(`it sent something that its protocol does not have: ${says}`, {
    code: "answer",
    hasBegun: so.characters > 0,
  });
}

/** The SDK has not seen why the answer ended. */
export function isWithoutReason(error: unknown): boolean {
  return messageOf(error) === "Response stream ended without a finish reason.";
}

/** The answer ended before it was whole. */
export function brokenOff({ problem, characters }: AnswerSoFar, why?: string): ModelError {
  const reason = why === undefined ? "" : ` (${why})`;
  const length = `${characters} character${characters === 1 ? "" : "s"}`;
  return problem.error(`the answer broke off after ${length}${reason}`, { code: "network", hasBegun: true });
}

/** An error that the provider told in its stream. */
const TOLD = "AI_StreamProviderError";
const REQUEST_ERRORS = [
  "AI_UnsupportedFunctionalityError",
  "AI_InvalidPromptError",
  "AI_InvalidArgumentError",
];

function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (let here = error; here !== undefined && !chain.includes(here);) {
    chain.push(here);
    here = here instanceof Error ? here.cause : undefined;
  }
  return chain;
}

/** A field of whatever was thrown. */
export function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
