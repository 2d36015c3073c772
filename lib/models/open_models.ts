import type { Clock } from "../core/clock.ts";
import type { Model, Models } from "../core/model.ts";
import { followAliases, maybeModelId, type ModelId, modelIdText } from "../core/model_id.ts";
import type { ModelSettings } from "../core/model_settings.ts";
import { FileError, type Files } from "../core/world.ts";
import type { FetchFunction } from "./fetch_function.ts";
import { echoModel } from "./echo_model.ts";
import { type Fallback, fallingBack } from "./falling_back.ts";
import { configError, noModel, unknownName } from "./model_config_error.ts";
import { isClosed, withLeadingThoughts } from "./leading_thoughts.ts";
import { type ModelList, modelList } from "./model_list.ts";
import type { Env } from "./provider.ts";
import { retrying, type RetryPolicy } from "./retrying.ts";
import { DEFAULT_SILENCE, type Silence } from "./silence_watch.ts";

/** What models are made of. */
export interface OpenModelsOptions {
  readonly settings: ModelSettings;
  /** Asks the policy itself; streams. */
  readonly fetch: FetchFunction;
  readonly env: Env;
  /** Why a variable of the environment cannot be looked at; undefined when it can. Default: all can. */
  readonly unreadable?: (name: string) => string | undefined;
  readonly clock: Clock;
  /** Where the files of `script/FILE` are read. */
  readonly files: Pick<Files, "readText">;
  /** For the jitter of retries: a number from 0 to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Default: as turn.md 1 has it. */
  readonly retry?: RetryPolicy;
  /** How long a provider may be silent. Default 60 s to the first byte, and between two pieces. */
  readonly silence?: Silence;
  /** Opens a record for `replay/FILE`. */
  readonly replay?: (file: string) => Model | Promise<Model>;
}

/** Models by name, and a list of what there is. */
export interface OpenModels extends Models {
  list(): ModelList;
}

/**
 * The models of these settings (turn.md 1). A model tries again what may pass, and hands over to its fallbacks; the package of a
 * provider is loaded when its first call is made.
 */
export function openModels(options: OpenModelsOptions): OpenModels {
  const finder = new Finder(options);
  return {
    find: (name) => finder.find(name),
    list: () => modelList(options),
  };
}

class Finder {
  readonly #options: OpenModelsOptions;
  /** By id: a script goes on where it was, however often it is asked for. */
  readonly #models = new Map<string, Model | Promise<Model>>();

  constructor(options: OpenModelsOptions) {
    this.#options = options;
  }

  find(name: string | undefined): Model | Promise<Model> {
    const wanted = name ?? this.#options.settings.default;
    if (wanted === undefined) throw noModel(this.#options);
    const { way, id } = this.#resolve(wanted);
    const model = this.#single(id);
    const fallbacks = this.#fallbacks(way, id);
    if (fallbacks.length === 0) return model;
    return model instanceof Promise
      ? model.then((found) => fallingBack(found, fallbacks))
      : fallingBack(model, fallbacks);
  }

  #resolve(name: string): { readonly way: readonly string[]; readonly id: ModelId } {
    const { aliases = {} } = this.#options.settings;
    const { way, isCycle } = followAliases(name, aliases);
    if (isCycle) throw configError(`The aliases of models go round in a circle: ${way.join(" -> ")}`);
    const id = maybeModelId(way.at(-1) ?? name);
    if (id !== undefined) return { way, id };
    throw unknownName(way.at(-1) ?? name, this.#options.settings);
  }

  #fallbacks(way: readonly string[], id: ModelId): readonly Fallback[] {
    const { fallback = {} } = this.#options.settings;
    const named = [...way, modelIdText(id)].find((each) => Object.hasOwn(fallback, each));
    const names = named === undefined ? [] : fallback[named] ?? [];
    return names.map((name) => {
      const { id } = this.#resolve(name);
      return { id: modelIdText(id), find: () => this.#single(id) };
    });
  }

  #single(id: ModelId): Model | Promise<Model> {
    const text = modelIdText(id);
    const before = this.#models.get(text);
    if (before !== undefined) return before;
    const model = this.#make(id);
    this.#models.set(text, model);
    if (model instanceof Promise) model.catch(() => this.#models.delete(text));
    return model;
  }

  #make(id: ModelId): Model | Promise<Model> {
    const { clock, random = Math.random, retry } = this.#options;
    const again = (model: Model) => retrying(model, { ...retry, clock, random });
    if (id.provider === "replay") return this.#replay(id.model);
    if (id.provider === "script") {
      return id.model === "echo" ? again(echoModel()) : this.#script(id).then(again);
    }
    return this.#provider(id).then(again);
  }

  /** What talks to providers is loaded with the first of them: a script needs none of it. */
  async #provider(id: ModelId): Promise<Model> {
    const { providerModel }: typeof import("./provider_model.ts") = await import(
      "./provider_model.ts" as string
    );
    const model = providerModel(id, { silence: DEFAULT_SILENCE, ...this.#options });
    const { thoughts } = this.#options.settings.providers?.[id.provider] ?? {};
    return thoughts === "text" ? model : withLeadingThoughts(model, thoughts === "reasoning");
  }

  async #script(id: ModelId): Promise<Model> {
    const { files, clock } = this.#options;
    const { readScript }: typeof import("./script_file.ts") = await import("./script_file.ts" as string);
    const { scriptModel }: typeof import("./script_model.ts") = await import("./script_model.ts" as string);
    try {
      const replies = await readScript(await files.readText(id.model), id.model);
      const opensUnseen = replies.some(({ chunks }) => isClosed(chunks.join("")));
      return withLeadingThoughts(scriptModel(replies, { id: modelIdText(id), clock }), opensUnseen);
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause;
      throw configError(`The model ${modelIdText(id)} cannot be opened: ${cause.message}`, cause);
    }
  }

  #replay(file: string): Model | Promise<Model> {
    const { replay } = this.#options;
    if (replay !== undefined) return replay(file);
    throw configError(`The model replay/${file} cannot be opened here: nothing that reads records was given`);
  }
}
