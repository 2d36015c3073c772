import type { AgentFile, AgentStep, StepFlow, StepOf } from "../parse/agent/agent.ts";
import { type AgentTree, agentTree, firstLeaf, stepsIn } from "../parse/agent/tree.ts";

/** The steps of an agent, and where each stands among the others. */
export interface StepTree extends AgentTree {
  /** Where a step stands in the chain or combined step around it, from 0; 0 for the root. @throws {RangeError} for an unknown id */
  index(id: string): number;
  /** What a chain begins with, through chains inside it; any other step is its own. @throws {RangeError} for an unknown id */
  firstLeaf(id: string): AgentStep;
  /** The ids of a step and of all steps inside it; empty for an unknown id. */
  descendants(id: string): ReadonlySet<string>;
  /** The innermost chain around a step, the step itself left out. */
  chainAround(id: string): StepOf<"chain"> | undefined;
  /** The innermost combined step around a step, the step itself left out, and its branch in which the step is. */
  branchAround(
    id: string,
  ): { readonly combined: StepOf<"combined">; readonly branch: AgentStep } | undefined;
}

/** Puts the steps of an agent in order. */
export function stepTree(agent: Pick<AgentFile, "root">): StepTree {
  const tree = agentTree(agent.root);
  const indexes = indexesIn(agent.root);
  const known = (id: string): AgentStep => {
    const step = tree.find(id);
    if (step === undefined) throw new RangeError(`There is no step ${JSON.stringify(id)}`);
    return step;
  };
  return {
    ...tree,
    index: (id) => indexes.get(known(id)) ?? 0,
    firstLeaf: (id) => firstLeaf(known(id)),
    descendants: (id) => idsIn(tree.find(id)),
    chainAround: (id) => tree.path(id).slice(0, -1).findLast((step) => step.kind === "chain"),
    branchAround: (id) => branchAround(tree.path(id)),
  };
}

function indexesIn(root: AgentStep): ReadonlyMap<AgentStep, number> {
  const indexes = new Map<AgentStep, number>();
  const add = (step: AgentStep, index: number) => {
    indexes.set(step, index);
    stepsIn(step).forEach(add);
  };
  add(root, 0);
  return indexes;
}

function idsIn(step: AgentStep | undefined): ReadonlySet<string> {
  const ids = new Set<string>();
  const add = (inside: AgentStep) => {
    ids.add(inside.id);
    stepsIn(inside).forEach(add);
  };
  if (step !== undefined) add(step);
  return ids;
}

function branchAround(path: readonly AgentStep[]): ReturnType<StepTree["branchAround"]> {
  const at = path.slice(0, -1).findLastIndex((step) => step.kind === "combined");
  const [combined, branch] = at === -1 ? [] : path.slice(at, at + 2);
  return combined?.kind === "combined" && branch !== undefined ? { combined, branch } : undefined;
}

/** Where it goes on behind a leaf that has done what it does. `hold` waits for the person first. */
export type StepOutcome = { readonly kind: "next"; readonly isHeld?: boolean } | {
  readonly kind: "flow";
  readonly flow: StepFlow;
};
