import {
  followAliases,
  maybeModelId,
  modelIdText,
  type ModelPrice,
  type ModelSettings,
  type ProviderType,
} from "../core/model_settings.ts";
import { type Env, maybeKey, maybeProvider, providerNames } from "./provider/provider.ts";

// List prices and windows as the providers publish them. A model that is not here has no price: unknown, never zero.

/** What is known of a model. */
export interface KnownModel {
  readonly price: ModelPrice;
  /** For a request whose input is longer than `above` tokens: this price instead. */
  readonly long?: ModelPrice & { readonly above: number };
  /** Tokens of its window. */
  readonly contextTokens?: number;
}

/** Input, output, read from the cache, written to it: US dollars for a million tokens. */
type Row = readonly [input: number, output: number, cached?: number, cacheWrite?: number];

function known(row: Row, contextTokens?: number, long?: readonly [above: number, row: Row]): KnownModel {
  return {
    price: priceOf(row),
    contextTokens,
    long: long && { above: long[0], ...priceOf(long[1]) },
  };
}

function priceOf([input, output, cached, cacheWrite]: Row): ModelPrice {
  return {
    input,
    output,
    cached,
    cacheWrite,
  };
}

const K128 = 128_000;
const K200 = 200_000;
const K400 = 400_000;
const M1 = 1_000_000;
const GOOGLE = 1_048_576;
const OPENAI = 1_050_000;

/** Models by `provider/model`; checked in October 2026. */
export const KNOWN_MODELS: Readonly<Record<string, KnownModel>> = {
  "openai/gpt-6-astra": known([10, 50, 1, 12.5], OPENAI, [272_000, [20, 75, 2, 25]]),
  "openai/gpt-5.6": known([2, 10, 0.2, 2.5], OPENAI, [272_000, [4, 15, 0.4, 5]]),
  "openai/gpt-5.6-sol": known([2, 10, 0.2, 2.5], OPENAI, [272_000, [4, 15, 0.4, 5]]),
  "openai/gpt-5.5": known([5, 30, 0.5], OPENAI, [272_000, [10, 45, 1]]),
  "openai/gpt-5.4": known([2.5, 15, 0.25], OPENAI),
  "openai/gpt-5.2": known([1.75, 14, 0.175], K400),
  "openai/gpt-5.1": known([1.25, 10, 0.125], K400),
  "openai/gpt-5": known([1.25, 10, 0.125], K400),
  "openai/gpt-5-mini": known([0.25, 2, 0.025], K400),
  "openai/gpt-5-nano": known([0.05, 0.4, 0.005], K400),
  "openai/gpt-4.1": known([2, 8, 0.5], 1_047_576),
  "openai/gpt-4.1-mini": known([0.4, 1.6, 0.1], 1_047_576),
  "openai/gpt-4.1-nano": known([0.1, 0.4, 0.025], 1_047_576),
  "openai/gpt-4o": known([2.5, 10, 1.25], K128),
  "openai/gpt-4o-mini": known([0.15, 0.6, 0.075], K128),
  "openai/o3": known([2, 8, 0.5], K200),
  "openai/o4-mini": known([1.1, 4.4, 0.275], K200),
  "anthropic/claude-opus-5-5": known([4, 20, 0.2, 5], M1),
  "anthropic/claude-opus-5": known([5, 25, 0.5, 6.25], M1),
  "anthropic/claude-sonnet-5-5": known([2, 10, 0.1, 2.5], M1),
  "anthropic/claude-sonnet-5": known([2, 10, 0.2, 2.5], M1),
  "anthropic/claude-fable-5": known([10, 50, 1, 12.5], M1),
  "anthropic/claude-opus-4-8": known([5, 25, 0.5, 6.25], M1),
  "anthropic/claude-opus-4-7": known([5, 25, 0.5, 6.25], M1),
  "anthropic/claude-opus-4-6": known([5, 25, 0.5, 6.25], M1),
  "anthropic/claude-opus-4-5": known([5, 25, 0.5, 6.25], K200),
  "anthropic/claude-opus-4-1": known([15, 75, 1.5, 18.75], K200),
  "anthropic/claude-sonnet-4-6": known([3, 15, 0.3, 3.75], M1),
  "anthropic/claude-sonnet-4-5": known([3, 15, 0.3, 3.75], K200),
  "anthropic/claude-haiku-4-5": known([1, 5, 0.1, 1.25], K200),
  "google/gemini-3.8-flash": known([0.75, 3.75, 0.075], GOOGLE),
  "google/gemini-3.7-flash": known([1.5, 7.5, 0.15], GOOGLE),
  "google/gemini-3.5-flash": known([1.5, 9, 0.15], GOOGLE),
  "google/gemini-3.1-pro-preview": known([2, 12, 0.2], GOOGLE, [K200, [4, 18, 0.4]]),
  "google/gemini-3-flash-preview": known([0.5, 3, 0.05], GOOGLE),
  "google/gemini-2.5-pro": known([1.25, 10, 0.125], GOOGLE, [K200, [2.5, 15, 0.25]]),
  "google/gemini-2.5-flash": known([0.3, 2.5, 0.03], GOOGLE),
  "google/gemini-2.5-flash-lite": known([0.1, 0.4, 0.01], GOOGLE),
  "mistral/mistral-large-latest": known([0.5, 1.5], 262_144),
  "mistral/mistral-medium-latest": known([1.5, 7.5], 262_144),
  "mistral/mistral-small-latest": known([0.1, 0.3], K128),
  "xai/grok-4.7": known([2, 6, 0.5], 500_000, [K200, [4, 12, 1]]),
  "xai/grok-4.6": known([2, 6, 0.5], 500_000, [K200, [4, 12, 1]]),
  "xai/grok-4.5": known([2, 6, 0.5], 500_000, [K200, [4, 12, 1]]),
  "xai/grok-4.3": known([1.25, 2.5, 0.2], M1, [K200, [2.5, 5, 0.4]]),
  "groq/openai/gpt-oss-120b": known([0.15, 0.6, 0.075], 131_072),
  "groq/openai/gpt-oss-20b": known([0.075, 0.3, 0.0375], 131_072),
};

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
  return {
    default: settings.default,
    aliases: aliasesOf(settings),
    providers: providerNames(settings).flatMap((name) => {
      const provider = maybeProvider(name, { settings, env });
      if (provider === undefined) return [];
      const { type, baseURL, keyVariables } = provider;
      const isConfigured = Object.hasOwn(settings.providers ?? {}, name);
      const hasKey = maybeKey(provider, env) !== undefined;
      return [{ name, type, baseURL, isConfigured, keyVariables, hasKey }];
    }),
    offline: [
      { id: "script/echo", about: "answers by fixed rules" },
      { id: "script/FILE", about: "gives the replies of a YAML or JSON lines file" },
      { id: "replay/FILE", about: "answers from a record" },
    ],
    known: knownModels(settings),
  };
}

function aliasesOf({ aliases = {}, fallback = {} }: ModelSettings): ModelList["aliases"] {
  return Object.keys(aliases).map((name) => {
    const { way } = followAliases(name, aliases);
    const end = way.at(-1) ?? name;
    const id = maybeModelId(end);
    const named = way.find((each) => Object.hasOwn(fallback, each));
    return {
      name,
      id: id === undefined ? end : modelIdText(id),
      fallback: named === undefined ? [] : fallback[named] ?? [],
    };
  });
}

function knownModels({ prices = {} }: ModelSettings): ModelList["known"] {
  const ids = [...new Set([...Object.keys(prices), ...Object.keys(KNOWN_MODELS)])];
  return ids.flatMap((id) => {
    const known = KNOWN_MODELS[id];
    const price = prices[id] ?? known?.price;
    if (price === undefined) return [];
    return [{ id, price, ...(known?.contextTokens !== undefined && { contextTokens: known.contextTokens }) }];
  });
}
