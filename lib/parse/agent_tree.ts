import type { AgentStep } from "./agent_file.ts";

/** The steps of an agent by their ids. Of two with one id, which no file that was read has, the first counts. */
export interface AgentTree {
  /** In the order of the file, the root first. */
  readonly ids: readonly string[];
  find(id: string): AgentStep | undefined;
  /** The chain or combined step around a step; undefined for the root and for an unknown id. */
  parent(id: string): AgentStep | undefined;
  /** From the root to the step itself; empty for an unknown id. */
  path(id: string): readonly AgentStep[];
}

interface Place {
  readonly step: AgentStep;
  readonly parent: AgentStep | undefined;
}

/** Puts all steps in order: the root and everything inside it. */
export function agentTree(root: AgentStep): AgentTree {
  const places = new Map<string, Place>();
  addSteps(places, { step: root, parent: undefined });
  return {
    ids: [...places.keys()],
    find: (id) => places.get(id)?.step,
    parent: (id) => places.get(id)?.parent,
    path: (id) => pathOf(places, id),
  };
}

/** The steps that a chain or a combined step is made of; those of any other have none. */
export function stepsIn(step: AgentStep): readonly AgentStep[] {
  return step.kind === "chain" || step.kind === "combined" ? step.steps : [];
}

function addSteps(places: Map<string, Place>, place: Place): void {
  if (!places.has(place.step.id)) places.set(place.step.id, place);
  for (const step of stepsIn(place.step)) addSteps(places, { step, parent: place.step });
}

function pathOf(places: ReadonlyMap<string, Place>, id: string): readonly AgentStep[] {
  const path: AgentStep[] = [];
  for (let place = places.get(id); place !== undefined;) {
    path.push(place.step);
    place = place.parent && places.get(place.parent.id);
  }
  return path.reverse();
}
