import { type ModelSettings, PROVIDER_TYPES, type ProviderSettings } from "../core/model_settings.ts";
import type { ProviderType } from "../core/model_settings.ts";
import { PROVIDER_KINDS } from "./provider_kinds.ts";

/** A variable of the environment; undefined when it is not set. */
export type Env = (name: string) => string | undefined;

/** A provider with everything that is known before a request. */
export interface Provider {
  /** As ids name it. */
  readonly name: string;
  readonly type: ProviderType;
  readonly settings: ProviderSettings;
  /** Without a slash at its end. */
  readonly baseURL: string;
  /** Where the address comes from, for messages: a setting or a variable; absent for the provider's own. */
  readonly urlFrom?: string;
  /** The variables that may hold its key; empty when it needs none. */
  readonly keyVariables: readonly string[];
}

/** The provider of a name: a configured one, or a type by its own name; undefined when it is neither. */
export function maybeProvider(
  name: string,
  { settings, env }: { readonly settings: ModelSettings; readonly env: Env },
): Provider | undefined {
  const { providers = {} } = settings;
  const written = Object.hasOwn(providers, name) ? providers[name] ?? {} : {};
  const type = written.type ?? PROVIDER_TYPES.find((each) => each === name);
  if (type === undefined) return undefined;
  const { keyVariables, urlVariable, url = "" } = PROVIDER_KINDS[type];
  const setting = written.baseURL;
  const variable = urlVariable === undefined ? undefined : env(urlVariable)?.trim() || undefined;
  const urlFrom = setting !== undefined ? `models.providers.${name}.baseURL` : variable && urlVariable;
  return {
    name,
    type,
    settings: written,
    baseURL: withVersion(type, (setting ?? variable ?? url).replace(/\/+$/, "")),
    urlFrom,
    keyVariables: written.apiKeyEnv === undefined ? keyVariables : [written.apiKeyEnv],
  };
}

/** Names that can stand before the slash of an id, configured ones first. */
export function providerNames({ providers = {} }: ModelSettings): readonly string[] {
  const types = PROVIDER_TYPES.filter((type) =>
    type !== "openai-compatible" && !Object.hasOwn(providers, type)
  );
  return [...Object.keys(providers), ...types];
}

/** The first variable of the provider that holds a key, and the key. */
export function maybeKey(
  { keyVariables }: Provider,
  env: Env,
): { readonly name: string; readonly value: string } | undefined {
  for (const name of keyVariables) {
    const value = env(name)?.trim();
    if (value) return { name, value };
  }
  return undefined;
}

/** Anthropic's own tools take its address without the version, the AI SDK with it. */
function withVersion(type: ProviderType, url: string): string {
  return type === "anthropic" && url === "https://api.anthropic.com" ? `${url}/v1` : url;
}
