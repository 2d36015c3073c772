// Errors as clients of OpenAI know them: `{error: {message, type, param, code}}`.

import {
  decodeSegment,
  isRecord,
  type JsonObject,
  ModelError,
  type ModelErrorCode,
} from "../../core/core.ts";
import { json } from "../answers.ts";
import { HttpProblem } from "../problem.ts";
import type { ProblemDetails } from "../problem.ts";

/** A field of the request that cannot be taken. @param param as `messages[0].content` */
export function badField(param: string, detail: string, code = "invalid_value"): HttpProblem {
  return new HttpProblem(400, code, `${param}: ${detail}`, { more: { param } });
}

/** A problem as an answer. */
export function tellOpenAiProblem(problem: ProblemDetails): Response {
  const { status, headers } = problem;
  return json(openAiProblemJson(problem), { status, headers });
}

/** The same as JSON. */
export function openAiProblemJson({ status, code, detail, more = {} }: ProblemDetails): JsonObject {
  return { error: { message: detail, type: typeOfStatus(status), param: paramOf(more), code } };
}

/** The field that is at fault: what was said of it, or where the schema found it. */
function paramOf({ param, issues }: JsonObject): string | null {
  if (typeof param === "string") return param;
  const [first] = Array.isArray(issues) ? issues : [];
  const pointer = isRecord(first) ? first.pointer : undefined;
  if (typeof pointer !== "string" || pointer === "") return null;
  return pointer.slice(1).split("/").map(decodeSegment)
    .map((part, index) => /^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`).join("");
}

function typeOfStatus(status: number): string {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 409:
      return "conflict_error";
    case 429:
      return "rate_limit_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

/** What a model could not do; everything else as it is. */
export function ofModelError(thrown: unknown): unknown {
  if (!(thrown instanceof ModelError)) return thrown;
  const { status, code, param } = MODEL_ERRORS[thrown.code];
  const { retryAfterMs } = thrown;
  return new HttpProblem(status, code, thrown.message, {
    ...(param === undefined ? {} : { more: { param } }),
    ...(status === 429 && { headers: { "retry-after": String(Math.ceil((retryAfterMs ?? 1000) / 1000)) } }),
  });
}

const MODEL_ERRORS: {
  readonly [code in ModelErrorCode]: {
    readonly status: number;
    readonly code: string;
    readonly param?: string;
  };
} = {
  config: { status: 404, code: "model_not_found", param: "model" },
  auth: { status: 502, code: "provider_auth" }, // the key is ours, and the caller's own is right
  request: { status: 400, code: "provider_refused" },
  context: { status: 400, code: "context_length_exceeded", param: "messages" },
  "rate-limit": { status: 429, code: "rate_limit_exceeded" },
  server: { status: 502, code: "provider_error" },
  network: { status: 502, code: "provider_unreachable" },
  timeout: { status: 504, code: "timeout" },
  answer: { status: 502, code: "provider_answer" },
  permission: { status: 403, code: "permission_denied" },
  aborted: { status: 503, code: "stopping" },
};
