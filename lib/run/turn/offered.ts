// What a model is offered with a prompt (prompts.md 5, 9.1): gadgets, and what its provider runs itself.
import {
  type AnyGadget,
  type Catalog,
  type CatalogEntry,
  didYouMeanNames,
  EntryError,
  type Json,
  type JsonObject,
  jsonSchemaOf,
  messageOf,
  type Model,
  ModelError,
  toJsonObject,
  type ToolSpec,
} from "../../core/core.ts";
import type { AnyPrompt } from "../../prompt/prompt.ts";
import { gadgetFromNote, gadgetNote } from "../calls/gadget.ts";
import { CallError } from "../calls/step.ts";
import type { Run } from "../run.ts";

/** The addons of prompts.md 5. */
const ADDON_NAMES: readonly string[] = ["computerUse", "webSearch"];

/** Names to gadgets, for the tools that a prompt only names. */
export interface ToolSource {
  find(name: string): AnyGadget | undefined | Promise<AnyGadget | undefined>;
  /** Every name there is. */
  names(): Promise<Iterable<string>>;
  /** What is put around each gadget that is offered, also around those that a prompt brings along. Default: nothing. */
  around?(gadget: AnyGadget): AnyGadget;
}

/** What a model is offered. */
export interface Offered {
  readonly gadgets: ReadonlyMap<string, AnyGadget>;
  readonly specs: readonly ToolSpec[];
  /** What the provider runs itself. */
  readonly providerTools: readonly JsonObject[];
}

/** Why a prompt cannot be asked. */
export interface OfferProblem {
  readonly problem: string;
  /** What was thrown. */
  readonly cause?: unknown;
}

/** Resolves the tools and addons of a prompt for a model, or says what is wrong. */
export async function offeredBy(
  prompt: AnyPrompt,
  { tools, model }: { readonly tools: ToolSource; readonly model: Model },
): Promise<Offered | OfferProblem> {
  const gadgets = new Map<string, AnyGadget>();
  for await (const problem of offerProblems(prompt, { tools, model, gadgets })) return problem;
  return {
    gadgets,
    specs: [...gadgets.values()].map(toolSpecOf),
    providerTools: providerTools(prompt),
  };
}

/** Everything that is wrong with what a prompt offers: its tools, which are put into `gadgets`, and its addons; without a model, what no model has. */
export async function* offerProblems(
  prompt: AnyPrompt,
  { tools, model, gadgets = new Map() }: {
    readonly tools: ToolSource;
    readonly model?: Model;
    readonly gadgets?: Map<string, AnyGadget>;
  },
): AsyncGenerator<OfferProblem> {
  for (const tool of prompt.tools) {
    try {
      const gadget = typeof tool === "string" ? await tools.find(tool) : tool;
      if (gadget === undefined) yield await unknownTool(String(tool), { prompt, tools });
      else gadgets.set(gadget.name, tools.around?.(gadget) ?? gadget);
    } catch (cause) {
      yield { problem: `prompt "${prompt.path}": tool "${String(tool)}": ${messageOf(cause)}`, cause };
    }
  }
  for (const problem of addonProblems(prompt, model)) yield { problem };
}

async function unknownTool(
  name: string,
  { prompt, tools }: { readonly prompt: AnyPrompt; readonly tools: ToolSource },
): Promise<OfferProblem> {
  const similar = didYouMeanNames(name, await tools.names());
  return { problem: `prompt "${prompt.path}": unknown tool "${name}"${similar}` };
}

function* addonProblems(prompt: AnyPrompt, model: Model | undefined): Generator<string> {
  for (const [name, value] of Object.entries(prompt.addons)) {
    if (value === false || value === undefined) continue;
    if (!ADDON_NAMES.includes(name)) {
      yield `addon "${name}" is unknown (known: ${ADDON_NAMES.join(", ")})`;
    } else if (model !== undefined && model.addons?.includes(name) !== true) {
      yield `addon "${name}" is not supported by the model`;
    }
  }
  if (prompt.mcp.length > 0 && model !== undefined && model.takesServers !== true) {
    yield `mcp servers are not supported by the model: name their tools in "tools" instead (mcpServers in orrery.yaml)`;
  }
}

function providerTools(prompt: AnyPrompt): readonly JsonObject[] {
  const { mcp, allowWebSearch, computerUseConfig } = prompt;
  return [
    ...mcp.map((server) => ({ type: "mcp", approval: "never", ...toJsonObject(server) })),
    ...(allowWebSearch ? [{ type: "web_search" }] : []),
    ...(computerUseConfig === null ? [] : [{ type: "computer_use", ...toJsonObject(computerUseConfig) }]),
  ];
}

/** A gadget as the provider's own calls want it. */
export function toolSpecOf({ name, description = "", input }: AnyGadget): ToolSpec {
  const schema = input && jsonSchemaOf(input);
  return { name, description, input: { type: "object", ...schema } };
}

/** The gadgets of a catalogue by name; it is made when the first one is looked for. One that is not trusted is refused: `permission`. */
export function catalogTools(catalog: () => Promise<Catalog>): ToolSource {
  return {
    async find(name) {
      const entry = (await catalog()).maybeFind(name);
      if (entry?.state === "not-trusted") throw notTrusted(entry);
      try {
        return await entry?.load();
      } catch (error) {
        if (!(error instanceof EntryError)) throw error;
        if (error.entry === undefined) return undefined;
        throw error.entry.state === "not-trusted" ? notTrusted(error.entry) : error;
      }
    },
    names: async () => (await wholeCatalog(await catalog())).map((entry) => entry.name),
  };
}

/** Its entries, with those of servers that were not needed so far. */
export async function wholeCatalog(catalog: Catalog): Promise<readonly CatalogEntry[]> {
  return await catalog.whole?.() ?? catalog.entries;
}

function notTrusted(entry: CatalogEntry): ModelError {
  const { name, problem = `Gadget "${name}" is not trusted`, flag = `--trust ${name}` } = entry;
  return new ModelError(problem, { code: "permission", flag });
}

type Found = AnyGadget | CallError | undefined;

/** The gadgets that the prompts of a run name. A record keeps what is found, so that a replay needs no catalogue; each is looked for once. */
export function notedTools(
  run: Run,
  { tools, keyPrefix }: { readonly tools: ToolSource; readonly keyPrefix: string },
): ToolSource {
  const byName = new Map<string, Found | Promise<Found>>();
  let names: readonly string[] | Promise<readonly string[]> | undefined;
  const look = (name: string): Found | Promise<Found> =>
    run.lookUp(`${keyPrefix}tool:${name}`, () => found(tools, name), {
      note: (gadget) => gadget === undefined ? null : gadgetNote(gadget),
      from: (noted) => noted === null ? undefined : gadgetFromNote(noted),
    });
  return {
    async find(name) {
      const known = byName.has(name) ? byName.get(name) : look(name);
      byName.set(name, known);
      const gadget = await known;
      if (gadget instanceof CallError) throw gadget;
      return gadget;
    },
    names: async () =>
      await (names ??= run.lookUp(`${keyPrefix}tools`, async () => [...await tools.names()], {
        note: (list: readonly string[]): Json => [...list],
        from: (noted) => Array.isArray(noted) ? noted.map(String) : [],
      })),
    around: tools.around,
  };
}

async function found(tools: ToolSource, name: string): Promise<Found> {
  try {
    return await tools.find(name);
  } catch (error) {
    return error instanceof CallError ? error : new CallError(messageOf(error), "unavailable");
  }
}
