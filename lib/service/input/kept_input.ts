// What a run has kept of itself is read field by field: another version of Orrery may have kept something else.
import { type Json, type JsonObject, type Message, objectOrEmpty, toJsonObject } from "../../core/core.ts";
import { completeMarkers, type Markers } from "../../parse/calls/header.ts";
import type { Budget } from "../../run/budget.ts";
import type { CallLimits } from "../../run/calls/graph.ts";

/** A text; what is none is absent. */
export function textFrom(kept: Json | undefined): string | undefined {
  return typeof kept === "string" ? kept : undefined;
}

/** A number; what is none is absent. */
export function numberFrom(kept: Json | undefined): number | undefined {
  return typeof kept === "number" ? kept : undefined;
}

/** The markers that its calls are written with. */
export function markersFrom(kept: Json | undefined): Markers {
  const { start, end, arg } = objectOrEmpty(kept);
  return completeMarkers({
    ...(typeof start === "string" && { start }),
    ...(typeof end === "string" && { end }),
    ...(typeof arg === "string" && { arg }),
  });
}

/** The bounds of its calls. */
export function limitsFrom(kept: Json | undefined): CallLimits {
  return numbersFrom(kept, ["concurrency", "timeoutMs", "resultBytes"]);
}

/** Its budget. */
export function budgetFrom(kept: Json | undefined): Budget {
  return numbersFrom(kept, ["turns", "tokens", "cost", "timeMs"]);
}

/**
 * What it has kept, with more of a budget: a run that a budget has ended can go on with it.
 *
 * @param within what the settings let a budget be; default: all that is said
 */
export function withBudget(
  kept: Json,
  budget: Budget = {},
  within: (wanted: Budget) => Budget = (wanted) => wanted,
): Json {
  if (Object.keys(budget).length === 0) return kept;
  const input = objectOrEmpty(kept);
  return { ...input, budget: { ...within({ ...budgetFrom(input.budget), ...budget }) } };
}

/** What it keeps of how prompts that its calls ask are asked. */
export function keptAsked(
  { model, effort, budget }: {
    readonly model: string | undefined;
    readonly effort: string | undefined;
    readonly budget: Budget | undefined;
  },
): JsonObject {
  return toJsonObject({ model, effort, budget: budget && { ...budget } });
}

/** Those that are there: they are put over others. */
function numbersFrom(kept: Json | undefined, names: readonly string[]): Record<string, number> {
  const numbers: Record<string, number> = {};
  for (const name of names) {
    const value = objectOrEmpty(kept)[name];
    if (typeof value === "number") numbers[name] = value;
  }
  return numbers;
}

/** Messages; what is none is left out. */
export function messagesFrom(kept: Json | undefined): readonly Message[] {
  return Array.isArray(kept) ? kept.filter(isMessage) : [];
}

function isMessage(kept: unknown): kept is Message {
  if (typeof kept !== "object" || kept === null || !("role" in kept) || !("content" in kept)) return false;
  return kept.role === "user" && Array.isArray(kept.content) || typeof kept.content === "string";
}
