import type { Usage } from "../core/core.ts";
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

/** Which bound holds the next model call of the run back; undefined when none does. */
export async function budgetReached(
  budget: Budget,
  run: Run,
  { place = "" }: { readonly place?: string } = {},
): Promise<BudgetReached | undefined> {
  const { usage, modelCalls } = run;
  const reached = turnsReached(budget, modelCalls) ?? tokensReached(budget, usage) ??
    costReached(budget, usage, modelCalls);
  if (reached !== undefined || budget.timeMs === undefined) return reached;
  // It comes from outside, so a replay has it from its record.
  const elapsedMs = await run.lookUp(`${place}time:${modelCalls}`, () => Math.round(run.elapsedMs), {
    note: (ms) => ms,
    from: Number,
  });
  if (elapsedMs < budget.timeMs) return undefined;
  return {
    reason: "time",
    error: `The run has taken ${elapsedMs / 1000} s, its budget is ${budget.timeMs / 1000} s`,
  };
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

/** A bound of the run holds its next model call back. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
  readonly reached: BudgetReached;

  constructor(reached: BudgetReached) {
    super(reached.error);
    this.reached = reached;
  }
}
