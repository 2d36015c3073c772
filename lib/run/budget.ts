import { toJson, type Usage } from "../core/core.ts";
import { performEffect } from "./effect.ts";
import type { Run } from "./run.ts";

/** What a run may use up; what is absent has no bound. Checked before each model call (turn.md 2.5). */
export interface Budget {
  /** Model calls. */
  readonly turns?: number;
  /** Input and output of all model calls. */
  readonly tokens?: number;
  /** US dollars. */
  readonly cost?: number;
  /** Since the run began, before a resume included. */
  readonly timeMs?: number;
}

/** A bound that was reached. */
export interface BudgetReached {
  readonly reason: "turns" | "tokens" | "cost" | "time";
  readonly error: string;
}

/**
 * Which bound holds the next model call of the run back; undefined when none does. What was used is a step, for a run that is resumed has
 * used more by then than when it came here first, and has to come to the calls that it made since.
 *
 * @param key of the step: its place in the run
 */
export async function budgetReached(
  budget: Budget,
  run: Run,
  { key }: { readonly key: string },
): Promise<BudgetReached | undefined> {
  const { tokens, cost, timeMs } = budget;
  const made = run.modelCalls;
  const reached = turnsReached(budget, made);
  if (reached !== undefined || (tokens ?? cost ?? timeMs) === undefined) return reached;
  const { usage, ms } = await usedAt(run, key);
  return tokensReached(budget, usage) ?? costReached(budget, usage, made) ?? timeReached(budget, ms);
}

interface Used {
  readonly usage: Usage;
  /** Since the run began. */
  readonly ms: number;
}

async function usedAt(run: Run, key: string): Promise<Used> {
  const used = (): Used => ({ usage: run.usage, ms: Math.round(run.elapsedMs) });
  if (!run.isKept || run.lacks(key)) return used();
  const kept = await performEffect(run, {
    key,
    kind: "read",
    name: "budget",
    input: null,
    isIdempotent: true,
    isSilent: true,
    perform: () => Promise.resolve(toJson(used())),
  });
  return kept as unknown as Used; // as it was made above
}

function turnsReached({ turns }: Budget, made: number): BudgetReached | undefined {
  if (turns === undefined || made < turns) return undefined;
  return {
    reason: "turns",
    error: `The run has made ${made} model call${made === 1 ? "" : "s"}, its budget is ${turns}`,
  };
}

function tokensReached({ tokens }: Budget, usage: Usage): BudgetReached | undefined {
  const used = usage.input + usage.output;
  if (tokens === undefined || used < tokens) return undefined;
  return { reason: "tokens", error: `The run has used ${used} tokens, its budget is ${tokens}` };
}

/** A cost that nobody knows cannot be held to a bound: that is said before it is spent twice. */
function costReached({ cost }: Budget, usage: Usage, made: number): BudgetReached | undefined {
  if (cost === undefined || made === 0) return undefined;
  if (usage.cost === undefined) {
    return {
      reason: "cost",
      error:
        "The price of this model is not known, so a budget of cost cannot be held: set models.prices in orrery.yaml",
    };
  }
  if (usage.cost < cost) return undefined;
  return { reason: "cost", error: `The run has cost $${usage.cost.toFixed(4)}, its budget is $${cost}` };
}

function timeReached({ timeMs }: Budget, ms: number): BudgetReached | undefined {
  if (timeMs === undefined || ms < timeMs) return undefined;
  return { reason: "time", error: `The run has taken ${ms / 1000} s, its budget is ${timeMs / 1000} s` };
}

/** A bound of the run holds its next model call back. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
  readonly reached: BudgetReached;

  constructor(reached: BudgetReached) {
    super(reached.error);
    this.reached = reached;
  }
}
