// Which models there are, and what is told of a name that means none of them.
import {
  didYouMean,
  inDollars,
  ModelError,
  type ModelId,
  modelIdText,
  type ModelPrice,
  type ModelSettings,
  nearestName,
  type ProviderType,
} from "../core/core.ts";
import { type Env, maybeKey, maybeProvider, meantModel, type Provider, providerNames } from "./provider.ts";
import prices from "./prices.json" with { type: "json" };

// List prices and windows as the providers publish them. A model that is not here has no price: unknown, never zero.

/** What is known of a model. */
export interface KnownModel {
  readonly price: ModelPrice;
  /** For a request whose input is longer than `above` tokens: this price instead. */
  readonly long?: ModelPrice & { readonly above: number };
  /** Tokens of its window. */
  readonly contextTokens?: number;
}

/** Models by `provider/model`; checked in October 2026. */
const KNOWN_MODELS: Readonly<Record<string, KnownModel>> = prices;

/** What is known of a model; a date at the end of its name (`-20251001`, `-2025-08-07`) makes no difference. */
export function maybeKnownModel(id: string): KnownModel | undefined {
  const name = Object.hasOwn(KNOWN_MODELS, id) ? id : id.replace(/-\d{4}-?\d{2}-?\d{2}$/, "");
  return Object.hasOwn(KNOWN_MODELS, name) ? KNOWN_MODELS[name] : undefined;
}

/** What there is to choose from; never a key. */
export interface ModelList {
  /** As configured. */
  readonly default?: string;
  readonly aliases: readonly {
    readonly name: string;
    /** `provider/model` */
    readonly id: string;
    readonly fallback: readonly string[];
  }[];
  readonly providers: readonly {
    readonly name: string;
    readonly type: ProviderType;
    readonly baseURL: string;
    /** True when `orrery.yaml` has it; else it is there by its own name. */
    readonly isConfigured: boolean;
    /** Any of them may hold its key; empty when it needs none. */
    readonly keyVariables: readonly string[];
    readonly hasKey: boolean;
  }[];
  /** Ids, or forms of ids, that need no provider. */
  readonly offline: readonly { readonly id: string; readonly about: string }[];
  /** Models whose price Orrery knows, or the settings. */
  readonly known: readonly {
    readonly id: string;
    readonly price: ModelPrice;
    readonly contextTokens?: number;
  }[];
}

/** Lists what the settings and the environment offer; contacts nobody. */
export function modelList(
  { settings, env }: { readonly settings: ModelSettings; readonly env: Env },
): ModelList {
  const { aliases = {}, prices = {}, providers = {} } = settings;
  return {
    default: settings.default,
    aliases: Object.keys(aliases).map((name) => {
      const { end, id, fallback } = meantModel(name, settings);
      return { name, id: id === undefined ? end : modelIdText(id), fallback };
    }),
    providers: allProviders(settings, env).map(({ name, type, baseURL, keyVariables, hasKey }) => {
      return { name, type, baseURL, isConfigured: Object.hasOwn(providers, name), keyVariables, hasKey };
    }),
    offline: [
      { id: "script/echo", about: "answers by fixed rules" },
      { id: "script/FILE", about: "gives the replies of a YAML or JSON lines file" },
      { id: "replay/FILE", about: "answers from a record" },
    ],
    known: pricedIds(settings).flatMap((id) => {
      const { price = undefined, contextTokens } = KNOWN_MODELS[id] ?? {};
      const own = prices[id] ?? price;
      return own === undefined ? [] : [{ id, price: own, contextTokens }];
    }),
  };
}

function allProviders(
  settings: ModelSettings,
  env: Env,
): readonly (Provider & { readonly hasKey: boolean })[] {
  return providerNames(settings).flatMap((name) => {
    const provider = maybeProvider(name, { settings, env });
    return provider === undefined ? [] : [{ ...provider, hasKey: maybeKey(provider, env) !== undefined }];
  });
}

function pricedIds({ prices = {} }: ModelSettings): readonly string[] {
  return [...new Set([...Object.keys(prices), ...Object.keys(KNOWN_MODELS)])];
}

/** Nothing was sent: the settings or the environment lack something. */
export function configError(message: string, cause?: unknown): ModelError {
  return new ModelError(message, { code: "config", cause });
}

/** A name that is neither an alias nor an id. */
export function unknownName(name: string, settings: ModelSettings): ModelError {
  const ids = pricedIds(settings);
  const near = nearestName(name, Object.keys(settings.aliases ?? {})) ??
    ids.find((id) => id.slice(id.indexOf("/") + 1) === name) ?? nearestName(name, ids);
  const hint = near === undefined ? "" : ` Did you mean "${near}"?`;
  return configError(
    `Unknown model ${JSON.stringify(name)}: expected provider/model or an alias of models.aliases.${hint}`,
  );
}

/** The model that a name means, and the names of those that take over from it. @throws {ModelError} `config` */
export function resolvedModel(
  name: string,
  settings: ModelSettings,
): { readonly id: ModelId; readonly fallback: readonly string[] } {
  const { way, isCycle, end, id, fallback } = meantModel(name, settings);
  if (isCycle) throw configError(`The aliases of models go round in a circle: ${way.join(" -> ")}`);
  if (id === undefined) throw unknownName(end, settings);
  return { id, fallback };
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
  const providers = allProviders(settings, env);
  const usable = providers.filter(({ keyVariables, hasKey }) => keyVariables.length === 0 || hasKey);
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

/** What the tokens of a model cost. */
export interface Prices {
  readonly own?: ModelPrice;
  readonly known?: KnownModel;
}

/** The tokens of one call; those of the cache are parts of `input`. */
export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cacheWrite: number;
}

/** US dollars for one call; undefined when there is no price. The user's own price has no steps. */
export function costOf(
  { input, output, cached, cacheWrite }: TokenCounts,
  { own, known }: Prices,
): number | undefined {
  const isLong = known?.long !== undefined && input > known.long.above;
  const price = own ?? (isLong ? known.long : known?.price);
  if (price === undefined) return undefined;
  const plain = Math.max(0, input - cached - cacheWrite);
  const dollars = plain * price.input + cached * (price.cached ?? price.input) +
    cacheWrite * (price.cacheWrite ?? price.input) + output * price.output;
  return inDollars(dollars / 1_000_000);
}
