import type { ModelError, ModelErrorCode } from "../core/model.ts";
import type { AgentLimits } from "../prompt/limits.ts";
import type { AgentErrorCode } from "./agent_error.ts";

/** Before the model is asked again. */
export interface ProviderWait {
  readonly ms: number;
  /** It failed; a rate limit is no failure. */
  readonly isRecall: boolean;
}

const LONGEST_JITTER = 0.25;
const RECALLED: ReadonlySet<ModelErrorCode> = new Set(["server", "network", "timeout"]);

/** How often and how long a turn waits for its provider (prompts.md 9.6). */
export class ProviderWaits {
  readonly #limits: AgentLimits;
  readonly #random: () => number;
  #rateLimits = 0;
  #recalls = 0;

  constructor({ limits, random }: { readonly limits: AgentLimits; readonly random: () => number }) {
    this.#limits = limits;
    this.#random = random;
  }

  /** The next wait for such an error; undefined when the turn is over with it. */
  next(error: ModelError): ProviderWait | undefined {
    const { rateLimitWaits, llmRecalls } = this.#limits;
    if (error.code === "rate-limit") {
      if (this.#rateLimits >= rateLimitWaits || this.#isTooLong(error)) return undefined;
      return { ms: error.retryAfterMs ?? this.#growing(this.#rateLimits), isRecall: false };
    }
    if (!RECALLED.has(error.code) || this.#recalls >= llmRecalls) return undefined;
    return { ms: this.#growing(this.#recalls), isRecall: true };
  }

  took({ isRecall }: ProviderWait): void {
    if (isRecall) this.#recalls++;
    else this.#rateLimits++;
  }

  /** What a turn ends with that waits no more. */
  giveUp(error: ModelError): { readonly code: AgentErrorCode; readonly message: string } {
    const { message, code, retryAfterMs = 0 } = error;
    if (code === "config") return { code, message };
    if (code !== "rate-limit") return { code: "provider", message };
    const why = this.#isTooLong(error)
      ? `asked to wait ${retryAfterMs / 1000} s, more than ${this.#limits.maxWait} s`
      : `rate limited ${this.#rateLimits + 1} times`;
    return { code: "rate_limit", message: `${why}: ${message}` };
  }

  #isTooLong({ retryAfterMs = 0 }: ModelError): boolean {
    return retryAfterMs > this.#limits.maxWait * 1000;
  }

  /** 1, 2, 4 … s, and up to a quarter more so that not all come back at once. */
  #growing(waits: number): number {
    const ms = 1000 * 2 ** waits * (1 + LONGEST_JITTER * this.#random());
    return Math.min(ms, this.#limits.maxWait * 1000);
  }
}
