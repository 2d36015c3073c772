import {
  type SlotRead,
  slotsInText,
  slotsRead,
  slotsWritten,
  type SlotTarget,
} from "../conversation/step_slots.ts";
import { jsonTexts, type StepText, stepTexts } from "../conversation/step_texts.ts";
import { type StepTree, stepTree } from "../conversation/step_tree.ts";
import type { AgentFile, AgentStep } from "../parse/agent_file.ts";
import type { FilePath } from "../parse/shape/shape.ts";
import { type StepPlace, stepPlaces } from "../parse/agent_tree.ts";
import { AgentGraph } from "./agent_graph.ts";

/** An agent as the lint rules look at it; all ways begin at the top of the file. */
export interface AgentLook {
  readonly agent: AgentFile;
  readonly tree: StepTree;
  readonly graph: AgentGraph;
  readonly places: readonly StepPlace[];
  /** All texts with placeholders; of the constants those that prompts name. */
  readonly texts: readonly StepText[];
  readonly reads: readonly SlotRead[];
  /** Of steps, and of the slots that are filled before them. */
  readonly writes: readonly (SlotTarget & { readonly by: AgentStep | undefined })[];
}

/** Gathers what several rules look at. */
export function lookAtAgent(agent: AgentFile): AgentLook {
  const tree = stepTree(agent);
  const places = stepPlaces(agent.root);
  const constants = constantTexts(agent, places);
  const below = <Part extends { readonly path: FilePath }>(path: FilePath, part: Part): Part => ({
    ...part,
    path: [...path, ...part.path],
  });
  return {
    agent,
    tree,
    places,
    graph: new AgentGraph(tree),
    texts: [
      ...constants,
      ...places.flatMap(({ step, path }) => stepTexts(step).map((text) => below(path, text))),
    ],
    reads: [
      ...constants.flatMap(slotsInText),
      ...places.flatMap(({ step, path }) => slotsRead(step).map((read) => below(path, read))),
    ],
    writes: [
      ...agent.preloads.map(({ name }, index) => ({
        slot: { destination: "conversation" as const, name },
        path: ["structure", "slots", index, "name"],
        isSure: false,
        by: undefined,
      })),
      ...places.flatMap(({ step, path }) =>
        slotsWritten(step).map((write) => ({ ...below(path, write), by: step }))
      ),
    ],
  };
}

function constantTexts(
  { constants }: AgentFile,
  places: readonly StepPlace[],
): readonly StepText[] {
  const named = new Set(
    places.flatMap(({ step }) =>
      "prompts" in step
        ? step.prompts.flatMap((prompt) => prompt.role === "constant" ? [prompt.name] : [])
        : []
    ),
  );
  return [...named].flatMap((name) => jsonTexts(constants[name], ["structure", "constants", name]));
}
