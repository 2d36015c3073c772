// What goes wrong, as RFC 9457 has it. Only what was thrown to be told is told: of everything else a reference goes out, and the error
// itself to stderr.
import {
  FileError,
  type FileErrorCode,
  JournalError,
  type Json,
  type JsonObject,
  ModelError,
  objectOrEmpty,
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

// What was thrown, as a problem. What nobody foresaw says nothing of itself: it may hold paths, or worse.

/** Where a problem is told, and what must not be. */
interface FailureSettings {
  /** The project root: paths below it are told relative to it. */
  readonly root: string;
  /** Takes what nobody foresaw, with the reference under which it was told. */
  readonly tell: (text: string) => void;
}

/** The problem of what was thrown. */
export function failureOf(error: unknown, settings: FailureSettings): ProblemDetails {
  const details = known(error, settings);
  if (details !== undefined) return withoutRoot(details, settings.root);
  const reference = crypto.randomUUID().slice(0, 8);
  settings.tell(
    `HTTP ${reference}: ${error instanceof Error ? error.stack ?? error.message : String(error)}\n`,
  );
  return {
    status: 500,
    code: "internal",
    detail: `something went wrong here; the log of the server has it under ${reference}`,
    more: { reference },
  };
}

function known(error: unknown, settings: FailureSettings): ProblemDetails | undefined {
  if (error instanceof HttpProblem) return error.details;
  if (error instanceof ServiceError) return ofService(error);
  if (error instanceof SourceError) return ofSource([error], settings);
  if (error instanceof ProblemsError) return ofSource(error.problems, settings);
  if (error instanceof ModelError) return ofModel(error);
  if (error instanceof FileError) return ofFile(error);
  if (error instanceof PromptError) return ofPrompt(error);
  if (error instanceof RunNotFoundError) return { status: 404, code: "not-found", detail: error.message };
  if (error instanceof RunEndedError) return { status: 409, code: "ended", detail: error.message };
  if (error instanceof RunOwnedError) return { status: 409, code: "busy", detail: error.message };
  if (error instanceof UsageError) return { status: 400, code: "invalid", detail: error.message };
  if (error instanceof JournalError) return { status: 503, code: "journal", detail: error.message };
  return undefined;
}

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
function ofSource(errors: readonly SourceError[], { root }: FailureSettings): ProblemDetails {
  const problems = errors.map((error) => sourceJson(error, root));
  const [first = {}] = problems;
  return {
    status: 422,
    code: "check",
    detail: errors.map(({ message, place, hint }) =>
      `${place === "" ? "" : `${place}: `}${message}${hint === undefined ? "" : `. ${hint}`}`
    ).join("\n"),
    more: { ...placeOf(first), problems },
  };
}

/** Where, without what. */
function placeOf({ file, line, column }: JsonObject): JsonObject {
  return {
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  };
}

function sourceJson({ message, span, hint, code }: SourceError, root: string): JsonObject {
  return {
    message: relativeTo(root, message),
    ...(span?.file !== undefined && { file: relativeTo(root, span.file) }),
    ...(span !== undefined && { line: span.line, column: span.column }),
    ...(hint !== undefined && { hint: relativeTo(root, hint) }),
    ...(code !== undefined && { code }),
  };
}

function ofModel({ code, message, flag, retryAfterMs }: ModelError): ProblemDetails {
  const more: JsonObject = flag === undefined ? {} : { flag };
  const wait = retryAfterMs ?? 1_000;
  switch (code) {
    case "config":
      return { status: 422, code: "model", detail: message };
    case "permission":
      return { status: 403, code: "refused", detail: message, more };
    case "rate-limit":
      return {
        status: 429,
        code: "rate-limit",
        detail: message,
        headers: { "retry-after": String(Math.ceil(wait / 1000)) },
      };
    case "timeout":
      return { status: 504, code: "timeout", detail: message };
    default:
      return { status: 502, code: "provider", detail: message };
  }
}

const STATUS_OF_FILE: { readonly [code in FileErrorCode]?: number } = {
  "not-found": 404,
  "is-folder": 404,
  "not-folder": 404,
  "denied": 403,
};

function ofFile({ code, message }: FileError): ProblemDetails {
  return {
    status: STATUS_OF_FILE[code] ?? 422,
    code: code === "is-folder" || code === "not-folder"
      ? "not-found"
      : code === "denied"
      ? "refused"
      : code === "not-found"
      ? code
      : "file",
    detail: message,
  };
}

function ofPrompt({ code, message, problems = [] }: PromptError): ProblemDetails {
  const json = toJson(problems);
  return {
    status: code === "registry" ? 404 : 422,
    code: code === "registry" ? "not-found" : "check",
    detail: message,
    ...(problems.length > 0 && { more: { problems: json } }),
  };
}

/** An absolute path says where on whose machine the project lies, which is nobody's business. */
function withoutRoot(details: ProblemDetails, root: string): ProblemDetails {
  const { detail, more } = details;
  if (!detail.includes(root) && (more === undefined || !JSON.stringify(more).includes(root))) return details;
  return {
    ...details,
    detail: relativeTo(root, detail),
    ...(more !== undefined && { more: objectWithout(more, root) }),
  };
}

function objectWithout(more: JsonObject, root: string): JsonObject {
  return objectOrEmpty(mapped(more, root));
}

function mapped(value: Json, root: string): Json {
  if (typeof value === "string") return relativeTo(root, value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Array) return value.map((item) => mapped(item, root));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapped(item, root)]));
}

function relativeTo(root: string, text: string): string {
  return text.replaceAll(`${root}/`, "").replaceAll(root, ".");
}
