import type { Clock } from "../core/clock.ts";
import {
  type Model,
  ModelError,
  type ModelErrorCode,
  type ModelPart,
  type ModelRequest,
  wrappedModel,
} from "../core/model.ts";

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

/** What waits and what deals the jitter: a number from 0 to 1. */
export interface RetryingOptions extends RetryPolicy {
  readonly clock: Clock;
  readonly random: () => number;
}

const PASSING: readonly ModelErrorCode[] = ["rate-limit", "server", "network", "timeout"];

/** A model that tries again what may pass, as long as nothing of the answer was shown (turn.md 1). */
export function retrying(model: Model, options: RetryingOptions): Model {
  return wrappedModel(model, (request) => ({
    [Symbol.asyncIterator]: () => attempts(model, { ...options, request }),
  }));
}

type RequestOptions = RetryingOptions & { readonly request: ModelRequest };

function attempts(model: Model, { request, ...options }: RequestOptions): AsyncIterator<ModelPart> {
  const begin = () => model.stream(request)[Symbol.asyncIterator]();
  const most = request.retries ?? options.retries ?? 3;
  let attempt = 0;
  const after = (error: unknown) => {
    const { delayMs, message } = nextAttempt(error, { ...options, attempt: ++attempt, most });
    return {
      part: { type: "retry" as const, attempt, delayMs, error: message },
      async open() {
        await waitFor(delayMs, { clock: options.clock, signal: request.signal });
        return begin();
      },
    };
  };
  return new Attempts(begin(), { after });
}

/** How long is waited before what has failed is tried again, for the `attempt`-th time of `most`. @throws the error, when that was the end */
export function nextAttempt(
  error: unknown,
  options: RetryingOptions & { readonly attempt: number; readonly most: number },
): { readonly delayMs: number; readonly message: string } {
  const { attempt, most } = options;
  if (!(error instanceof ModelError) || !PASSING.includes(error.code)) throw error;
  if (attempt > most) throw most === 0 ? error : givenUp(error, attempt);
  return { delayMs: delayOf(error, options), message: error.message };
}

function givenUp({ message, code, status, retryAfterMs }: ModelError, attempts: number): ModelError {
  const advice =
    `asked ${attempts} times; try again later, or name another model in models.fallback of orrery.yaml`;
  return new ModelError(`${message} (${advice})`, {
    code,
    status,
    retryAfterMs,
  });
}

function delayOf(error: ModelError, options: RetryingOptions & { readonly attempt: number }): number {
  const { baseMs = 1000, factor = 2, maxMs = 60_000, random, attempt } = options;
  const asked = error.retryAfterMs;
  if (asked === undefined) {
    return Math.min(maxMs, Math.round(baseMs * factor ** (attempt - 1) * (0.75 + random() / 2)));
  }
  if (asked <= maxMs) return asked;
  const { code, status, message } = error;
  throw new ModelError(
    `${message}. It asks to wait ${Math.ceil(asked / 1000)} s, which is longer than the ${
      maxMs / 1000
    } s that are waited for`,
    { code, retryAfterMs: asked, status },
  );
}

/** @throws {ModelError} `aborted` */
export async function waitFor(
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
): Promise<void> {
  if (ms <= 0) return;
  try {
    await clock.sleep(ms, signal);
  } catch (cause) {
    throw new ModelError("The call of the model was aborted", { code: "aborted", cause });
  }
}

/** A call that has only begun is none: the attempt behind it begins anew. */
const NOT_SHOWN: ReadonlySet<ModelPart["type"]> = new Set(["retry", "call-start", "call-delta"]);

/** The next attempt: what is told of it, and how it begins. */
interface NextAttempt {
  readonly part: Extract<ModelPart, { type: "retry" }>;
  open(): Promise<AsyncIterator<ModelPart>>;
}

/**
 * The parts of one attempt after another, until one shows something; from there on it is that attempt alone, whatever comes of
 * it, and it is passed through at no cost.
 */
export class Attempts implements AsyncIterator<ModelPart> {
  readonly #after: (error: unknown) => NextAttempt;
  #current: AsyncIterator<ModelPart> | undefined;
  #open: (() => Promise<AsyncIterator<ModelPart>>) | undefined;
  #isShown = false;

  /** `after` says what follows a failure; it throws when that is the end. */
  constructor(
    first: AsyncIterator<ModelPart>,
    options: { readonly after: (error: unknown) => NextAttempt },
  ) {
    this.#current = first;
    this.#after = options.after;
  }

  next(): Promise<IteratorResult<ModelPart>> {
    return this.#isShown && this.#current !== undefined ? this.#current.next() : this.#first();
  }

  async return(): Promise<IteratorResult<ModelPart>> {
    await this.#current?.return?.();
    this.#open = undefined;
    this.#current = undefined;
    return { done: true, value: undefined };
  }

  async #first(): Promise<IteratorResult<ModelPart>> {
    const open = this.#open;
    this.#open = undefined;
    try {
      if (open !== undefined) this.#current = await open();
      if (this.#current === undefined) return { done: true, value: undefined };
      const result = await this.#current.next();
      this.#isShown = result.done === true || !NOT_SHOWN.has(result.value.type);
      return result;
    } catch (error) {
      const next = this.#after(error);
      this.#open = () => next.open();
      return { done: false, value: next.part };
    }
  }
}
