import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import type { AgentFile, AgentStep } from "../parse/agent_file.ts";
import type { AgentPath } from "../parse/agent_path.ts";
import { stepPlaces } from "../parse/agent_step_places.ts";
import type { AgentLine } from "./agent_lines.ts";
import { placedNeeds } from "./agent_needs.ts";
import type { CheckPlace } from "./check_places.ts";

interface NamedGadget {
  readonly what: "gadget" | "tool";
  readonly name: string;
  readonly path: AgentPath;
}

/** The gadgets that an agent names and its project does not have; `open` is called when it names one at all. */
export async function unknownGadgets(
  agent: AgentFile,
  open: () => Promise<CheckPlace | undefined>,
): Promise<readonly AgentLine[]> {
  const named = stepPlaces(agent.root).flatMap(({ step, path }) =>
    gadgetsOf(step).map((gadget) => ({ ...gadget, path: [...path, ...gadget.path] }))
  );
  const place = named.length === 0 ? undefined : await open();
  if (place === undefined) return [];
  const { catalog } = place;
  const isKnown = (name: string): boolean =>
    catalog.maybeFind(name) !== undefined || place.isServerTool(name);
  const names = catalog.entries.map(({ name }) => name);
  const needs = named.filter(({ name }) => !isKnown(name)).map(({ what, name, path }) => ({
    path,
    message: `unknown ${what} "${name}"${didYouMeanNames(name, names)}`,
  }));
  return needs.length === 0 ? [] : await placedNeeds(agent, needs);
}

function gadgetsOf(step: AgentStep): readonly NamedGadget[] {
  if (step.kind === "gadget") return [{ what: "gadget", name: step.name, path: ["gadget", "name"] }];
  if (step.kind !== "llm") return [];
  return (step.tools ?? []).map((name, index) => ({ what: "tool", name, path: ["llm", "tools", index] }));
}
