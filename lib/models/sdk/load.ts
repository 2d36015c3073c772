// Each package is imported when a model of its kind is first asked. Addresses and keys are always given: left out, the SDK would
// look into the environment itself.
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { FetchFunction, Provider } from "../provider/provider.ts";
import { KEY_PLACEHOLDER } from "../provider/fetch.ts";

/** The name under which the SDK keeps the options and metadata of `openai-compatible` providers. */
export const COMPATIBLE_NAME = "openaiCompatible";

/** The model of the AI SDK. */
export async function loadSdkModel(
  model: string,
  options: { readonly provider: Provider; readonly hasKey: boolean; readonly fetch: FetchFunction },
): Promise<LanguageModelV4> {
  const { provider: { type, baseURL, settings }, hasKey, fetch } = options;
  const common = { baseURL, apiKey: KEY_PLACEHOLDER, fetch };
  switch (type) {
    case "openai": {
      const openai = (await import("@ai-sdk/openai")).createOpenAI(common);
      return settings.api === "chat" ? openai.chat(model) : openai.responses(model);
    }
    case "anthropic":
      return (await import("@ai-sdk/anthropic")).createAnthropic(common)(model);
    case "google":
      return (await import("@ai-sdk/google")).createGoogle(common)(model);
    case "mistral":
      return (await import("@ai-sdk/mistral")).createMistral(common)(model);
    case "xai":
      return (await import("@ai-sdk/xai")).createXai(common)(model);
    case "groq":
      return (await import("@ai-sdk/groq")).createGroq(common)(model);
    case "openai-compatible":
      return (await import("@ai-sdk/openai-compatible")).createOpenAICompatible({
        name: COMPATIBLE_NAME,
        baseURL,
        fetch,
        includeUsage: true,
        ...(hasKey && { apiKey: KEY_PLACEHOLDER }),
        ...(settings.queryParams && { queryParams: { ...settings.queryParams } }),
        ...(settings.structuredOutputs !== undefined &&
          { supportsStructuredOutputs: settings.structuredOutputs }),
      })(model);
    default:
      return type satisfies never;
  }
}
