// A prompt or a tactic from its opening to its events: what the command line and a server do with it in the same way.
import {
  type Effort,
  effortFrom,
  type Json,
  type JsonObject,
  type Message,
  objectOrEmpty,
  type RunEvent,
  type Words,
  wordsFrom,
} from "../../../core/core.ts";
import { type ProjectSettings } from "../../../project/project.ts";
import type { AnyPrompt } from "../../../prompt/prompt.ts";
import { type RunAgentsOptions, runPrompt, runTacticRun } from "../../../run/agent/prompt_run.ts";
import type { Budget } from "../../../run/budget.ts";
import type { CallLimits } from "../../../run/calls/graph.ts";
import { catalogTools } from "../../../run/turn/offered.ts";
import type { AgentDefinition } from "../../../run/agent/make_agent.ts";
import type { RunOptions } from "../../../run/run.ts";
import { ChangedError } from "../../exit_code.ts";
import type { FoundPrompt } from "./find.ts";
import { budgetFrom, limitsFrom, messagesFrom, numberFrom, textFrom } from "../../input/kept_input.ts";
import { type OpenedPromptRun, profileAgent } from "./open.ts";
import { engineOptions, type Keeping } from "../../start/ready_run.ts";
import { stoppableGadget } from "../../start/stoppable.ts";
import { limitsOf } from "../../input/budget.ts";

/** What holds of a prompt, a tactic or an agent for the whole run. */
export function openedInput(
  { found, model, modelName }: OpenedPromptRun,
  { project, flags }: {
    readonly project: ProjectSettings;
    readonly flags: { readonly concurrency?: number; readonly timeout?: number };
  },
): Pick<PromptRunInput, "kind" | "contractHash" | "model" | "modelId" | "limits" | "startedAt"> {
  const { timeoutMs, resultBytes } = limitsOf(project, flags);
  return {
    kind: found.kind,
    ...(found.kind === "prompt" && { contractHash: found.prompt.info().contractHash }),
    ...(model === undefined ? {} : { model: modelName ?? model.id, modelId: model.id }),
    limits: {
      timeoutMs,
      resultBytes,
      concurrency: flags.concurrency,
    },
    startedAt: Date.now(),
  };
}

/** Those that are rendered with the values; none of a tactic, which is given whatever there is. */
export function renderedPrompts(
  { found, agent: { system } }: OpenedPromptRun,
  { say }: { readonly say: Words | undefined },
): readonly AnyPrompt[] {
  if (found.kind === "tactic") return [];
  return say !== undefined || typeof system === "string" || system === found.prompt
    ? [found.prompt]
    : [found.prompt, system];
}

/** Runs it. */
export function promptEvents(means: PromptRunMeans): AsyncIterable<RunEvent> {
  const { input, opened: { found, opened, agent, model, modelOf } } = means;
  const common = promptRunOptions(means);
  if (found.kind === "prompt") {
    if (model === undefined) throw new Error("a prompt is asked of a model");
    return runPrompt({
      ...common,
      prompt: found.prompt,
      args: input.values,
      model,
      agent: asFlagsSay(agent, input),
      systemArgs: input.values,
      say: input.say,
      history: input.history,
    });
  }
  const agents = new Map([...opened.profiles].map(([name, profile]) => [name, {
    definition: asFlagsSay(profileAgent(profile, opened.registry), input),
    model: () => model ?? modelOf(profile.model),
  }]));
  return runTacticRun({
    ...common,
    tactic: found.tactic,
    task: taskOf(input.values),
    prompts: opened.registry,
    agents,
    startedAt: input.startedAt,
  });
}

/** `task` alone is the task itself; else it is the object of all inputs. */
function taskOf(values: Readonly<Record<string, unknown>>): unknown {
  const names = Object.keys(values);
  return names.length === 1 && names[0] === "task" ? values.task : values;
}

/** @throws {UsageError} when the prompt is not the one that the run began with */
export function assertSamePrompt(found: FoundPrompt, input: PromptRunInput, id: string): void {
  if (found.kind === "tactic" || input.contractHash === undefined) return;
  const { contractHash } = found.prompt.info();
  if (contractHash === input.contractHash) return;
  const { path, say, profile } = input;
  const what = path === ""
    ? `system prompt of profile ${JSON.stringify(profile)}`
    : `prompt ${JSON.stringify(path)}`;
  const anew = say === undefined && path !== "" ? ` with orrery run ${path}` : "";
  throw new ChangedError(
    `Run ${id} began with another version of the ${what} (${input.contractHash}; ` +
      `now ${contractHash}): bring that back to go on, or begin anew${anew}`,
    "resume",
  );
}

/** What agents of a run are run with, besides what they are asked. */
export interface PromptRunMeans {
  readonly input: PromptRunInput;
  readonly opened: OpenedPromptRun;
  readonly keeping: Keeping;
  /** Of a conversation: stops what is being answered. */
  readonly turn?: () => AbortSignal;
}

/** The same for the engine. */
export function promptRunOptions(means: PromptRunMeans): RunOptions & RunAgentsOptions {
  const { keeping, opened, input: { limits, budget, effort }, turn } = means;
  const { catalog, found, model, modelName } = opened;
  const { timeoutMs, resultBytes } = limits;
  const within = found.kind === "prompt" ? found.prompt.path : undefined;
  const tools = catalogTools(() => Promise.resolve(catalog));
  return {
    ...engineOptions(opened, { model, modelName, effort, budget, limits, within, stop: turn }),
    tools: turn === undefined ? tools : { ...tools, around: (gadget) => stoppableGadget(gadget, turn) },
    budget,
    calls: { timeoutMs, resultBytes },
    wake: turn,
    ...keeping,
  };
}

/** An agent with what the user said of it for this run. */
export function asFlagsSay(
  agent: AgentDefinition,
  { temperature, limits: { concurrency } }: PromptRunInput,
): AgentDefinition {
  return {
    ...agent,
    ...(temperature === undefined ? {} : { modelArgs: { ...agent.modelArgs, temperature } }),
    ...(concurrency === undefined ? {} : { limits: { ...agent.limits, parallelTools: concurrency } }),
  };
}

/** What a run of a prompt, a tactic or an agent is made of: kept with the run, so that a resumed one is the same. */
export interface PromptRunInput {
  /** Of the prompt, or the name of the tactic; empty: the system prompt of the profile. */
  readonly path: string;
  readonly kind: "prompt" | "tactic";
  /** Of the prompt's template and all that its answer is held to; absent for a tactic. */
  readonly contractHash?: string;
  readonly values: JsonObject;
  /** The prompt is the system prompt, and this is said. */
  readonly say?: Words;
  /** What was said before, in place of `say`: the last of it is what is answered. */
  readonly history?: readonly Message[];
  /** The agent of `orrery.yaml` that is asked. */
  readonly profile?: string;
  /** As it was named; absent where each agent has its own. */
  readonly model?: string;
  /** What that was when the run began. */
  readonly modelId?: string;
  readonly temperature?: number;
  readonly effort?: Effort;
  readonly budget: Budget;
  /** Of the calls of its tools; `concurrency` only where the user said it. */
  readonly limits: CallLimits;
  /** ms since 1970. */
  readonly startedAt: number;
}

/** What a run has kept. */
export function promptRunInput(kept: Json): PromptRunInput {
  const input = objectOrEmpty(kept);
  const { history } = input;
  return {
    path: String(input.path),
    kind: input.kind === "tactic" ? "tactic" : "prompt",
    contractHash: textFrom(input.contractHash),
    values: objectOrEmpty(input.values),
    say: wordsFrom(input.say),
    history: history === undefined ? undefined : messagesFrom(history),
    profile: textFrom(input.profile),
    model: textFrom(input.model),
    modelId: textFrom(input.modelId),
    temperature: numberFrom(input.temperature),
    effort: effortFrom(input.effort),
    budget: budgetFrom(input.budget),
    limits: limitsFrom(input.limits),
    startedAt: numberFrom(input.startedAt) ?? 0,
  };
}

/** Whether what a conversation has kept is a chat with a profile of `orrery.yaml`. */
export function isAgentTalk(kept: Json): boolean {
  return textFrom(objectOrEmpty(kept).profile) !== undefined;
}
