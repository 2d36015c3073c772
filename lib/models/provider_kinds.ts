import type { ProviderType } from "../core/model_settings.ts";

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
  /** It takes instructions at the beginning only. */
  readonly systemFirst?: true;
}

/** The types of providers, with the addresses and variables of the AI SDK. */
export const PROVIDER_KINDS: Readonly<Record<ProviderType, ProviderKind>> = {
  "openai": {
    keyVariables: ["OPENAI_API_KEY"],
    urlVariable: "OPENAI_BASE_URL",
    url: "https://api.openai.com/v1",
  },
  "anthropic": {
    keyVariables: ["ANTHROPIC_API_KEY"],
    urlVariable: "ANTHROPIC_BASE_URL",
    url: "https://api.anthropic.com/v1",
    systemFirst: true,
  },
  "google": {
    keyVariables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    url: "https://generativelanguage.googleapis.com/v1beta",
    systemFirst: true,
  },
  "mistral": {
    keyVariables: ["MISTRAL_API_KEY"],
    url: "https://api.mistral.ai/v1",
    lateCalls: true,
    systemFirst: true,
  },
  "xai": { keyVariables: ["XAI_API_KEY"], url: "https://api.x.ai/v1" },
  "groq": { keyVariables: ["GROQ_API_KEY"], url: "https://api.groq.com/openai/v1", lateCalls: true },
  "openai-compatible": { keyVariables: [], lateCalls: true },
};
