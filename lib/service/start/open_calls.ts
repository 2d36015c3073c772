// The prompts that calls of `RunPrompt` ask, and the documents of `RunFile`. Loaded with the first such call.
import { linkedSignal, memoryFiles, type Model, type Shell, type World } from "../../core/core.ts";
import { boundedGuarded, boundedWorld, catalogInWorld } from "../../project/bounded_world.ts";
import { DocumentBounds } from "../../project/document/grants.ts";
import { type DocumentHome, homeMeans, placeHome } from "../../project/document/place.ts";
import { modelsByName } from "../../project/models.ts";
import type { ProjectSettings } from "../../project/project.ts";
import { openPrompts } from "../../project/prompt_index.ts";
import { programDefaults } from "../program/document.ts";
import { catalogTools } from "../../run/turn/offered.ts";
import type { Containers } from "../../run/calls/container.ts";
import type { DocumentMeans } from "../../run/document/means.ts";
import { fileCalls } from "../../run/document/file_calls.ts";
import { type CalledPrompts, promptCalls } from "../../run/agent/prompt_calls.ts";
import { budgetWithin } from "../input/budget.ts";
import { stoppableGadget, stoppableModel } from "./stoppable.ts";
import type { PromptCallsOptions } from "./containers.ts";
import { promptAgent, withProjectText } from "../kinds/prompt/open.ts";

/** Opens them; the project itself is not read before the first call. */
export function openPromptCalls(options: PromptCallsOptions): Containers {
  return {
    ...promptCalls(() => calledPrompts(options), { within: options.within }),
    ...openFileCalls(options),
  };
}

/** The prompts of a project, each with its agent. */
export async function projectPrompts(
  root: string,
  trustsCode: boolean,
): Promise<Pick<CalledPrompts, "registry" | "problems" | "agentOf">> {
  const { registry, problems } = await openPrompts(root, { trustsCode });
  return {
    registry,
    problems,
    agentOf: async (prompt) => await withProjectText(promptAgent(prompt), { prompt, root }),
  };
}

async function calledPrompts(options: PromptCallsOptions): Promise<CalledPrompts> {
  const { limits: { timeoutMs, resultBytes }, stop } = options;
  const { project, accepted, grants } = await options.place();
  const { root, config } = project;
  const models = modelsByName({ ...project, isAccepted: accepted, settings: grants.settings });
  const tools = catalogTools(() => Promise.resolve(options.catalog));
  return {
    ...await projectPrompts(root, grants.flags["trust-code"] === true),
    tools: stop === undefined ? tools : { ...tools, around: (gadget) => stoppableGadget(gadget, stop) },
    wake: stop,
    budget: options.budget ?? budgetWithin(config.limits, {}),
    calls: { timeoutMs, resultBytes },
    modelOf: calledModels(options, models),
  };
}

/** The model of the run is that of the prompts and documents that name none. @param find gives any other */
function calledModels(
  { model, modelName, stop }: PromptCallsOptions,
  find: (name: string | undefined) => Model | Promise<Model>,
): (name: string | undefined) => Promise<Model> {
  return async (name) => {
    const isOwn = model !== undefined && (name === undefined || name === modelName);
    const found = isOwn ? model : await find(name ?? modelName);
    return stop === undefined ? found : stoppableModel(found, stop, { whenStopped: "fails" });
  };
}

// The documents that calls of `RunFile` run. Loaded with the first such call.

/** Opens them; the project itself is not read before the first call. */
function openFileCalls(options: PromptCallsOptions): Containers {
  let place: ReturnType<PromptCallsOptions["place"]> | undefined;
  return fileCalls(async () => meansOf(options, await (place ??= options.place())));
}

type Place = Awaited<ReturnType<PromptCallsOptions["place"]>>;

/** Each call has bounds of its own, since documents run side by side. */
function meansOf(options: PromptCallsOptions, place: Place): DocumentMeans {
  const { project, accepted, grants } = place;
  const { root } = project;
  const bounds = new DocumentBounds(root);
  const against: Parameters<typeof boundedWorld>[1] = (request) => bounds.against(request);
  const world = options.world === undefined
    ? boundedWorld({ root, files: memoryFiles({}, { root }) }, against) // a record answers everything
    : boundedGuarded(options.world, against);
  const home = placeHome({
    project,
    grants,
    accepted,
    bounds,
    canAsk: options.canAsk ?? false,
    catalog: catalogInWorld(options.catalog, world),
    world: stoppable(world, options.stop),
  });
  return calledMeans(asCalled(home, options), project, options);
}

/** The same for the engine, with what the project says. */
export function calledMeans(
  home: DocumentHome,
  { config: { documents, limits: within } }: Pick<ProjectSettings, "config">,
  { budget = budgetWithin(within, {}), limits }: Pick<PromptCallsOptions, "budget" | "limits">,
): DocumentMeans {
  const { showsOperations } = documents;
  return homeMeans(home, {
    wishes: { defaults: programDefaults(documents), showsOperations, budget, limits },
  });
}

function asCalled(home: DocumentHome, options: PromptCallsOptions): DocumentHome {
  const { model, modelName, stop } = options;
  return {
    ...home,
    models: {
      problem: (name) =>
        model !== undefined && name === undefined ? undefined : home.models.problem(name ?? modelName),
      find: calledModels(options, home.models.find),
    },
    tools: stop === undefined ? home.tools : {
      ...home.tools,
      find: async (name) => {
        const gadget = await home.tools.find(name);
        return gadget && stoppableGadget(gadget, stop);
      },
    },
  };
}

function stoppable(
  { files, shell }: World,
  stop: PromptCallsOptions["stop"],
): { readonly files: World["files"]; readonly shell: Shell } {
  if (stop === undefined) return { files, shell };
  return {
    files,
    shell: {
      async run(command, options) {
        using linked = linkedSignal([stop(), options.signal]);
        return await shell.run(command, { ...options, signal: linked.signal });
      },
    },
  };
}
