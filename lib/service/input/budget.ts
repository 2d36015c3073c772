import { didYouMean, present } from "../../core/core.ts";
import type { ProjectSettings } from "../../project/project.ts";
import type { Budget } from "../../run/budget.ts";
import { UsageError } from "../exit_code.ts";

/** What each call may take: the flags over the settings of the project. */
export function limitsOf(
  { config: { limits } }: Pick<ProjectSettings, "config">,
  { concurrency = limits.concurrency, timeout }: {
    readonly concurrency?: number;
    readonly timeout?: number;
  },
): { readonly concurrency: number; readonly timeoutMs: number; readonly resultBytes: number } {
  const timeoutMs = timeout === undefined ? limits.timeoutMs : timeout * 1000;
  return { concurrency, timeoutMs, resultBytes: limits.resultBytes };
}

/** The flag over the settings. */
export function budgetWithin(
  { tokens, cost, timeMs }: Pick<Budget, "tokens" | "cost" | "timeMs">,
  flag: Budget,
): Budget {
  return { ...present({ tokens, cost, timeMs }), ...flag };
}

const NAMES: readonly string[] = ["tokens", "cost", "time", "turns"];

/** What `--budget tokens=N,cost=N,time=N,turns=N` says. @throws {UsageError} with everything that is wrong with it */
export function budgetOf(items: readonly string[], { command }: { readonly command: string }): Budget {
  const problems: string[] = [];
  const values: Record<string, number> = {};
  for (const item of items) {
    const [, name = item, text = ""] = /^([^=]*)=(.*)$/s.exec(item) ?? [];
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
    if (!NAMES.includes(name)) {
      problems.push(`--budget has no "${name}": it takes ${NAMES.join(", ")}.${didYouMean(name, NAMES)}`);
    } else if (!(value > 0) || (name !== "cost" && name !== "time" && !Number.isInteger(value))) {
      const wanted = name === "cost" ? "US dollars" : name === "time" ? "seconds" : "a whole number";
      problems.push(`--budget ${name}= must be ${wanted} above 0; found "${text}"`);
    } else if (values[name] !== undefined) {
      problems.push(`--budget ${name}= is given twice, as ${values[name]} and ${text}; give it once`);
    } else values[name] = value;
  }
  if (problems.length > 0) throw new UsageError(problems, command);
  const { tokens, cost, time, turns } = values;
  return present({ tokens, cost, timeMs: time === undefined ? undefined : time * 1000, turns });
}

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
