import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Clock } from "../core/clock.ts";
import { isJsonObject, type JsonObject, toJson } from "../core/json.ts";
import type { Model } from "../core/model.ts";
import { type ModelId, modelIdText } from "../core/model_id.ts";
import type { ModelSettings } from "../core/model_settings.ts";
import type { FetchFunction } from "./fetch_function.ts";
import { hostedTools } from "./hosted_tools.ts";
import { COMPATIBLE_NAME, loadSdkModel } from "./load_sdk_model.ts";
import { configError, missingKey, unknownProvider } from "./model_config_error.ts";
import { maybeKnownModel } from "./prices.ts";
import { type Env, maybeKey, maybeProvider, type Provider } from "./provider.ts";
import { PROVIDER_KINDS } from "./provider_kinds.ts";
import { providerFetch } from "./provider_fetch.ts";
import { ProviderProblem } from "./provider_problem.ts";
import { sdkModel } from "./sdk_model.ts";
import type { RequestStyle } from "./sdk_request.ts";
import type { Silence } from "./silence_watch.ts";

/** What a provider's model is made of. */
export interface ProviderModelOptions {
  readonly settings: ModelSettings;
  readonly fetch: FetchFunction;
  readonly env: Env;
  /** Why a variable cannot be looked at, when it cannot. */
  readonly unreadable?: (name: string) => string | undefined;
  readonly clock: Clock;
  readonly silence: Silence;
}

/**
 * The model of a provider. Its package, and all that talks to it, is loaded at the first call.
 *
 * @throws {ModelError} `config`, when there is no such provider, or no key for it
 */
export function providerModel(id: ModelId, options: ProviderModelOptions): Model {
  const { settings, env } = options;
  const name = modelIdText(id);
  const provider = maybeProvider(id.provider, options);
  if (provider === undefined || provider.baseURL === "") throw unknownProvider(id.provider, settings);
  const key = maybeKey(provider, env);
  if (key === undefined && provider.keyVariables.length > 0) {
    {
      throw missingKey(name, { provider, unreadable: options.unreadable });
    }
  }
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key.value)) {
    throw configError(`The key in ${key.name} holds a blank, a line break or a letter that no key has`);
  }
  const headers = headersOf(provider, env);
  const problem = new ProviderProblem(id, {
    provider,
    keyName: key?.name,
    secrets: [...(key === undefined ? [] : [key]), ...headers.secrets],
  });
  const known = maybeKnownModel(name);
  const fetch = providerFetch({ ...options, key: key?.value, headers: headers.all, problem });
  const style = styleOf(provider, { model: id.model, name });
  let loading: Promise<LanguageModelV4> | undefined;
  return sdkModel({
    id: name,
    contextTokens: provider.settings.contextTokens ?? known?.contextTokens,
    load: () => loading ??= loadSdkModel(id.model, { provider, hasKey: key !== undefined, fetch }),
    style,
    pairsThoughts: provider.type === "openai" || provider.type === "xai",
    lateCalls: hasLateCalls(provider),
    prices: { own: settings.prices?.[name], known },
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

interface Headers {
  readonly all: Readonly<Record<string, string>>;
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
}

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** The configured headers, `${NAME}` and `${NAME:-default}` replaced. */
function headersOf({ name, settings }: Provider, env: Env): Headers {
  const secrets: { name: string; value: string }[] = [];
  const expand = (text: string) =>
    text.replaceAll(VARIABLE, (_, variable: string, other: string | undefined) => {
      const value = env(variable)?.trim() || other;
      if (value === undefined) {
        throw configError(
          `models.providers.${name}.headers needs the variable ${variable}, which is not set`,
        );
      }
      if (value.length >= 8 && value !== other) secrets.push({ name: variable, value });
      return value;
    });
  const entries = Object.entries(settings.headers ?? {}).map(([header, text]) =>
    [header, expand(text)] as const
  );
  return { all: Object.fromEntries(entries), secrets };
}
