import { dotpromptSettings } from "../prompt/dotprompt/fields.ts";
import type { AnyPrompt } from "../prompt/prompt.ts";
import type { AgentDefinition } from "../run/make_agent.ts";

/** Whoever is asked a prompt where no agent is named: nobody in particular, with what the prompt's file says of its model. */
export function promptAgent(prompt: AnyPrompt): AgentDefinition {
  return { name: prompt.path, system: "", modelArgs: dotpromptSettings(prompt).config };
}
