// Conditions of steps (conversations.md 2.5).
import { isJsonObject, type Json } from "../core/core.ts";
import type { ConditionOperation, SlotPath, StepCondition } from "../parse/agent/agent.ts";

/** The first condition that does not hold, in words; undefined when all hold. */
export function failingCondition(
  conditions: readonly StepCondition[],
  slot: (path: SlotPath) => Json | undefined,
): string | undefined {
  const failing = conditions.find((condition) => !holds(condition.operation, slot(condition.slot)));
  return failing === undefined ? undefined : conditionText(failing);
}

/** `conversation.age greater-than 17` */
export function conditionText({ slot, operation }: StepCondition): string {
  return `${slot.destination}.${slot.name} ${operation.operator} ${JSON.stringify(operation.value)}`;
}

function holds(operation: ConditionOperation, value: Json | undefined): boolean {
  const isThere = value !== undefined && value !== null;
  switch (operation.operator) {
    case "exists":
      return isThere === operation.value;
    case "equals":
      return isThere ? isSame(value, operation.value) : operation.value === null;
    case "not-equals":
      return !isThere || !isSame(value, operation.value);
    case "greater-than":
      return compares(value, operation.value, (a, b) => a > b);
    case "less-than":
      return compares(value, operation.value, (a, b) => a < b);
    case "greater-than-or-equal":
      return compares(value, operation.value, (a, b) => a >= b);
    case "less-than-or-equal":
      return compares(value, operation.value, (a, b) => a <= b);
    default:
      return operation satisfies never;
  }
}

/** Scalars by their text, or as numbers where one is, so that 3.1 is "3.10"; lists and mappings deeply. */
function isSame(a: Json, b: Json): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item, b[index] ?? null));
  }
  if (isJsonObject(a) && isJsonObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && isSame(a[key] ?? null, b[key] ?? null));
  }
  const areScalars = [a, b].every((value) => typeof value !== "object" && value !== null);
  if (!areScalars) return a === b;
  const isOfNumber = [a, b].some((value) => typeof value === "number") &&
    [a, b].every((value) => DECIMAL.test(String(value)));
  return isOfNumber ? Number(a) === Number(b) : String(a) === String(b);
}

const DECIMAL = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)\s*$/;

function compares(
  value: Json | undefined,
  limit: number,
  holds: (value: number, limit: number) => boolean,
): boolean {
  if (typeof value === "number") return holds(value, limit);
  return typeof value === "string" && DECIMAL.test(value) && holds(Number(value), limit);
}
