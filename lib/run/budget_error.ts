import type { BudgetReached } from "./budget.ts";

/** A bound of the run holds its next model call back. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
  readonly reached: BudgetReached;

  constructor(reached: BudgetReached) {
    super(reached.error);
    this.reached = reached;
  }
}
