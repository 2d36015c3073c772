import { PromptError } from "../core/prompt_error.ts";
import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { definePrompt } from "../prompt/define_prompt.ts";
import { DEFAULT_LIMITS, LIMIT_NAMES, limitProblem } from "../prompt/limits.ts";
import type { AgentLimits } from "../prompt/limits.ts";
import type { AnyPrompt } from "../prompt/prompt_type.ts";
import { agentOf } from "./agent.ts";
import type { Agent, AgentHost } from "./agent.ts";

/** An agent as it is written. */
export interface AgentDefinition {
  readonly name: string;
  /** A text is said as it is. */
  readonly system: AnyPrompt | string;
  /** What is not given is as in prompts.md 9. */
  readonly limits?: Partial<AgentLimits>;
  /** What the provider takes besides, in its own names. */
  readonly modelArgs?: Readonly<Record<string, unknown>>;
  /** Said behind the system prompt, as it is. Default: nothing. */
  readonly addedText?: string;
}

/** An agent that lives at a host. @throws {PromptError} `define`, for a limit that is none */
export function makeAgent(definition: AgentDefinition, host: AgentHost): Agent {
  const { name, limits = {}, modelArgs = {}, addedText = "" } = definition;
  for (const [limit, value] of Object.entries(limits)) {
    const problem = LIMIT_NAMES.includes(limit)
      ? limitProblem(limit, value)
      : `unknown limit "${limit}"${didYouMeanNames(limit, LIMIT_NAMES)}`;
    if (problem !== undefined) throw new PromptError(`agent "${name}": ${problem}`, { code: "define" });
  }
  return agentOf({
    name,
    system: systemPromptOf(definition),
    limits: { ...DEFAULT_LIMITS, ...limits },
    modelArgs,
    addedText,
    host,
  });
}

/** What an agent's dialogs begin with: a text becomes a prompt that renders to exactly that. */
export function systemPromptOf({ name, system }: Pick<AgentDefinition, "name" | "system">): AnyPrompt {
  return typeof system === "string" ? literalPrompt(`${name}/system`, system) : system;
}

function literalPrompt(path: string, text: string): AnyPrompt {
  return definePrompt({ path, template: text.replaceAll(/[{}]/g, "$&$&") });
}
