import {
  type Clock,
  FileError,
  type Files,
  type Model,
  type ModelId,
  modelIdText,
  type Models,
  type ModelSettings,
} from "../core/core.ts";
import type { Silence } from "./exchange.ts";
import { configError, type ModelList, modelList, noModel, resolvedModel } from "./known_models.ts";
import { isClosed, withLeadingThoughts } from "./leading_thoughts.ts";
import { type Env, type FetchFunction, maybeProvider } from "./provider.ts";
import { fallingBack, retrying, type RetryPolicy } from "./retrying.ts";
import { echoModel, scriptModel } from "./script.ts";
import { readScript } from "../parse/files/script.ts";

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
  const { settings, clock, random, retry } = options;
  /** By id: a script goes on where it was, however often it is asked for. */
  const models = new Map<string, Model | Promise<Model>>();
  const again = (model: Model): Model => retrying(model, { ...retry, clock, random });

  const single = (id: ModelId): Model | Promise<Model> => {
    const text = modelIdText(id);
    const model = models.get(text) ?? made(id);
    models.set(text, model);
    if (model instanceof Promise) model.catch(() => models.delete(text));
    return model;
  };

  const made = (id: ModelId): Model | Promise<Model> => {
    if (id.provider === "replay") return replayed(id.model, options);
    if (id.provider !== "script") return ofProvider(id, options).then(again);
    return id.model === "echo" ? again(echoModel()) : scripted(id, options).then(again);
  };

  return {
    find(name) {
      const wanted = name ?? settings.default;
      if (wanted === undefined) throw noModel(options);
      const { id, fallback } = resolvedModel(wanted, settings);
      const model = single(id);
      if (fallback.length === 0) return model;
      const fallbacks = fallback.map((each) => {
        const { id } = resolvedModel(each, settings);
        return { id: modelIdText(id), find: () => single(id) };
      });
      return model instanceof Promise
        ? model.then((found) => fallingBack(found, fallbacks))
        : fallingBack(model, fallbacks);
    },
    list: () => modelList(options),
  };
}

/** What talks to providers is loaded with the first of them: a script needs none of it. */
async function ofProvider(id: ModelId, options: OpenModelsOptions): Promise<Model> {
  const { providerModel }: typeof import("./answer.ts") = await import("./answer.ts" as string);
  const { thoughts, media = maybeProvider(id.provider, options)?.kind.media } =
    options.settings.providers?.[id.provider] ?? {};
  const model = { ...providerModel(id, options), media };
  return thoughts === "text" ? model : withLeadingThoughts(model, thoughts === "reasoning");
}

async function scripted(id: ModelId, { files, clock }: OpenModelsOptions): Promise<Model> {
  try {
    const replies = await readScript(await files.readText(id.model), id.model);
    const opensUnseen = replies.some(({ chunks }) => isClosed(chunks.join("")));
    return withLeadingThoughts(scriptModel(replies, { id: modelIdText(id), clock }), opensUnseen);
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    throw configError(`The model ${modelIdText(id)} cannot be opened: ${cause.message}`, cause);
  }
}

function replayed(file: string, { replay }: OpenModelsOptions): Model | Promise<Model> {
  if (replay !== undefined) return replay(file);
  throw configError(`The model replay/${file} cannot be opened here: nothing that reads records was given`);
}
