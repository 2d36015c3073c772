import { messageOf, ModelError, notCapableText } from "../../core/core.ts";
import { BrokenAnswer } from "../provider/fetch.ts";
import type { ProviderProblem } from "../provider/problem.ts";
import { codeOf, codeOfStreamError, shortened } from "../said_by.ts";

/** What is known of the answer when it goes wrong. */
export interface AnswerSoFar {
  readonly problem: ProviderProblem;
  /** How much of it had come. */
  readonly characters: number;
  readonly signal: AbortSignal | undefined;
}

/** Turns whatever the AI SDK throws, or tells as an error in its stream, into a model error. The SDK's own error is dropped: it holds the request. */
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
  const says = shortened(messageOf(saysOf(error)), problem);
  const name = error instanceof Error ? error.name : "";
  const status = numberOf(error, "statusCode");
  if (status !== undefined && status >= 400) {
    return problem.error(`${FAILED} (${status}: ${says})`, { code: codeOf(status, says), status });
  }
  if (REQUEST_ERRORS.includes(name)) {
    return problem.error(`the request cannot be made: ${says}`, { code: "request" });
  }
  if (error instanceof Error) {
    return problem.error(`it sent something that its protocol does not have: ${says}`, {
      code: "answer",
      hasBegun: so.characters > 0,
    });
  }
  const kind = `${textOf(error, "type")} ${textOf(error, "code")}`;
  return problem.error(`${FAILED} (${says})`, { code: codeOfStreamError(kind, says) });
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

const FAILED = "the provider ended its answer with an error";
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

/** The innermost text of an error: providers put it into `error` or `response.error`. */
function saysOf(error: unknown): unknown {
  if (error instanceof Error || typeof error !== "object" || error === null) return error;
  if ("message" in error && typeof error.message === "string") return error.message;
  if ("error" in error) return saysOf(error.error);
  if ("response" in error) return saysOf(error.response);
  return JSON.stringify(error);
}

function numberOf(error: unknown, key: string): number | undefined {
  const value = fieldOf(error, key);
  return typeof value === "number" ? value : undefined;
}

function textOf(error: unknown, key: string): string {
  const value = fieldOf(error, key) ?? fieldOf(fieldOf(error, "error"), key);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
