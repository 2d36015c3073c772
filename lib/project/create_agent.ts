import { systemClock } from "../core/clock.ts";
import type { Clock } from "../core/clock.ts";
import type { Catalog } from "../core/catalog.ts";
import type { AnyGadget } from "../core/gadget.ts";
import type { Model } from "../core/model.ts";
import { portModel } from "../models/port_model.ts";
import type { ModelPort } from "../models/port_model.ts";
import type { Agent } from "../run/agent.ts";
import { catalogTools } from "../run/catalog_tools.ts";
import { makeAgent } from "../run/make_agent.ts";
import type { AgentDefinition } from "../run/make_agent.ts";
import { inOwnRun } from "../run/own_run.ts";
import { assertAgentOptions } from "./assert_agent_options.ts";
import { createCatalog } from "../catalog/create_catalog.ts";
import { hereModels } from "./here_models.ts";
import { loadCatalog } from "./load_catalog.ts";

/** An agent of a program. */
export interface AgentOptions extends AgentDefinition {
  /** `provider/model` or an alias, as the project of the working folder knows it; or the model itself. With a `port`, the port's name for it. */
  readonly model: string | Model;
  /** The way to the model, where it is not one of Orrery's. */
  readonly port?: ModelPort;
  /** What the plain names in `tools` stand for. Default: the built-in gadgets and those of the project. */
  readonly gadgets?: readonly AnyGadget[];
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** From 0 to 1, for the random part of waits. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * An agent: a model with a system prompt and bounds (prompts.md 8). Nothing is loaded or asked before its first turn.
 *
 * @throws {PromptError} `define`, for an option that is missing or not what it has to be
 *
 * ```ts
 * import { createAgent, definePrompt, fakeModel, tags } from "orrery";
 *
 * const task = definePrompt({ template: "Name {thing}.", parser: tags({ requiredXmlTags: ["name"] }) });
 * const model = fakeModel(["It is blue.", "<name>Blue</name>"]); // the first answer breaks the contract
 * const agent = createAgent({ name: "namer", model, system: "You name things." });
 * const { parsed, state } = await agent.open().ask(task, { thing: "a colour" });
 * console.log(parsed.xmlTags.name[0], state.exceptionRetriesCount); // => Blue 1
 * ```
 */
export function createAgent(options: AgentOptions): Agent {
  assertAgentOptions(options);
  const { model, port, gadgets, clock = systemClock } = options;
  let catalog: Promise<Catalog> | undefined;
  let found: Model | Promise<Model> | undefined;
  let dialogs = 0;
  return makeAgent(options, {
    clock,
    random: options.random ?? Math.random,
    tools: catalogTools(() =>
      catalog ??= gadgets === undefined ? loadCatalog({ root: "." }) : Promise.resolve(createCatalog(gadgets))
    ),
    budget: {},
    model: () =>
      found ??= typeof model !== "string"
        ? model
        : port
        ? portModel(port, { name: model })
        : hereModels(model).then((models) => models.find(model)),
    within: ({ signal, onEvent }, work) => inOwnRun({ clock, signal, onEvent }, work),
    nextDialog: () => ++dialogs,
  });
}
