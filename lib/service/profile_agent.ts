import type { AgentProfile } from "../catalog/agent_profile.ts";
import type { PromptRegistry } from "../prompt/registry.ts";
import type { AnyPrompt } from "../prompt/prompt.ts";
import type { AgentDefinition } from "../run/make_agent.ts";

/** The agent of a profile, with its system prompt. @throws {PromptError} when the registry does not have that */
export function profileAgent(
  { name, systemPrompt, system, limits, modelArgs }: AgentProfile,
  registry: PromptRegistry,
): AgentDefinition {
  return { name, system: systemOf({ systemPrompt, system }, registry), limits, modelArgs };
}

function systemOf(
  { systemPrompt, system }: Pick<AgentProfile, "systemPrompt" | "system">,
  registry: PromptRegistry,
): AnyPrompt | string {
  return systemPrompt === null ? system ?? "" : registry.get(systemPrompt);
}
