import type { AgentStep } from "./agent_file.ts";

/** The step that a chain begins with, through the chains inside it; any other step is its own. A combined step counts as one step. */
export function firstLeaf(step: AgentStep): AgentStep {
  const first = step.kind === "chain" ? step.steps[0] : undefined;
  return first === undefined ? step : firstLeaf(first);
}
