// Where a step may jump to (conversations.md 2.4). A file is checked by it when it is read, a target out of a slot when it is taken.

import { didYouMean } from "./agent_near.ts";
import type { AgentStep } from "./agent_file.ts";
import type { AgentTree } from "./agent_tree.ts";
import { firstLeaf } from "./first_leaf.ts";

/** What is wrong with a jump, without the place; undefined when it can be taken. */
export function gotoProblem(
  tree: AgentTree,
  { from, target }: { readonly from: string; readonly target: string },
): string | undefined {
  const path = tree.path(target);
  const step = path.at(-1);
  if (step === undefined) return `there is no step ${quoted(target)}${didYouMean(target, targets(tree))}`;
  const branched = path.find((around) =>
    around.kind === "combined" && !isWithin(tree, { around, from, path })
  );
  if (branched !== undefined) {
    const both = quoted(branched.id);
    return `${quoted(target)} is inside the combined step ${both}; go to ${both} instead`;
  }
  if (step.kind !== "chain") return undefined;
  const first = quoted(firstLeaf(step).id);
  return `${quoted(target)} is a chain and cannot be a goto target; use its first step ${first}`;
}

/** What is wrong with a `repeat`, without the place; undefined when a chain is around the step. */
export function repeatProblem(tree: AgentTree, from: string): string | undefined {
  const hasChain = tree.path(from).some((step) => step.kind === "chain");
  return hasChain ? undefined : `"repeat" needs a chain around the step`;
}

/** Whether a jump to the end of `path` stays in one branch of a combined step on it, or ends at that step itself. */
function isWithin(
  tree: AgentTree,
  { around, from, path }: {
    readonly around: AgentStep;
    readonly from: string;
    readonly path: readonly AgentStep[];
  },
): boolean {
  const branch = path[path.indexOf(around) + 1];
  return branch === undefined || tree.path(from).includes(branch);
}

function targets(tree: AgentTree): readonly string[] {
  return tree.ids.filter((id) => tree.find(id)?.kind !== "chain");
}

function quoted(id: string): string {
  return JSON.stringify(id);
}
