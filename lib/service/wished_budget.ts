import type { ProjectSettings } from "../project/project.ts";
import type { Budget } from "../run/budget.ts";

/** What is wished of the settings' budget: a wish makes it smaller, never larger. */
export function wishedBudget(
  { config: { limits: { tokens, cost, timeMs } } }: Pick<ProjectSettings, "config">,
  wish: Budget = {},
): Budget {
  const least = (name: keyof Budget, set: number | undefined): Budget => {
    const values = [wish[name], set].filter((value) => value !== undefined);
    return values.length === 0 ? {} : { [name]: Math.min(...values) };
  };
  return {
    ...least("tokens", tokens),
    ...least("cost", cost),
    ...least("timeMs", timeMs),
    ...least("turns", undefined),
  };
}
