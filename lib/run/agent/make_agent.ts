import {
  didYouMeanNames,
  type Effort,
  EFFORT_RULE,
  isRecord,
  type Message,
  PromptError,
} from "../../core/core.ts";
import { definePrompt } from "../../prompt/define_prompt.ts";
import { type AgentLimits, DEFAULT_LIMITS, LIMIT_NAMES, limitProblem } from "../../prompt/limits.ts";
import type { AnyPrompt } from "../../prompt/prompt.ts";
import { isPrompt } from "../../prompt/parts.ts";
import { foundValue } from "../../schema/issue.ts";
import { type Agent, type AgentHost, Dialog } from "./agent.ts";

/** An agent as it is written. */
export interface AgentDefinition {
  readonly name: string;
  /** A text is said as it is. */
  readonly system: AnyPrompt | string;
  /** What is not given is as in prompts.md 9. */
  readonly limits?: Partial<AgentLimits>;
  /** How hard it thinks, where a prompt says nothing of it; over `reasoning` of `modelArgs`. Default: the provider's. */
  readonly effort?: Effort;
  /** What the provider takes besides, in its own names. */
  readonly modelArgs?: Readonly<Record<string, unknown>>;
  /** Said behind the system prompt, as it is. Default: nothing. */
  readonly addedText?: string;
  /** What its dialogs begin with behind that. Default: nothing. */
  readonly history?: readonly Message[];
}

/** An agent that lives at a host. @throws {PromptError} `define`, for a system prompt, arguments or a limit that are none */
export function makeAgent(definition: AgentDefinition, host: AgentHost): Agent {
  const { name, effort, limits = {}, modelArgs = {}, addedText = "", history = [] } = definition;
  const problem = definitionProblem({ ...definition, limits, modelArgs });
  if (problem !== undefined) throw new PromptError(`agent "${name}": ${problem}`, { code: "define" });
  const system = systemPromptOf(definition);
  const parts = { name, effort, limits: { ...DEFAULT_LIMITS, ...limits }, modelArgs, host };
  return {
    name,
    open(args = {}) {
      const content = [system.render(args), addedText].filter((text) => text !== "").join("\n\n");
      const first: Message = { role: "system", content };
      const entries = [
        ...(content === "" ? [] : [{ message: first, prompt: system.path }]),
        ...history.map((message) => ({ message, prompt: undefined })),
      ];
      return new Dialog(parts, { topPrompt: system, entries, parent: null });
    },
  };
}

/** The types say all of this; whoever has none of them is told before anything is asked. */
function definitionProblem(
  { system, effort, limits, modelArgs }: Readonly<Record<"system" | "limits" | "modelArgs", unknown>> & {
    readonly effort?: unknown;
  },
): string | undefined {
  if (typeof system !== "string" && !isPrompt(system)) {
    return `system must be a prompt, or a string that is said as it is, found ${systemFound(system)}`;
  }
  if (effort !== undefined && !EFFORT_RULE.isFine(effort)) {
    return `effort must be ${EFFORT_RULE.wanted}, found ${foundValue(effort)}`;
  }
  if (!isRecord(modelArgs)) {
    return `modelArgs must be an object such as { temperature: 0 }, found ${foundValue(modelArgs)}`;
  }
  if (!isRecord(limits)) {
    return `limits must be an object such as { exceptionRetries: 3 }, found ${foundValue(limits)}`;
  }
  for (const [limit, value] of Object.entries(limits)) {
    const problem = LIMIT_NAMES.includes(limit)
      ? limitProblem(limit, value)
      : `unknown limit "${limit}"${didYouMeanNames(limit, LIMIT_NAMES)}`;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function systemFound(system: unknown): string {
  const hint = isRecord(system) && "template" in system ? ": definePrompt makes a prompt of it" : "";
  return `${foundValue(system)}${hint}`;
}

/** What an agent's dialogs begin with: a text becomes a prompt that renders to exactly that. */
export function systemPromptOf({ name, system }: Pick<AgentDefinition, "name" | "system">): AnyPrompt {
  return typeof system === "string" ? literalPrompt(`${name}/system`, system) : system;
}

function literalPrompt(path: string, text: string): AnyPrompt {
  return definePrompt({ path, template: text.replaceAll(/[{}]/g, "$&$&") });
}
