import {
  type Clock,
  messageOf,
  type Model,
  ModelError,
  type ModelErrorCode,
  type ModelPart,
  refuseUntaken,
  wrappedModel,
} from "../core/core.ts";

/** How a failed call is tried again. */
export interface RetryPolicy {
  /** How often, unless the request says so. Default 3. */
  readonly retries?: number;
  /** Before the first retry. Default 1000. */
  readonly baseMs?: number;
  /** From one retry to the next. Default 2. */
  readonly factor?: number;
  /** No wait is longer; a provider that asks for more ends the call. Default 60,000. */
  readonly maxMs?: number;
}

/** What waits and what deals the jitter: a number from 0 to 1. Default `Math.random`. */
export interface RetryingOptions extends RetryPolicy {
  readonly clock: Clock;
  readonly random?: () => number;
}

const PASSING: readonly ModelErrorCode[] = ["rate-limit", "server", "network", "timeout"];

/** A model that tries again what may pass, as long as nothing of the answer was shown (turn.md 1). */
export function retrying(model: Model, options: RetryingOptions): Model {
  return wrappedModel(model, (request) =>
    attempts(() => model.stream(request), (error, attempt) => {
      const { signal, retries = options.retries } = request;
      const { delayMs, wait } = nextAttempt(error, { ...options, retries, attempt, signal });
      return {
        delayMs,
        async open() {
          await wait();
          return model.stream(request);
        },
      };
    }));
}

/** The model that takes over, found when it is needed. */
export interface Fallback {
  /** `provider/model` */
  readonly id: string;
  find(): Model | Promise<Model>;
}

/** A model for which others take over, in order, when it fails before anything of its answer was shown. */
export function fallingBack(model: Model, fallbacks: readonly Fallback[]): Model {
  return wrappedModel(model, (request) =>
    attempts(() => model.stream(request), (error, attempt) => {
      const next = fallbacks[attempt - 1];
      const isFinal = !(error instanceof ModelError) ||
        error.code === "aborted" || error.code === "permission"; // the user's own word: another one would not do better
      if (next === undefined || isFinal) throw error;
      return {
        delayMs: 0,
        model: next.id,
        async open() {
          const model = await next.find();
          refuseUntaken(model, request.messages);
          return model.stream(request);
        },
      };
    }));
}

/** How what has failed is tried again, for the `attempt`-th time. @throws the error, when that was the end */
export function nextAttempt(
  error: unknown,
  options: RetryingOptions & { readonly attempt: number; readonly signal: AbortSignal | undefined },
): { readonly delayMs: number; wait(): Promise<void> } {
  const { attempt, retries = 3, clock, signal } = options;
  if (!(error instanceof ModelError) || !PASSING.includes(error.code)) throw error;
  if (attempt > retries) {
    if (retries === 0) throw error;
    throw new ModelError(
      `${error.message} (asked ${attempt} times; try again later, or name another model in models.fallback of orrery.yaml)`,
      error,
    );
  }
  const delayMs = delayOf(error, options);
  return {
    delayMs,
    async wait() {
      if (delayMs <= 0) return;
      await clock.sleep(delayMs, signal).catch((cause: unknown) => {
        throw new ModelError("The call of the model was aborted", { code: "aborted", cause });
      });
    },
  };
}

function delayOf(error: ModelError, options: RetryingOptions & { readonly attempt: number }): number {
  const { baseMs = 1000, factor = 2, maxMs = 60_000, random = Math.random, attempt } = options;
  const asked = error.retryAfterMs;
  if (asked === undefined) {
    return Math.min(maxMs, Math.round(baseMs * factor ** (attempt - 1) * (0.75 + random() / 2)));
  }
  if (asked <= maxMs) return asked;
  throw new ModelError(
    `${error.message}. It asks to wait ${Math.ceil(asked / 1000)} s, which is longer than the ${
      maxMs / 1000
    } s that are waited for`,
    error,
  );
}

/** A call that has only begun is none: the attempt behind it begins anew. */
const NOT_SHOWN: ReadonlySet<ModelPart["type"]> = new Set(["retry", "warning", "call-start", "call-delta"]);

/** The next attempt, and how it begins. */
interface NextAttempt {
  readonly delayMs: number;
  /** Set when another model takes over. */
  readonly model?: string;
  open(): Promise<AsyncIterable<ModelPart>>;
}

/**
 * The parts of one attempt after another, until one shows something; from there on it is that attempt alone, whatever comes of it.
 *
 * @param after says what follows the failure of the `attempt`-th; it throws when that is the end
 */
async function* attempts(
  first: () => AsyncIterable<ModelPart>,
  after: (error: unknown, attempt: number) => NextAttempt,
): AsyncGenerator<ModelPart> {
  let open: () => AsyncIterable<ModelPart> | Promise<AsyncIterable<ModelPart>> = first;
  for (let attempt = 1;; attempt++) {
    let isShown = false;
    try {
      for await (const part of await open()) {
        isShown ||= !NOT_SHOWN.has(part.type);
        yield part;
      }
      return;
    } catch (error) {
      if (isShown) throw error;
      const { open: next, ...told } = after(error, attempt);
      yield { type: "retry", attempt, error: messageOf(error), ...told };
      open = next;
    }
  }
}
