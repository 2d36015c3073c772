// Each package is imported when a model of its kind is first asked, with its address and key given: see load_sdk_model.ts.

import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import type { ProviderType } from "../core/model_settings.ts";
import type { FetchFunction } from "./fetch_function.ts";
import { COMPATIBLE_NAME } from "./load_sdk_model.ts";
import type { Provider } from "./provider.ts";
import { KEY_PLACEHOLDER } from "./provider_fetch.ts";

/** The types of providers that have embeddings. */
export type EmbeddingProviderType = Extract<
  ProviderType,
  "openai" | "google" | "mistral" | "openai-compatible"
>;

/** All of them. */
export const EMBEDDING_PROVIDERS: readonly EmbeddingProviderType[] = [
  "openai",
  "google",
  "mistral",
  "openai-compatible",
];

/** The model of embeddings of the AI SDK. */
export async function loadSdkEmbeddings(
  model: string,
  { type, provider, hasKey, fetch }: {
    readonly type: EmbeddingProviderType;
    readonly provider: Provider;
    readonly hasKey: boolean;
    readonly fetch: FetchFunction;
  },
): Promise<EmbeddingModelV4> {
  const { baseURL, settings: { queryParams } } = provider;
  const common = { baseURL, apiKey: KEY_PLACEHOLDER, fetch };
  switch (type) {
    case "openai":
      return (await import("@ai-sdk/openai")).createOpenAI(common).embeddingModel(model);
    case "google":
      return (await import("@ai-sdk/google")).createGoogle(common).embeddingModel(model);
    case "mistral":
      return (await import("@ai-sdk/mistral")).createMistral(common).embeddingModel(model);
    case "openai-compatible":
      return (await import("@ai-sdk/openai-compatible")).createOpenAICompatible({
        name: COMPATIBLE_NAME,
        baseURL,
        fetch,
        ...(hasKey && { apiKey: KEY_PLACEHOLDER }),
        ...(queryParams && { queryParams: { ...queryParams } }),
      }).embeddingModel(model);
    default:
      return type satisfies never;
  }
}
