import type { KeptRun } from "../project/open_run.ts";
import type { RunAgentsOptions } from "../run/agent_run.ts";
import { catalogTools } from "../run/catalog_tools.ts";
import type { AgentDefinition } from "../run/make_agent.ts";
import type { Replay } from "../run/replay.ts";
import type { RunOptions } from "../run/run.ts";
import { containersOf } from "./containers.ts";
import type { PromptCallsOptions } from "./containers.ts";
import type { OpenedPromptRun } from "./open_prompt_run.ts";
import type { PromptRunInput } from "./prompt_run_input.ts";
import { stoppableGadget } from "./stoppable.ts";

/** What agents of a run are run with, besides what they are asked. */
export interface PromptRunMeans {
  readonly input: PromptRunInput;
  readonly opened: OpenedPromptRun;
  readonly kept: Pick<KeptRun, "options"> | undefined;
  readonly replay?: Replay;
  /** Where the prompts are that their calls may ask. */
  readonly prompts: PromptCallsOptions["place"];
  readonly signal: AbortSignal;
  /** Of a conversation: stops what is being answered. */
  readonly turn?: () => AbortSignal;
}

/** The same for the engine. */
export function promptRunOptions(means: PromptRunMeans): RunOptions & RunAgentsOptions {
  const { kept, replay, opened, input, signal, turn } = means;
  const { catalog, world, approvals, found } = opened;
  const { timeoutMs, resultBytes } = input.limits;
  const tools = catalogTools(() => Promise.resolve(catalog));
  return {
    tools: turn === undefined ? tools : { ...tools, around: (gadget) => stoppableGadget(gadget, turn) },
    budget: input.budget,
    calls: { timeoutMs, resultBytes },
    signal,
    containers: containersOf({
      place: means.prompts,
      catalog,
      world,
      canAsk: approvals !== undefined,
      model: opened.model,
      modelName: opened.modelName,
      budget: input.budget,
      limits: input.limits,
      within: found.kind === "prompt" ? found.prompt.path : undefined,
      stop: turn,
    }),
    clock: world?.clock,
    replay,
    approvals,
    wake: turn,
    ...kept?.options,
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
