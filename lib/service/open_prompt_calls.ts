// The prompts that calls of `RunPrompt` ask, and the documents of `RunFile`. Loaded with the first such call.

import type { Model } from "../core/model.ts";
import { openPrompts } from "../project/open_prompts.ts";
import { catalogTools } from "../run/catalog_tools.ts";
import type { Containers } from "../run/container.ts";
import { promptCalls } from "../run/prompt_calls.ts";
import type { CalledPrompts } from "../run/prompt_calls.ts";
import type { PromptCallsOptions } from "./containers.ts";
import { budgetWithin } from "./budget_flag.ts";
import { modelsByName } from "../project/models_by_name.ts";
import { openFileCalls } from "./open_file_calls.ts";
import { promptAgent } from "./prompt_agent.ts";
import { withProjectText } from "./project_text.ts";
import { stoppableGadget, stoppableModel } from "./stoppable.ts";

/** Opens them; the project itself is not read before the first call. */
export function openPromptCalls(options: PromptCallsOptions): Containers {
  return {
    ...promptCalls(() => calledPrompts(options), { within: options.within }),
    ...openFileCalls(options),
  };
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
