import type { ModelError, ModelErrorCode } from "../core/model.ts";

const PASSING: ReadonlySet<ModelErrorCode> = new Set(["rate-limit", "server", "network", "timeout"]);
const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
const JITTER = 0.25;

/** Whether the same question may be answered a moment later (documents.md 7.7). */
export function isPassing({ code, retryAfterMs = 0 }: ModelError): boolean {
  return PASSING.has(code) && retryAfterMs <= LONGEST_MS;
}

/**
 * How long to wait before the question is asked again, in ms: what the provider asks for, else 1, 2, 4 ... s and up to a quarter more.
 *
 * @param attempt how often it has failed, from 1
 */
export function waitMs(error: ModelError, { attempt, random }: {
  readonly attempt: number;
  /** From 0 to 1. */
  readonly random: () => number;
}): number {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  return Math.min(LONGEST_MS, Math.round(FIRST_MS * 2 ** (attempt - 1) * (1 + JITTER * random())));
}
