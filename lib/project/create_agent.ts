import { createCatalog } from "../catalog/catalog.ts";
import type { Catalog } from "../core/catalog.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import type { AnyGadget } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import type { Model, Models } from "../core/model.ts";
import { defineError } from "../core/prompt_error.ts";
import { workingFolder } from "../host/paths.ts";
import { type ModelPort, portModel } from "../models/port_model.ts";
import { NO_POLICY_FLAGS } from "../policy/policy_settings.ts";
import type { Agent } from "../run/agent.ts";
import { catalogTools } from "../run/catalog_tools.ts";
import { type AgentDefinition, makeAgent } from "../run/make_agent.ts";
import { inOwnRun } from "../run/own_run.ts";
import { foundValue } from "../schema/issue.ts";
import { loadCatalog } from "./load_catalog.ts";
import { openProjectModels } from "./open_models.ts";
import { openSettings } from "./project.ts";

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

/** The models of the project that the working folder is in, for a program that wants this one. */
async function hereModels(name: string): Promise<Models> {
  const cwd = workingFolder();
  const project = await openSettings(cwd, { cwd });
  return openProjectModels({
    ...project,
    cwd,
    isAccepted: false,
    name,
    settings: { ...NO_POLICY_FLAGS, ownModel: name },
  });
}

// Whoever has no types would else be told by the first turn, or by a TypeError from inside.

/**
 * Sees that the options of `createAgent` are what its types say; `makeAgent` looks at the rest of them.
 *
 * @throws {PromptError} `define`
 */
function assertAgentOptions(options: unknown): void {
  if (!isRecord(options)) {
    throw defineError(
      `createAgent takes an object such as { name, model, system }, found ${foundValue(options)}`,
    );
  }
  const { name, model, port, gadgets } = options;
  if (typeof name !== "string" || name === "") {
    throw defineError(`createAgent: name must be a string that is not empty, found ${foundValue(name)}`);
  }
  const problem = modelProblem(model) ?? portProblem(port, model) ?? gadgetsProblem(gadgets);
  if (problem !== undefined) throw defineError(`agent "${name}": ${problem}`);
}

function modelProblem(model: unknown): string | undefined {
  if (typeof model === "string" ? model !== "" : hasMethod(model, "stream")) return undefined;
  const what = isRecord(model) ? "an object without stream()" : foundValue(model);
  return `model must be a name such as "provider/model", or a model, found ${what}`;
}

function portProblem(port: unknown, model: unknown): string | undefined {
  if (port === undefined) return undefined;
  if (hasMethod(port, "call")) return typeof model === "string" ? undefined : TWO_WAYS;
  const what = isRecord(port) ? "an object without call()" : foundValue(port);
  return `port must be an object with a function call(request), found ${what}`;
}

const TWO_WAYS =
  "give either a model or a port: beside a port, model is the name that the port is asked for, found a model that would be asked itself";

function gadgetsProblem(gadgets: unknown): string | undefined {
  if (gadgets === undefined) return undefined;
  if (!Array.isArray(gadgets)) return `gadgets must be a list of gadgets, found ${foundValue(gadgets)}`;
  const index = gadgets.findIndex((gadget) => !isRecord(gadget) || typeof gadget.name !== "string");
  if (index === -1) return undefined;
  return `gadgets[${index}] must be a gadget, as defineGadget makes it, found ${foundValue(gadgets[index])}`;
}

function hasMethod(value: unknown, method: string): boolean {
  return isRecord(value) && typeof value[method] === "function";
}
