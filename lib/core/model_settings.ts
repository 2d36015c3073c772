/** What kind of provider it is: which protocol it speaks. */
export type ProviderType =
  | "openai"
  | "anthropic"
  | "google"
  | "mistral"
  | "xai"
  | "groq"
  | "openai-compatible";

/** Every kind of provider. */
export const PROVIDER_TYPES: readonly ProviderType[] = [
  "openai",
  "anthropic",
  "google",
  "mistral",
  "xai",
  "groq",
  "openai-compatible",
];

/** How hard a model thinks before it answers, from least to most. What a model does not have becomes the nearest that it has. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** One of {@linkcode EFFORTS}. */
export type Effort = typeof EFFORTS[number];

/** What an effort has to be, for whatever checks fields. */
export const EFFORT_RULE = {
  isFine: (value: unknown): boolean => effortFrom(value) !== undefined,
  wanted: `one of ${EFFORTS.join(", ")}`,
  words: EFFORTS,
} as const;

/** What is none is undefined. */
export function effortFrom(value: unknown): Effort | undefined {
  return EFFORTS.find((effort) => effort === value);
}

/** What can be said of the media that the models of a provider take. */
export const MEDIA_PATTERNS = [
  "image/*",
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
  "audio/*",
  "video/*",
] as const;

/** A provider of `models.providers`. */
export interface ProviderSettings {
  /** Default: the name of the provider, when that is a type. */
  readonly type?: ProviderType;
  /** Where its interface is; needed for `openai-compatible`. */
  readonly baseURL?: string;
  /** The variable that holds its key. Default: those of its type; for `openai-compatible` no key is sent. */
  readonly apiKeyEnv?: string;
  /** Sent with every request; `${NAME}` is replaced by the variable. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Added to every URL; `openai-compatible` only. */
  readonly queryParams?: Readonly<Record<string, string>>;
  /** Of `openai` only. Default `responses`. */
  readonly api?: "responses" | "chat";
  /** Whether an `openai-compatible` provider can hold answers to a JSON Schema. Default false. */
  readonly structuredOutputs?: boolean;
  /** Tokens of the window of its models, where Orrery does not know it. */
  readonly contextTokens?: number;
  /** What `<think>` at the beginning of an answer is: thought, also where only `</think>` is there (text is held back until then), or text. Default: thought. */
  readonly thoughts?: "reasoning" | "text";
  /** How hard its models think where nothing else says so. Default: the provider's. */
  readonly effort?: Effort;
  /** The types of media that its models take, such as `image/*`. Default: those that its type takes. */
  readonly media?: readonly string[];
  /** Options of the provider's own for every request, as its AI SDK package has them. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** What a model costs: US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Input that was read from the provider's cache. Default: as `input`. */
  readonly cached?: number;
  /** Input that was written to the provider's cache. Default: as `input`. */
  readonly cacheWrite?: number;
}

/** Which models there are, and which one is used (turn.md 1). */
export interface ModelSettings {
  /** An id or an alias. */
  readonly default?: string;
  readonly aliases?: Readonly<Record<string, string>>;
  /** By id or alias: what takes over when it fails, in order. */
  readonly fallback?: Readonly<Record<string, readonly string[]>>;
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
  /** By id, over the ones that come with Orrery. */
  readonly prices?: Readonly<Record<string, ModelPrice>>;
}

/** A model of a provider. */
export interface ModelId {
  readonly provider: string;
  /** As the provider calls it; may hold `/` and `:`. */
  readonly model: string;
}

/** Reads `provider/model` or `provider:model`, split at the first separator; undefined when it is neither. */
export function maybeModelId(text: string): ModelId | undefined {
  const at = text.search(/[/:]/);
  const [provider, model] = [text.slice(0, at), text.slice(at + 1)];
  return at < 1 || model === "" ? undefined : { provider, model };
}

/** `provider/model` */
export function modelIdText({ provider, model }: ModelId): string {
  return `${provider}/${model}`;
}

/** Every name on the way from an alias to what it stands for, the first one the name itself. */
interface AliasWay {
  readonly way: readonly string[];
  /** True when the last name stands again for one before it. */
  readonly isCycle: boolean;
}

/** Follows a name through the aliases; a name that is no alias is its own end. */
export function followAliases(name: string, aliases: Readonly<Record<string, string>>): AliasWay {
  const way = [name];
  for (let here = name; Object.hasOwn(aliases, here);) {
    here = aliases[here] ?? here;
    const isCycle = way.includes(here);
    way.push(here);
    if (isCycle) return { way, isCycle };
  }
  return { way, isCycle: false };
}
