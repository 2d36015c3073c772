import type { StepFlow } from "../parse/agent/agent.ts";
import type { BranchWrite } from "./slots.ts";

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
