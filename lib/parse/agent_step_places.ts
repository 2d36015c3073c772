import type { AgentStep, StepFlow } from "./agent_file.ts";
import type { AgentPath } from "./agent_path.ts";
import { stepsIn } from "./agent_tree.ts";

/** A step, and the way to it. */
export interface StepPlace {
  readonly step: AgentStep;
  readonly path: AgentPath;
}

/** All steps of an agent in the order of its file, the root first. */
export function stepPlaces(
  root: AgentStep,
  path: AgentPath = ["structure", "action"],
): readonly StepPlace[] {
  return [
    { step: root, path },
    ...stepsIn(root).flatMap((step, index) => stepPlaces(step, [...path, root.kind, index])),
  ];
}

/** Where a step may go on, and the way to it from the step. */
export interface PlacedFlow {
  readonly flow: StepFlow;
  readonly path: AgentPath;
}

/** What a step says of where it goes on: nothing means with the next one. */
export function flowsOf(step: AgentStep): readonly PlacedFlow[] {
  switch (step.kind) {
    case "flow":
      return [{ flow: step.flow, path: ["flow"] }];
    case "api-call":
    case "validator":
    case "extractor":
    case "gadget":
      return (["success", "fail"] as const).flatMap((key) => {
        const flow = step[key];
        return flow === undefined ? [] : [{ flow, path: [step.kind, key] }];
      });
    default:
      return [];
  }
}
