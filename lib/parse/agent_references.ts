// What the parts of an agent say of each other: ids that are there once, jumps that can be taken, constants that are there.

import type { AgentPrompt, AgentStep, StepFlow } from "./agent_file.ts";
import { didYouMean } from "./agent_near.ts";
import { type AgentPath, agentPathText } from "./agent_path.ts";
import type { AgentReading } from "./agent_reading.ts";
import type { AgentStructure } from "./agent_root.ts";
import { flowsOf, stepPlaces } from "./agent_step_places.ts";
import { type AgentTree, agentTree } from "./agent_tree.ts";
import { gotoProblem, repeatProblem } from "./goto_problem.ts";

/** Notes what does not fit together. */
export function checkAgentReferences({ root, constants }: AgentStructure, reading: AgentReading): void {
  const tree = agentTree(root);
  const first = new Map<string, AgentPath>();
  for (const { step, path } of stepPlaces(root)) {
    if (reading.isFull) return; // each unknown id is compared with all others
    checkId(step.id, path, { first, reading });
    for (const { flow, path: at } of flowsOf(step)) {
      checkFlow(flow, [...path, ...at], { from: step.id, tree, reading });
    }
    promptsOf(step).forEach((prompt, index) => {
      checkConstant(prompt, [...path, step.kind, "prompts", index], { constants, reading });
    });
  }
}

function checkId(
  id: string,
  path: AgentPath,
  { first, reading }: { readonly first: Map<string, AgentPath>; readonly reading: AgentReading },
): void {
  const before = first.get(id);
  if (before === undefined) first.set(id, path);
  else if (id !== "") {
    const message = `step id ${JSON.stringify(id)} is already used at ${agentPathText(before)}`;
    reading.tell([...path, "id"], { code: "E604", message });
  }
}

function checkFlow(
  flow: StepFlow,
  path: AgentPath,
  { from, tree, reading }: {
    readonly from: string;
    readonly tree: AgentTree;
    readonly reading: AgentReading;
  },
): void {
  if ("action" in flow) {
    const message = flow.action === "repeat" ? repeatProblem(tree, from) : undefined;
    if (message !== undefined) reading.tell(path, { code: "E605", message, at: "key" });
  } else if (!flow.goto.includes("{{") && flow.goto !== "") {
    const message = gotoProblem(tree, { from, target: flow.goto });
    if (message !== undefined) reading.tell([...path, "goto"], { code: "E605", message });
  }
}

function checkConstant(
  prompt: AgentPrompt,
  path: AgentPath,
  { constants, reading }: Pick<AgentStructure, "constants"> & { readonly reading: AgentReading },
): void {
  if (prompt.role !== "constant" || prompt.name === "" || Object.hasOwn(constants, prompt.name)) return;
  const near = didYouMean(prompt.name, Object.keys(constants));
  const message = `there is no constant ${JSON.stringify(prompt.name)}${near}`;
  reading.tell([...path, "constant"], { code: "E605", message });
}

function promptsOf(step: AgentStep): readonly AgentPrompt[] {
  return "prompts" in step ? step.prompts : [];
}
