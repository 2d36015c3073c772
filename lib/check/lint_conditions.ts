import { slotsWritten } from "../conversation/step_slots.ts";
import type { AgentStep, ConditionOperation, SlotPath } from "../parse/agent_file.ts";
import { stepsIn } from "../parse/agent_tree.ts";
import type { AgentLook } from "./agent_look.ts";
import type { LintFinding } from "./lint_rule.ts";
import { slotWord } from "./lint_slots.ts";

/** `not-equals` holds for a slot that was never filled. */
export function lintNotEquals({ tree, places }: AgentLook): readonly LintFinding[] {
  return places.flatMap(({ step, path }) =>
    step.conditions.flatMap(({ slot, operation }, index): readonly LintFinding[] => {
      if (operation.operator !== "not-equals" || isSurelyThere(slot, tree.path(step.id))) return [];
      return [{
        path: [...path, "conditions", index],
        at: "key",
        code: "W631",
        message: `"not-equals" holds too when the slot ${slotWord(slot)} is missing`,
        hint: "Add a condition with exists: true, or set the slot before.",
      }];
    })
  );
}

/** A condition of a chain is checked when the chain begins: what the chain itself sets counts only where it begins again. */
export function lintChainGuard({ tree, graph, places, writes }: AgentLook): readonly LintFinding[] {
  return places.flatMap(({ step: { id, kind, conditions }, path }) => {
    if (kind !== "chain" || conditions.length === 0) return [];
    const inside = tree.descendants(id);
    if (graph.reachable([...inside].flatMap((each) => graph.next(each))).has(id)) return [];
    return conditions.flatMap(({ slot }, index): readonly LintFinding[] => {
      const by = writes.find((write) => inside.has(write.by?.id ?? "") && isSame(write.slot, slot))?.by;
      if (by === undefined) return [];
      const message =
        `the slot ${slotWord(slot)} is set inside the chain, by ${JSON.stringify(by.id)}, and the ` +
        "condition is checked only when the chain begins";
      return [{ path: [...path, "conditions", index], at: "key", code: "W632", message }];
    });
  });
}

/** Whether a condition on the way to a step asks for the slot, or a step before it always fills it. */
function isSurelyThere(slot: SlotPath, way: readonly AgentStep[]): boolean {
  return way.some((step, depth) => {
    const next = way[depth + 1];
    const before = step.kind === "chain" && next !== undefined
      ? step.steps.slice(0, step.steps.indexOf(next))
      : [];
    return before.some((each) => surelyWrites(each, slot)) ||
      step.conditions.some((condition) => isSame(condition.slot, slot) && asksForValue(condition.operation));
  });
}

function asksForValue({ operator, value }: ConditionOperation): boolean {
  return operator === "exists" ? value : operator === "equals" ? value !== null : operator !== "not-equals";
}

function surelyWrites(step: AgentStep, slot: SlotPath): boolean {
  if (step.conditions.length > 0) return false;
  return slotsWritten(step).some((write) => write.isSure && isSame(write.slot, slot)) ||
    stepsIn(step).some((each) => surelyWrites(each, slot));
}

function isSame(a: SlotPath, b: SlotPath): boolean {
  return a.destination === b.destination && a.name === b.name;
}
