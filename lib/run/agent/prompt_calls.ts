// Prompts that are asked by calls (calls.md 5): the turns of each are steps of the run, below the key of its call.
import { isRecord, type Json, type Model, ModelError, orAborted, PromptError } from "../../core/core.ts";
import { dotpromptSettings } from "../../prompt/dotprompt/fields.ts";
import { type PromptFileProblem, promptTrouble } from "../../prompt/prompt_trouble.ts";
import type { AnyPrompt } from "../../prompt/prompt.ts";
import { promptNotFound, promptPath, type PromptRegistry } from "../../prompt/registry.ts";
import { AgentError } from "./call_state.ts";
import { agentsOfRun, answerOf, type RunAgentsOptions } from "./prompt_run.ts";
import { CallError } from "../calls/step.ts";
import { CallChains, type ContainerCall, type Containers } from "../calls/container.ts";
import type { AgentDefinition } from "./make_agent.ts";

/** The prompts that calls may ask, and what they are asked with. */
export interface CalledPrompts extends Pick<RunAgentsOptions, "tools" | "budget" | "calls" | "wake"> {
  readonly registry: PromptRegistry;
  /** What could not be taken, by file and line. */
  readonly problems: readonly PromptFileProblem[];
  /** Who is asked. */
  agentOf(prompt: AnyPrompt): AgentDefinition | Promise<AgentDefinition>;
  /** The model that a prompt names; undefined: that of the run, or the default. */
  modelOf(name: string | undefined): Model | Promise<Model>;
}

/** More prompts inside each other than anybody means. */
const MAX_DEPTH = 8;

/**
 * Asks prompts for the calls of a run.
 *
 * @param open gives the prompts; not before the first call.
 */
export function promptCalls(
  open: () => Promise<CalledPrompts>,
  { within }: {
    /** The prompt that the run itself asks. */
    readonly within?: string;
  } = {},
): Required<Pick<Containers, "prompt">> {
  const chains = new CallChains("dialog[", within === undefined ? [] : [within]);
  let opened: Promise<CalledPrompts> | undefined;
  return {
    async prompt(call) {
      try {
        const { path, args } = wanted(call.parameters);
        using _link = chains.add(chainWith(path, chains.above(call.keyPrefix)), call.keyPrefix);
        const prompts = await orAborted(opened ??= open(), call.signal);
        return await ask(call, { prompts, prompt: findPrompt(path, prompts), args });
      } catch (error) {
        throw failureOf(error);
      }
    },
  };
}

async function ask(
  { run, keyPrefix, signal }: ContainerCall,
  { prompts, prompt, args }: {
    readonly prompts: CalledPrompts;
    readonly prompt: AnyPrompt;
    readonly args: Readonly<Record<string, unknown>>;
  },
): Promise<Json> {
  const make = agentsOfRun(run, { ...prompts, keyPrefix, keepsFailure: true }); // whoever calls goes on with it
  const definition = await orAborted(prompts.agentOf(prompt), signal);
  const agent = make(definition, () => prompts.modelOf(dotpromptSettings(prompt).model));
  return answerOf(await agent.open().ask(prompt, args, { signal }), prompt);
}

/** The gadget's schema has looked at them. */
function wanted(
  { path, args }: ContainerCall["parameters"],
): { readonly path: string; readonly args: Readonly<Record<string, unknown>> } {
  return { path: promptPath(String(path), "registry"), args: isRecord(args) ? args : {} };
}

function findPrompt(path: string, { registry, problems }: CalledPrompts): AnyPrompt {
  if (registry.has(path)) return registry.get(path);
  const known = registry.keys();
  const { isThere, lines, broken } = promptTrouble(path, problems);
  const what = isThere
    ? `prompt "${path}" cannot be used:`
    : known.length + broken.size === 0
    ? `prompt "${path}" not found: the project has no prompts`
    : promptNotFound(path, known, broken);
  throw new PromptError([what, ...lines].join("\n"), { code: "registry" });
}

/** A failure with the code that its call is to have. */
function failureOf(error: unknown): unknown {
  if (error instanceof PromptError) return new CallError(error.message, "input");
  const cause = error instanceof AgentError ? error.cause : error;
  if (!(cause instanceof ModelError) || cause.code !== "permission") return error;
  const message = error instanceof Error ? error.message : cause.message;
  return new CallError(message, "permission", cause.flag);
}

/** What prompts run inside of, with this one. @throws {CallError} for a prompt inside of itself, and for too many inside each other */
function chainWith(path: string, above: readonly string[]): readonly string[] {
  const chain = [...above, path];
  const words = chain.join(" -> ");
  if (above.includes(path)) throw new CallError(`prompt "${path}" runs inside of itself: ${words}`, "failed");
  if (chain.length <= MAX_DEPTH) return chain;
  throw new CallError(`at most ${MAX_DEPTH} prompts run inside each other: ${words}`, "failed");
}
