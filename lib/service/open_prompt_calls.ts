// The prompts that calls of `RunPrompt` ask, and the way to the documents of `RunFile`. Loaded with the first such call.

import type { Catalog } from "../core/catalog.ts";
import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import type { Model } from "../core/model.ts";
import type { World } from "../core/world.ts";
import { openPrompts } from "../project/open_prompts.ts";
import type { RunGrants } from "../project/grants.ts";
import type { ProjectSettings } from "../project/project.ts";
import type { Budget } from "../run/budget.ts";
import type { CallLimits } from "../run/call_graph.ts";
import { catalogTools } from "../run/catalog_tools.ts";
import type { Containers } from "../run/container.ts";
import { promptCalls } from "../run/prompt_calls.ts";
import type { CalledPrompts } from "../run/prompt_calls.ts";
import { budgetWithin } from "./budget_flag.ts";
import { budgetFrom } from "./dialog_input.ts";
import { modelsByName } from "../project/models_by_name.ts";
import { promptAgent } from "./prompt_agent.ts";
import { withProjectText } from "./project_text.ts";
import { stoppableGadget, stoppableModel } from "./stoppable.ts";

/** The project whose prompts may be asked. */
export interface PromptsPlace {
  readonly project: ProjectSettings;
  /** Whether what the project says for itself counts. */
  readonly accepted: boolean;
  readonly grants: RunGrants;
}

/** What the prompts are asked with. */
export interface PromptCallsOptions {
  readonly place: () => PromptsPlace | Promise<PromptsPlace>;
  /** What the names among their tools stand for. */
  readonly catalog: Catalog;
  /** What documents may touch. Absent: a record answers everything. */
  readonly world?: World;
  /** Somebody can be asked about what no flag forbids. Default false. */
  readonly canAsk?: boolean;
  /** Of the whole run. Default: what the settings say. */
  readonly budget?: Budget;
  readonly limits: CallLimits;
  /** That of the run, for prompts that name none. Default: the one of the settings. */
  readonly model?: Model;
  /** As it was named. */
  readonly modelName?: string;
  /** The prompt that the run itself asks. */
  readonly within?: string;
  /** Of a conversation: stops what is being answered. */
  readonly stop?: () => AbortSignal;
}

/** Opens them; the project itself is not read before the first call. */
export function openPromptCalls(options: PromptCallsOptions): Containers {
  let files: Promise<Containers> | undefined;
  return {
    ...promptCalls(() => calledPrompts(options), { within: options.within }),
    async document(call) {
      const { document } = await (files ??= fileCallsOf(options));
      if (document === undefined) throw new Error("RunFile has nothing that runs documents");
      return await document(call);
    },
  };
}

async function fileCallsOf(options: PromptCallsOptions): Promise<Containers> {
  const { openFileCalls }: typeof import("./open_file_calls.ts") = await import(
    "./open_file_calls.ts" as string
  );
  return openFileCalls(options);
}

/** The same for the calls of a file, which may have named a model and a budget. @param kept What its run has kept of itself */
export function openFilePrompts(kept: Json, options: PromptCallsOptions): Containers {
  const { model, budget } = isJsonObject(kept) ? kept : {};
  return openPromptCalls({
    ...options,
    ...(typeof model === "string" && { modelName: model }),
    ...(budget !== undefined && { budget: budgetFrom(budget) }),
  });
}

async function calledPrompts(options: PromptCallsOptions): Promise<CalledPrompts> {
  const { limits: { timeoutMs, resultBytes }, stop } = options;
  const { project, accepted, grants } = await options.place();
  const { root, config } = project;
  const { registry, problems } = await openPrompts(root, {
    trustsCode: grants.flags["trust-code"] === true,
  });
  const models = modelsByName({ ...project, isAccepted: accepted, settings: grants.settings });
  const modelOf = async (name: string | undefined): Promise<Model> => {
    const { model, modelName } = options;
    return model !== undefined && (name === undefined || name === modelName)
      ? model
      : await models(name ?? modelName);
  };
  const tools = catalogTools(() => Promise.resolve(options.catalog));
  return {
    registry,
    problems,
    tools: stop === undefined ? tools : { ...tools, around: (gadget) => stoppableGadget(gadget, stop) },
    wake: stop,
    budget: options.budget ?? budgetWithin(config.limits, {}),
    calls: {
      timeoutMs,
      resultBytes,
    },
    agentOf: async (prompt) => await withProjectText(promptAgent(prompt), { prompt, root }),
    modelOf: async (name) => {
      const model = await modelOf(name);
      return stop === undefined ? model : stoppableModel(model, stop, { whenStopped: "fails" });
    },
  };
}
