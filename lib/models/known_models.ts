import {
  followAliases,
  maybeModelId,
  modelIdText,
  type ModelPrice,
  type ModelSettings,
  type ProviderType,
} from "../core/core.ts";
import { type Env, maybeKey, maybeProvider, providerNames } from "./provider/provider.ts";
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
export const KNOWN_MODELS: Readonly<Record<string, KnownModel>> = prices;

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
