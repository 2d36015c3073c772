// What an agent needs and this run of it would not have. Told before its first step is made: the turn that comes to it may be the tenth.
import { preloadSlots } from "../conversation/preload_slots.ts";
import type { JsonObject } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import type { AgentFile } from "../parse/agent/agent.ts";
import { stepPlaces } from "../parse/agent/tree.ts";
import { readAgentYaml } from "../parse/agent/yaml.ts";
import { type FilePath, pathText } from "../parse/shape/shape.ts";
import type { AgentLine } from "./agent_lines.ts";
import { type AgentMeets, type Need, StepNeeds } from "./step_needs.ts";

/** What an agent will meet. */
export interface AgentNeedsOptions extends AgentMeets {
  /** What its slots are to be filled from; absent when they are filled already. */
  readonly context: JsonObject | undefined;
}

/** Something that is missing, at its place. */
export type AgentNeed = AgentLine & Required<Pick<Need, "isOpen">>;

/** Everything that can be known to be missing, slots first, then in the order of the file. */
export async function agentNeeds(
  agent: AgentFile,
  options: AgentNeedsOptions,
): Promise<readonly AgentNeed[]> {
  const steps = new StepNeeds(options);
  const needs: Need[] = [...preloadNeeds(agent, options)];
  for (const { step, path } of stepPlaces(agent.root)) {
    needs.push(...(await steps.of(step)).map((need) => ({ ...need, path: [...path, ...need.path] })));
  }
  return needs.length === 0 ? [] : await placedNeeds(agent, needs);
}

/** `slots[0]: there is no module "x"` (conversations.md 2.11) */
function preloadNeeds(agent: AgentFile, { context }: AgentNeedsOptions): readonly Need[] {
  try {
    if (context !== undefined) preloadSlots(agent, context);
    return [];
  } catch (error) {
    const [, index = "0", message = ""] = /^slots\[(\d+)\]: (.*)$/s.exec(messageOf(error)) ?? [];
    if (message === "") throw error;
    return [{ path: ["structure", "slots", Number(index)], message }];
  }
}

/** Needs as errors, each with its place in the file. */
async function placedNeeds(
  { file, text }: AgentFile,
  needs: readonly Need[],
): Promise<readonly AgentNeed[]> {
  const yaml = await readAgentYaml(text);
  const placeOf = (path: FilePath) => yaml.place(path, "value");
  return needs.map(({ path, message, isOpen = false }) => ({
    file,
    isOpen,
    ...placeOf(path),
    path: pathText(path),
    message,
    severity: "error",
  }));
}
