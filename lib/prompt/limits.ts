/** Bounds of one turn of an agent (prompts.md 9). */
export interface AgentLimits {
  /** How often an answer that breaks its contract is asked for again. */
  readonly exceptionRetries: number;
  /** Tool rounds before the final answer is asked for. */
  readonly interruptSteps: number | "unlimited";
  /** How often a model that failed is asked again. */
  readonly llmRecalls: number;
  /** How often a rate limit is waited for. */
  readonly rateLimitWaits: number;
  /** Seconds: no wait is longer. */
  readonly maxWait: number;
  /** Tools of one answer that run at once. */
  readonly parallelTools: number;
}

/** The limits that hold where nothing else is said. */
export const DEFAULT_LIMITS: AgentLimits = {
  exceptionRetries: 3,
  interruptSteps: 5,
  llmRecalls: 2,
  rateLimitWaits: 5,
  maxWait: 60,
  parallelTools: 8,
};

/** The names that may be set. */
export const LIMIT_NAMES: readonly string[] = Object.keys(DEFAULT_LIMITS);

/** What is wrong with a value of a limit; undefined when nothing is. */
export function limitProblem(name: string, value: unknown): string | undefined {
  if (name === "interruptSteps" && value === "unlimited") return undefined;
  const least = name === "parallelTools" ? 1 : 0;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return undefined;
  return least === 1
    ? `limit ${name} must be an integer from 1`
    : `limit ${name} must be a non-negative integer`;
}
