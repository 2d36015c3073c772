import { createCatalog } from "../../catalog/catalog.ts";
import {
  type AnyGadget,
  type Catalog,
  type Clock,
  defineError,
  isRecord,
  type Model,
  type Models,
  type Permissions,
  systemClock,
  type User,
} from "../../core/core.ts";
import { realPath } from "../../host/paths.ts";
import { type ModelPort, portModel } from "./port_model.ts";
import {
  NO_POLICY_FLAGS,
  parsePolicyFlags,
  PERMISSION_KINDS,
  type PolicyFlag,
} from "../../policy/policy_settings.ts";
import type { Agent } from "../../run/agent/agent.ts";
import { numberedHomes } from "../../run/agent/agent.ts";
import { catalogTools } from "../../run/turn/offered.ts";
import { type AgentDefinition, makeAgent } from "../../run/agent/make_agent.ts";
import { inOwnRun } from "../../run/work_run.ts";
import { foundValue } from "../../schema/issue.ts";
import { openProjectModels } from "../../project/models.ts";
import { openCatalog, openSettings, settingsAt } from "../../project/project.ts";
import { rootFolder } from "./root_folder.ts";
import { NOBODY } from "../../project/trust/grants.ts";

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
  return makeAgent(options, {
    random: options.random ?? Math.random,
    budget: {},
    within: ({ signal, onEvent }, work) => inOwnRun({ clock, signal, onEvent }, work),
    home: numberedHomes({
      tools: catalogTools(() =>
        catalog ??= gadgets === undefined
          ? loadCatalog({ root: "." })
          : Promise.resolve(createCatalog(gadgets))
      ),
      model: () =>
        found ??= typeof model !== "string"
          ? model
          : port
          ? portModel(port, { name: model })
          : hereModels(model).then((models) => models.find(model)),
    }),
  });
}

/** The models of the project that the working folder is in, for a program that wants this one. */
async function hereModels(name: string): Promise<Models> {
  return openProjectModels({
    ...await openSettings(),
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

/** What a catalogue is made from. */
export interface LoadCatalogOptions {
  /** The project root: a folder, absolute, relative to the working folder, or as a `file:` URL. Its `orrery.yaml` is read when there is one. */
  readonly root: string | URL;
  /** Modules of gadgets besides those of the project's folders, relative to the root or absolute. */
  readonly files?: readonly string[];
  /** Gadgets that may do all that they ask for, by name or file; and MCP servers that may be used, by name. */
  readonly trust?: readonly string[];
  /** Lets what `orrery.yaml` itself grants count. Default false: only when the user accepted it before. */
  readonly trustProject?: boolean;
  /** What built-in gadgets may do beyond reading the root and writing its `.orrery/`; paths are relative to the root. */
  readonly allow?: Permissions;
  /** What they may not do, whatever is allowed. */
  readonly deny?: Permissions;
  /** Who answers `AskUser`. Default: nobody can be asked. */
  readonly user?: User;
  /** Told what was ignored, a line each. */
  readonly onNotice?: (text: string) => void;
  /** Ends what the gadgets run on, as the catalogue's `close` does. */
  readonly signal?: AbortSignal;
}

/**
 * The catalogue of a project: the built-in gadgets, those of its folders, of its MCP servers, and `files` (gadgets.md 2). A module is never
 * imported into this process, but for one of `isolation: none`: it is looked at, and called, in a process of its own that has no rights. What it
 * asks for is granted by `trust`, by settings or by `orrery.lock`, else by `user`; without a grant its calls are refused. A server that is not
 * trusted is not started. What was started runs until the catalogue is closed: `await catalog.close?.()`.
 *
 * @throws {ProblemsError} for two gadgets of one name, a missing file or folder, a name in `trust` that fits nothing, and for mistakes in
 * `orrery.yaml`
 *
 * ```ts
 * import { loadCatalog, runCalls } from "orrery";
 *
 * const catalog = await loadCatalog({ root: "examples/report", allow: { write: ["out"] } });
 * console.log(catalog.maybeFind("WriteFile")?.state); // => ready
 * for await (const event of runCalls(["!!!GADGET_START:ReadFile\n!!!ARG:path\ndata/west.json\n"], { catalog })) {
 *   if (event.type === "run-end") console.log(event.status); // => done
 * }
 * ```
 */
export async function loadCatalog(options: LoadCatalogOptions): Promise<Catalog> {
  const { files = [], trust = [], trustProject = false, user = NOBODY, onNotice = () => undefined, signal } =
    options;
  const root = realPath(rootFolder(options.root));
  const { catalog } = await openCatalog(await settingsAt(root, { cwd: root }), {
    flags: { gadget: files, trust, "trust-project": trustProject },
    settings: parsePolicyFlags([...flagsOf("allow", options.allow), ...flagsOf("deny", options.deny)]),
    user,
    notice: onNotice,
    signal,
  });
  return catalog;
}

function flagsOf(verb: "allow" | "deny", permissions: Permissions = {}): PolicyFlag[] {
  return PERMISSION_KINDS.flatMap((kind): PolicyFlag[] => {
    const name = `${verb}-${kind}`;
    const wanted = permissions[kind] ?? [];
    return wanted === true
      ? [{ name, value: true }]
      : wanted.map((item) => ({ name, value: item.replaceAll(",", ",,") }));
  });
}
