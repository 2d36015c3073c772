import type { AgentLook } from "./agent_look.ts";
import { isHolding } from "./lint_flow.ts";
import type { LintFinding } from "./lint_rule.ts";
import { slotWord } from "./lint_slots.ts";

/** A step that waits while others are done beside it. */
export function lintHoldInCombined({ tree, places }: AgentLook): readonly LintFinding[] {
  return places.flatMap(({ step, path }): readonly LintFinding[] => {
    const around = tree.branchAround(step.id);
    if (around === undefined || !isHolding(step)) return [];
    const both = JSON.stringify(around.combined.id);
    return [{
      path: [...path, step.kind, "hold"],
      at: "key",
      code: "W629",
      message: `one answer goes to every step that waits in the combined step ${both}`,
      hint: "Put steps that wait into a chain.",
    }];
  });
}

/** A slot that two branches write. */
export function lintBranchWrites(look: AgentLook): readonly LintFinding[] {
  return look.places.flatMap(({ step }) => step.kind === "combined" ? branchWrites(step.steps, look) : []);
}

function branchWrites(
  branches: readonly { readonly id: string }[],
  { tree, writes }: AgentLook,
): readonly LintFinding[] {
  const first = new Map<string, string>();
  return branches.flatMap(({ id }) => {
    const inside = tree.descendants(id);
    return writes.flatMap(({ slot, path, by }): readonly LintFinding[] => {
      if (by === undefined || !inside.has(by.id)) return [];
      const before = first.get(slotWord(slot)) ?? id;
      first.set(slotWord(slot), before);
      const message =
        `two branches write the slot ${slotWord(slot)}: what ${JSON.stringify(id)} writes replaces ` +
        `what ${JSON.stringify(before)} writes`;
      return before === id ? [] : [{ path, code: "W630", message }];
    });
  });
}
