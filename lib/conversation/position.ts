import type { Json, JsonObject, Words } from "../core/core.ts";
import type { StepFlow } from "../parse/agent/agent.ts";
import { gotoProblem } from "../parse/agent/tree.ts";
import type { BranchWrite } from "./slots.ts";
import type { StepTree } from "./step_tree.ts";

/** Where a conversation waits (conversations.md 2.2): at a step, or at one in each branch of a combined step. */
export type Position =
  | { readonly at: "held" | "failed"; readonly step: string }
  | {
    readonly at: "combined";
    readonly step: string;
    /** In the order of the file. */
    readonly branches: readonly BranchPosition[];
  };

/** Where a branch of a combined step is while another one waits. */
export interface BranchPosition {
  /** Of the child. */
  readonly id: string;
  /** What it has written; nobody else sees it until all branches are done. */
  readonly writes: readonly BranchWrite[];
  /** Where it waits. Absent: it is done. */
  readonly position?: Position;
  /** Where it wants to go on when all are done. */
  readonly flow?: BranchFlow;
}

/** A flow that leaves its branch, and the step that says so. */
export interface BranchFlow {
  readonly from: string;
  readonly flow: StepFlow;
}

/** The steps that wait for the person. */
export function heldSteps(position: Position): readonly string[] {
  switch (position.at) {
    case "held":
      return [position.step];
    case "failed":
      return [];
    case "combined":
      return position.branches.flatMap(({ position }) => position === undefined ? [] : heldSteps(position));
    default:
      return position satisfies never;
  }
}

// Another agent file may have come since a conversation stopped (conversations.md 2.2): whether it can go on in that one.

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

/** Where a conversation is between two turns. */
export interface ConversationState {
  readonly status: "held" | "completed" | "failed";
  /** SHA-256 of the agent file that the last turn ran. */
  readonly hash: string;
  /** Absent when it is completed. */
  readonly position?: Position;
  /** Its own slots. */
  readonly slots: JsonObject;
  /** How often each step was come to: the visit is a part of the keys of its effects. */
  readonly visits: Readonly<Record<string, number>>;
  /** Of `failed`. */
  readonly error?: string;
  /** What was said at the start, when it failed before a step took it: the first hold does. */
  readonly waiting?: Words;
}

/** A state as a checkpoint has it: nobody else writes there. */
export function keptState(state: Json): ConversationState;
export function keptState(state: unknown): unknown {
  return state;
}
