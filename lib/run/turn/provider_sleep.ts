import { linkedSignal, ModelError, type ModelErrorCode, objectOrEmpty } from "../../core/core.ts";
import { takeIn } from "../effect.ts";
import type { Run } from "../run.ts";

/** A wait for a provider. */
export interface ProviderSleep {
  readonly run: Run;
  readonly signal: AbortSignal;
  /** Ends the wait early. */
  readonly wake?: AbortSignal;
  readonly key: string;
  readonly ms: number;
  /** Why it has to be waited for: a warning says it, and how long that takes, or has taken. */
  readonly error: ModelError;
  /** Takes the warning. Default: the run. */
  warn?(text: string): void;
}

/** How long it takes until something is asked again, as people read it. */
export function againIn(ms: number): string {
  return `trying again in ${Math.round(ms / 100) / 10} s`;
}

/**
 * Waits, as a step of its run: what was waited for before the run was resumed is not waited for again, and a replay takes no time.
 *
 * @throws the signal's reason
 */
export async function sleepForProvider(
  { run, signal, wake, key, ms, error, warn = (text) => run.emit({ type: "warning", text }) }: ProviderSleep,
): Promise<void> {
  const tell = (waited: number): void => warn(`${error.message}; ${againIn(waited)}`);
  let isTold = false;
  const waited = await takeIn(run, {
    key,
    kind: "step",
    name: "wait",
    signal,
    async perform() {
      tell(ms);
      isTold = true;
      using waking = linkedSignal([signal, wake]);
      await run.clock.sleep(ms, waking.signal).catch((thrown) => {
        if (wake?.aborted !== true) throw thrown;
      });
      return { ms };
    },
  });
  if (!isTold) tell(Number(objectOrEmpty(waited).ms ?? ms));
}

/** The error as it came: what a journal and a record have of it lacks what the provider asked to wait, which is a step of its own. */
export async function askedToWait(
  error: ModelError,
  { run, signal, key }: Pick<ProviderSleep, "run" | "signal" | "key">,
): Promise<ModelError> {
  if (error.code !== "rate-limit" || !run.isKept) return error;
  const own = error.retryAfterMs ?? null;
  const asked = await takeIn(run, {
    key,
    kind: "step",
    name: "asked to wait",
    signal,
    perform: () => Promise.resolve(own),
  });
  if (asked === own) return error;
  const retryAfterMs = typeof asked === "number" ? asked : undefined;
  return new ModelError(error.message, { ...error, cause: error, retryAfterMs });
}

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
  return error.retryAfterMs ?? growingMs(attempt - 1, { random, mostMs: LONGEST_MS });
}

/** 1, 2, 4 ... s, and up to a quarter more so that not all come back at once. @param waits how often was waited before */
export function growingMs(
  waits: number,
  { random, mostMs }: { readonly random: () => number; readonly mostMs: number },
): number {
  return Math.min(mostMs, Math.round(FIRST_MS * 2 ** waits * (1 + JITTER * random())));
}
