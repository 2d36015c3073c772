import {
  didYouMean,
  followAliases,
  maybeModelId,
  ModelError,
  type ModelId,
  type ModelSettings,
  nearestName,
} from "../core/core.ts";
import { KNOWN_MODELS } from "./known_models.ts";
import { type Env, maybeKey, maybeProvider, type Provider, providerNames } from "./provider/provider.ts";

/** Nothing was sent: the settings or the environment lack something. */
export function configError(message: string, cause?: unknown): ModelError {
  return new ModelError(message, { code: "config", ...(cause !== undefined && { cause }) });
}

/** A name that is neither an alias nor an id. */
export function unknownName(name: string, { aliases = {}, prices = {} }: ModelSettings): ModelError {
  const ids = [...Object.keys(prices), ...Object.keys(KNOWN_MODELS)];
  const near = nearestName(name, Object.keys(aliases)) ??
    ids.find((id) => id.slice(id.indexOf("/") + 1) === name) ?? nearestName(name, ids);
  const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
  return configError(
    `Unknown model ${JSON.stringify(name)}: expected provider/model or an alias of models.aliases.${hint}`,
  );
}

/** The model that a name means, and the aliases on the way to it, the name first. @throws {ModelError} `config` */
export function resolvedModel(
  name: string,
  settings: ModelSettings,
): { readonly way: readonly string[]; readonly id: ModelId } {
  const { way, isCycle } = followAliases(name, settings.aliases ?? {});
  if (isCycle) throw configError(`The aliases of models go round in a circle: ${way.join(" -> ")}`);
  const end = way.at(-1) ?? name;
  const id = maybeModelId(end);
  if (id === undefined) throw unknownName(end, settings);
  return { way, id };
}

/** An id whose provider is neither configured nor one that Orrery has. */
export function unknownProvider(name: string, settings: ModelSettings): ModelError {
  const known = ["script", "replay", ...providerNames(settings)];
  const what = name === "openai-compatible"
    ? "a type of provider, not one itself: give one a name under models.providers"
    : `unknown.${didYouMean(name, known)} Providers are ${
      known.join(", ")
    }; more can be set under models.providers`;
  return configError(`The model provider ${JSON.stringify(name)} is ${what}`);
}

/** A provider whose key is in none of its variables, or in one that cannot be looked at. */
export function missingKey(
  id: string,
  { provider: { name, keyVariables }, unreadable }: {
    readonly provider: Provider;
    /** Why a variable cannot be looked at; undefined when it can. */
    readonly unreadable?: (name: string) => string | undefined;
  },
): ModelError {
  const [first = "", ...others] = keyVariables;
  const why = unreadable?.(first);
  if (why !== undefined) {
    return configError(
      `The model ${id} needs a key from the variable ${first}, which cannot be read: ${why}`,
    );
  }
  const also = others.length === 0 ? "" : ` (${others.join(" or ")} will do too)`;
  return configError(
    `The model ${id} needs a key: set the variable ${first}${also}; models.providers.${name}.apiKeyEnv can name another one. ` +
      '"orrery list models" shows for which providers there is a key.',
  );
}

/** No model is named anywhere: says everything that can be done about it. */
export function noModel(
  { settings, env }: { readonly settings: ModelSettings; readonly env: Env },
): ModelError {
  const providers = providerNames(settings).flatMap((name) => {
    const provider = maybeProvider(name, { settings, env });
    return provider === undefined ? [] : [provider];
  });
  const usable = providers.filter((each) =>
    each.keyVariables.length === 0 || maybeKey(each, env) !== undefined
  );
  const examples = usable.flatMap(({ name }) =>
    Object.keys(KNOWN_MODELS).find((id) => id.startsWith(`${name}/`)) ?? `${name}/MODEL`
  );
  const choices = examples.length > 0
    ? [`There is a key or no need of one for: ${examples.join(", ")}.`]
    : [`Set the key of a provider (${
      providers.flatMap(({ keyVariables }) => keyVariables.slice(0, 1)).join(", ")
    }).`];
  return configError(
    [
      "No model is chosen.",
      ...choices,
      "Then name one: --model provider/model, the variable ORRERY_MODEL, or models.default in orrery.yaml.",
      "Without a provider: --model script/echo answers by fixed rules; a local server is set under models.providers with type openai-compatible and its baseURL.",
    ].join("\n"),
  );
}
