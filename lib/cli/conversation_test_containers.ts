import type { AgentTree } from "../parse/agent_tree.ts";
import type { ContainerCall, Containers } from "../run/container.ts";

/** Prompts and documents that run inside of a conversation, each with what is made for the step in which it runs. */
export function stepContainers(
  tree: AgentTree,
  containersOf: (step: string) => Containers,
): Containers {
  const made = new Map<string, Containers>();
  const find = (call: ContainerCall): Containers => {
    const step = stepOf(call, tree);
    let containers = made.get(step);
    if (containers === undefined) made.set(step, containers = containersOf(step));
    return containers;
  };
  return {
    prompt: (call) => needed(find(call).prompt)(call),
    document: (call) => needed(find(call).document)(call),
  };
}

/** The keys of what is done in a step begin with its place: `main/ask#2/`. */
function stepOf({ keyPrefix }: ContainerCall, tree: AgentTree): string {
  const places = tree.ids.map((id) => ({ id, place: tree.path(id).map((step) => step.id).join("/") }));
  const around = places.filter(({ place }) =>
    keyPrefix.startsWith(place) && /^(?:#\d+)?\//.test(keyPrefix.slice(place.length))
  );
  const [step] = around.sort((a, b) => b.place.length - a.place.length);
  if (step === undefined) throw new Error(`${JSON.stringify(keyPrefix)} is in no step`);
  return step.id;
}

function needed<Contained>(contained: Contained | undefined): Contained {
  if (contained === undefined) throw new Error("nothing can be run inside of this conversation");
  return contained;
}
