import type { LanguageModelV4 } from "@ai-sdk/provider";
import { isJsonObject, type JsonObject, toJson } from "../core/json.ts";
import type { Model } from "../core/model.ts";
import { type ModelId, modelIdText } from "../core/model_id.ts";
import { hostedTools } from "./hosted_tools.ts";
import { COMPATIBLE_NAME, loadSdkModel } from "./load_sdk_model.ts";
import { maybeKnownModel } from "./prices.ts";
import type { Provider } from "./provider.ts";
import { providerAccess, type ProviderAccessOptions } from "./provider_access.ts";
import { PROVIDER_KINDS } from "./provider_kinds.ts";
import { sdkModel } from "./sdk_model.ts";
import type { RequestStyle } from "./sdk_request.ts";

/** What a provider's model is made of. */
export type ProviderModelOptions = ProviderAccessOptions;

/**
 * The model of a provider. Its package, and all that talks to it, is loaded at the first call.
 *
 * @throws {ModelError} `config`, when there is no such provider, or no key for it
 */
export function providerModel(id: ModelId, options: ProviderModelOptions): Model {
  const name = modelIdText(id);
  const { provider, hasKey, problem, fetch } = providerAccess(id, options);
  const known = maybeKnownModel(name);
  const style = styleOf(provider, { model: id.model, name });
  let loading: Promise<LanguageModelV4> | undefined;
  return sdkModel({
    id: name,
    contextTokens: provider.settings.contextTokens ?? known?.contextTokens,
    load: () => loading ??= loadSdkModel(id.model, { provider, hasKey, fetch: fetch("events") }),
    style,
    pairsThoughts: provider.type === "openai" || provider.type === "xai",
    lateCalls: hasLateCalls(provider),
    prices: { own: options.settings.prices?.[name], known },
    problem,
  });
}

function styleOf(
  provider: Provider,
  { model, name }: { readonly model: string; readonly name: string },
): RequestStyle {
  const { type, settings } = provider;
  const options = toJson(settings.options ?? {});
  // Our history is the only one: nothing is kept at the provider, so that thoughts come back to be given back.
  const defaults: JsonObject = type === "openai" && settings.api !== "chat" ? { store: false } : {};
  const isCompatible = type === "openai-compatible";
  return {
    model: name,
    systemFirst: PROVIDER_KINDS[type].systemFirst ?? false,
    metadataName: isCompatible ? COMPATIBLE_NAME : type,
    options: { ...defaults, ...(options !== null && isJsonObject(options) ? options : {}) },
    hosted: hostedTools(provider, model),
    format: {
      anyRoot: type === "google",
      wantsWord: type === "openai" || type === "groq" || isCompatible,
      withoutSchema: isCompatible && settings.structuredOutputs !== true,
    },
    args: { asGiven: isCompatible }, // its package sends what it does not know as it is
    ...(type === "anthropic" && { picturesOf: "computer", declaresPast: true }),
  };
}

/** Google's own openai-compatible interface signs its calls at the end: they have to be waited for. */
function hasLateCalls({ type, settings, baseURL }: Provider): boolean {
  if (type === "openai") return settings.api === "chat";
  return (PROVIDER_KINDS[type].lateCalls ?? false) && !/\.googleapis\.com/.test(baseURL);
}
