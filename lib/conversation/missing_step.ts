// Another agent file may have come since a conversation stopped (conversations.md 2.2): whether it can go on in that one.

import { gotoProblem } from "../parse/agent/tree.ts";
import type { BranchPosition, Position } from "./position.ts";
import type { StepTree } from "./step_tree.ts";

/** The first step which a position needs and that the agent does not have, or not in the same branch; undefined when it can be gone on from. */
export function missingStep(tree: StepTree, position: Position, branch?: string): string | undefined {
  const { at, step: id } = position;
  const step = tree.find(id);
  const isThere = step !== undefined && step.kind !== "chain" && tree.branchAround(id)?.branch.id === branch;
  if (!isThere || (at === "combined" && step.kind !== "combined")) return id;
  if (at !== "combined") return undefined;
  return position.branches.map((inside) => missingIn(tree, id, inside)).find((missing) =>
    missing !== undefined
  );
}

function missingIn(
  tree: StepTree,
  combined: string,
  { id, position, flow }: BranchPosition,
): string | undefined {
  if (tree.parent(id)?.id !== combined) return id;
  if (position !== undefined) return missingStep(tree, position, id);
  if (flow === undefined || !("goto" in flow.flow)) return undefined;
  const target = flow.flow.goto;
  return gotoProblem(tree, { from: combined, target }) === undefined ? undefined : target;
}
