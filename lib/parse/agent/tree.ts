import { nearestName, orMeant } from "../../core/core.ts";
import type { AgentStep, StepFlow } from "./agent.ts";
import type { FilePath } from "../shape/shape.ts";

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

/** The step that a chain begins with, through the chains inside it; any other step is its own. A combined step counts as one step. */
export function firstLeaf(step: AgentStep): AgentStep {
  const first = step.kind === "chain" ? step.steps[0] : undefined;
  return first === undefined ? step : firstLeaf(first);
}

/** A step, and the way to it. */
export interface StepPlace {
  readonly step: AgentStep;
  readonly path: FilePath;
}

/** All steps of an agent in the order of its file, the root first. */
export function stepPlaces(
  root: AgentStep,
  path: FilePath = ["structure", "action"],
): readonly StepPlace[] {
  return [
    { step: root, path },
    ...stepsIn(root).flatMap((step, index) => stepPlaces(step, [...path, root.kind, index])),
  ];
}

/** Where a step may go on, and the way to it from the step. */
export interface PlacedFlow {
  readonly flow: StepFlow;
  readonly path: FilePath;
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

// Where a step may jump to (conversations.md 2.4). A file is checked by it when it is read, a target out of a slot when it is taken.

/** What is wrong with a jump, without the place; undefined when it can be taken. */
export function gotoProblem(
  tree: AgentTree,
  { from, target }: { readonly from: string; readonly target: string },
): string | undefined {
  const path = tree.path(target);
  const step = path.at(-1);
  if (step === undefined) {
    return `there is no step ${quoted(target)}${orMeant(nearestName(target, targets(tree)))}`;
  }
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
