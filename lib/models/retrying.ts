import {
  type Clock,
  type Model,
  ModelError,
  type ModelErrorCode,
  type ModelPart,
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

/** What waits and what deals the jitter: a number from 0 to 1. */
export interface RetryingOptions extends RetryPolicy {
  readonly clock: Clock;
  readonly random: () => number;
}

const PASSING: readonly ModelErrorCode[] = ["rate-limit", "server", "network", "timeout"];

/** A model that tries again what may pass, as long as nothing of the answer was shown (turn.md 1). */
export function retrying(model: Model, options: RetryingOptions): Model {
  return wrappedModel(model, (request) => {
    const most = request.retries ?? options.retries ?? 3;
    let attempt = 0;
    return attempts(() => model.stream(request), (error) => {
      const { delayMs, message } = nextAttempt(error, { ...options, attempt: ++attempt, most });
      return {
        part: { type: "retry", attempt, delayMs, error: message },
        async open() {
          await waitFor(delayMs, { clock: options.clock, signal: request.signal });
          return model.stream(request);
        },
      };
    });
  });
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
  open(): Promise<AsyncIterable<ModelPart>>;
}

/**
 * The parts of one attempt after another, until one shows something; from there on it is that attempt alone, whatever comes of it.
 *
 * @param after says what follows a failure; it throws when that is the end
 */
export async function* attempts(
  first: () => AsyncIterable<ModelPart>,
  after: (error: unknown) => NextAttempt,
): AsyncGenerator<ModelPart> {
  let open: () => AsyncIterable<ModelPart> | Promise<AsyncIterable<ModelPart>> = first;
  while (true) {
    let isShown = false;
    try {
      for await (const part of await open()) {
        isShown ||= !NOT_SHOWN.has(part.type);
        yield part;
      }
      return;
    } catch (error) {
      if (isShown) throw error;
      const next = after(error);
      yield next.part;
      open = next.open;
    }
  }
}
