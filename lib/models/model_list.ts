import { followAliases, maybeModelId, modelIdText } from "../core/model_id.ts";
import type { ModelPrice, ModelSettings, ProviderType } from "../core/model_settings.ts";
import { KNOWN_MODELS } from "./prices.ts";
import { type Env, maybeKey, maybeProvider, providerNames } from "./provider.ts";

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
