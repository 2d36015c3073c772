// What goes wrong, as RFC 9457 has it. Only what was thrown to be told is told: of everything else a reference goes out, and the error
// itself to stderr.
import {
  FileError,
  type FileErrorCode,
  JournalError,
  type JsonObject,
  ModelError,
  type ModelErrorCode,
  ProblemsError,
  PromptError,
  RunEndedError,
  RunNotFoundError,
  RunOwnedError,
  SourceError,
  toJson,
} from "../core/core.ts";
import { UsageError } from "../service/exit_code.ts";
import { ServiceError, type ServiceErrorCode } from "../service/service.ts";

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
    detail: string,
    options: { readonly more?: JsonObject; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.details = { status, code, detail, ...options };
  }
}

/** What was sent is not as expected. */
export function invalid(detail: string, more?: JsonObject): HttpProblem {
  return new HttpProblem(400, "invalid", detail, { more });
}

/** The JSON of a problem. */
export function problemJson(
  { status, code, detail, more }: ProblemDetails,
): JsonObject {
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

// What was thrown, as a problem. What nobody foresaw says nothing of itself: it may hold paths, or worse.

/** Where a problem is told, and what must not be. */
interface FailureSettings {
  /** The project root: paths below it are told relative to it. */
  readonly root: string;
  /** Takes what nobody foresaw, with the reference under which it was told. */
  readonly tell: (text: string) => void;
}

/** The problem of what was thrown. */
export function failureOf(error: unknown, { root, tell }: FailureSettings): ProblemDetails {
  const details = known(error);
  if (details !== undefined) {
    // An absolute path says where on whose machine the project lies, which is nobody's business.
    return JSON.parse(
      JSON.stringify(details),
      (_name, value) =>
        typeof value === "string" ? value.replaceAll(`${root}/`, "").replaceAll(root, ".") : value,
    );
  }
  const reference = crypto.randomUUID().slice(0, 8);
  tell(`HTTP ${reference}: ${error instanceof Error ? error.stack ?? error.message : String(error)}\n`);
  return {
    status: 500,
    code: "internal",
    detail: `something went wrong here; the log of the server has it under ${reference}`,
    more: { reference },
  };
}

function known(error: unknown): ProblemDetails | undefined {
  if (error instanceof HttpProblem) return error.details;
  if (error instanceof ServiceError) return ofService(error);
  if (error instanceof SourceError) return ofSource([error]);
  if (error instanceof ProblemsError) return ofSource(error.problems);
  if (error instanceof ModelError) return ofModel(error);
  if (error instanceof FileError) return ofFile(error);
  if (error instanceof PromptError) return ofPrompt(error);
  for (const [Thrown, status, code] of PLAIN) {
    if (error instanceof Thrown) return { status, code, detail: error.message };
  }
  return undefined;
}

const PLAIN = [
  [RunNotFoundError, 404, "not-found"],
  [RunEndedError, 409, "ended"],
  [RunOwnedError, 409, "busy"],
  [UsageError, 400, "invalid"],
  [JournalError, 503, "journal"],
] as const;

const STATUS_OF_SERVICE: { readonly [code in ServiceErrorCode]: number } = {
  "not-found": 404,
  "busy": 409,
  "ended": 409,
  "limit": 429,
  "stopping": 503,
  "outside": 403,
  "unverified": 409,
  "changed": 409,
  "refused": 403,
  "invalid": 400,
  "gone": 404,
};

function ofService({ code, message, details }: ServiceError): ProblemDetails {
  const { reason } = details;
  return {
    status: STATUS_OF_SERVICE[code],
    code: typeof reason === "string" ? reason : code, // a conversation has more words for it
    detail: message,
    more: details,
    ...((code === "limit" || code === "stopping") && { headers: { "retry-after": "1" } }),
  };
}

/** Something a user wrote is wrong: the first place as members of its own, all of them as `problems`. */
function ofSource(errors: readonly SourceError[]): ProblemDetails {
  const [{ span } = {}] = errors;
  return {
    status: 422,
    code: "check",
    detail: errors.map(({ message, place, hint }) =>
      `${place && `${place}: `}${message}${hint === undefined ? "" : `. ${hint}`}`
    ).join("\n"),
    more: {
      ...placeOf(span),
      problems: errors.map(({ message, span, hint, code }) => ({
        message,
        ...placeOf(span),
        ...(hint !== undefined && { hint }),
        ...(code !== undefined && { code }),
      })),
    },
  };
}

function placeOf(span: SourceError["span"]): JsonObject {
  if (span === undefined) return {};
  const { file, line, column } = span;
  return { ...(file !== undefined && { file }), line, column };
}

function ofModel({ code, message, flag, retryAfterMs = 1_000 }: ModelError): ProblemDetails {
  const [status, word] = OF_MODEL[code] ?? [502, "provider"];
  return {
    status,
    code: word,
    detail: message,
    ...(code === "permission" && flag !== undefined && { more: { flag } }),
    ...(code === "rate-limit" && { headers: { "retry-after": String(Math.ceil(retryAfterMs / 1000)) } }),
  };
}

const OF_MODEL: { readonly [code in ModelErrorCode]?: readonly [status: number, code: string] } = {
  "config": [422, "model"],
  "permission": [403, "refused"],
  "rate-limit": [429, "rate-limit"],
  "timeout": [504, "timeout"],
};

function ofFile({ code, message }: FileError): ProblemDetails {
  const [status, word] = OF_FILE[code] ?? [422, "file"];
  return { status, code: word, detail: message };
}

const OF_FILE: { readonly [code in FileErrorCode]?: readonly [status: number, code: string] } = {
  "not-found": [404, "not-found"],
  "is-folder": [404, "not-found"],
  "not-folder": [404, "not-found"],
  "denied": [403, "refused"],
};

function ofPrompt({ code, message, problems = [] }: PromptError): ProblemDetails {
  const [status, word] = code === "registry" ? [404, "not-found"] : [422, "check"];
  const more = problems.length > 0 ? { problems: toJson(problems) } : undefined;
  return { status, code: word, detail: message, more };
}
