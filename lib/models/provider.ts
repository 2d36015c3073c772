import {
  followAliases,
  maybeModelId,
  type ModelId,
  modelIdText,
  type ModelSettings,
  PROVIDER_TYPES,
  type ProviderSettings,
  type ProviderType,
} from "../core/core.ts";

/** A variable of the environment; undefined when it is not set. */
export type Env = (name: string) => string | undefined;

/** A provider with everything that is known before a request. */
export interface Provider {
  /** As ids name it. */
  readonly name: string;
  readonly type: ProviderType;
  readonly kind: ProviderKind;
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
  const kind = PROVIDER_KINDS[type];
  const { keyVariables, urlVariable, url = "" } = kind;
  const setting = written.baseURL;
  const variable = urlVariable === undefined ? undefined : env(urlVariable)?.trim() || undefined;
  const urlFrom = setting !== undefined ? `models.providers.${name}.baseURL` : variable && urlVariable;
  return {
    name,
    type,
    kind,
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

/** What is fixed for a type of provider. */
export interface ProviderKind {
  /** The variables that may hold the key, the first one that is set wins. */
  readonly keyVariables: readonly string[];
  /** The variable that may hold another address. */
  readonly urlVariable?: string;
  /** Where its interface is. */
  readonly url?: string;
  /** Calls are told as complete at the end of the stream only, so that their end has to be seen in their arguments. */
  readonly lateCalls?: true;
  /** It takes instructions at the beginning only: later ones become messages of the user. */
  readonly systemFirst?: true;
  /** A thought is given back with what came of it or not at all: one that led to a call of the provider's own is not. */
  readonly pairsThoughts?: true;
  /** It wants the tools of earlier calls declared, also when there are none any more. */
  readonly declaresPast?: true;
  /** A picture in the result of this tool, as a `data:` URL, is sent as a picture. */
  readonly picturesOf?: string;
  /** An answer in a format need not be an object. */
  readonly anyRoot?: true;
  /** JSON without a schema is asked for in the messages too, in this word. */
  readonly wantsWord?: true;
  /** The types of media that its AI SDK package sends. */
  readonly media: readonly string[];
}

const IMAGES = "image/*";
const PDF = "application/pdf";

/** The types of providers, with the addresses and variables of the AI SDK. */
export const PROVIDER_KINDS: Readonly<Record<ProviderType, ProviderKind>> = {
  "openai": {
    keyVariables: ["OPENAI_API_KEY"],
    urlVariable: "OPENAI_BASE_URL",
    url: "https://api.openai.com/v1",
    pairsThoughts: true,
    wantsWord: true,
    media: [IMAGES, PDF],
  },
  "anthropic": {
    keyVariables: ["ANTHROPIC_API_KEY"],
    urlVariable: "ANTHROPIC_BASE_URL",
    url: "https://api.anthropic.com/v1",
    systemFirst: true,
    declaresPast: true,
    picturesOf: "computer",
    media: [IMAGES, PDF],
  },
  "google": {
    keyVariables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    url: "https://generativelanguage.googleapis.com/v1beta",
    systemFirst: true,
    anyRoot: true,
    media: [IMAGES, PDF, "audio/*", "video/*"],
  },
  "mistral": {
    keyVariables: ["MISTRAL_API_KEY"],
    url: "https://api.mistral.ai/v1",
    lateCalls: true,
    systemFirst: true,
    media: [IMAGES, PDF],
  },
  "xai": { keyVariables: ["XAI_API_KEY"], url: "https://api.x.ai/v1", pairsThoughts: true, media: [IMAGES] },
  "groq": {
    keyVariables: ["GROQ_API_KEY"],
    url: "https://api.groq.com/openai/v1",
    lateCalls: true,
    wantsWord: true,
    media: [IMAGES],
  },
  "openai-compatible": {
    keyVariables: [],
    lateCalls: true,
    wantsWord: true,
    media: [IMAGES, PDF, "audio/*", "video/*"], // what its server takes nobody knows before it is asked
  },
};

/** What a name of a model means. */
export interface MeantModel {
  /** The names on the way through the aliases, itself first; the last one for the second time when `isCycle`. */
  readonly way: readonly string[];
  readonly isCycle: boolean;
  readonly end: string;
  /** Undefined: the end is no id. */
  readonly id: ModelId | undefined;
  /** The names of what takes over when it fails, in order. */
  readonly fallback: readonly string[];
}

/** Follows a name through the aliases. */
export function meantModel(name: string, { aliases = {}, fallback = {} }: ModelSettings): MeantModel {
  const { way, isCycle } = followAliases(name, aliases);
  const end = way.at(-1) ?? name;
  const id = maybeModelId(end);
  const names = id === undefined ? way : [...way, modelIdText(id)];
  const named = names.find((each) => Object.hasOwn(fallback, each));
  return { way, isCycle, end, id, fallback: named === undefined ? [] : fallback[named] ?? [] };
}

/** The `host:port` of every provider that a model's calls may go to, its fallbacks' too; empty for an offline or unknown model. */
export function providerHosts(
  name: string,
  options: { readonly settings: ModelSettings; readonly env: Env },
): readonly string[] {
  const { id, fallback } = meantModel(name, options.settings);
  const ids = [id, ...fallback.map((each) => meantModel(each, options.settings).id)];
  return [
    ...new Set(ids.flatMap((each) => {
      const url = URL.parse(maybeProvider(each?.provider ?? "", options)?.baseURL ?? "");
      if (url === null) return [];
      return [`${url.hostname}:${url.port || (url.protocol === "https:" ? "443" : "80")}`];
    })),
  ];
}

/** What a `fetch` is called with and gives; the platform's own is one. */
export type FetchFunction = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;
