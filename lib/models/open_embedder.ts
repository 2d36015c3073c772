import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import { type Embedder, type ModelId, modelIdText, type ProviderType } from "../core/core.ts";
import { configError, resolvedModel } from "./model_config_error.ts";
import type { OpenModelsOptions } from "./open_models.ts";
import { type ProviderAccess, providerAccess } from "./provider/access.ts";
import { KEY_PLACEHOLDER } from "./provider/fetch.ts";
import type { FetchFunction, Provider } from "./provider/provider.ts";
import { DEFAULT_SILENCE } from "./provider/silence.ts";
import { nextAttempt, waitFor } from "./retrying.ts";
import { COMPATIBLE_NAME } from "./sdk/load.ts";
import { sdkProblem } from "./sdk/problem.ts";

/** What a model of embeddings is made of. */
export type OpenEmbedderOptions = Omit<OpenModelsOptions, "files" | "replay">;

/**
 * The model of embeddings of this name: `provider/model` of `openai`, `google`, `mistral` or an openai-compatible server, or an alias.
 * What may pass is tried again, three times unless the policy says otherwise; its package is loaded at the first call.
 *
 * @throws {ModelError} `config`, when there is no such provider, no key for it, or it has no embeddings
 */
export function openEmbedder(name: string, options: OpenEmbedderOptions): Embedder {
  const id = resolved(name, options);
  const access = providerAccess(id, { silence: DEFAULT_SILENCE, ...options });
  const type = EMBEDDING_PROVIDERS.find((each) => each === access.provider.type);
  if (type === undefined) throw configError(`The model ${modelIdText(id)} makes no embeddings: ${EXPECTED}`);
  let loading: Promise<EmbeddingModelV4> | undefined;
  const load = () =>
    loading ??= loadSdkEmbeddings(id.model, { ...access, type, fetch: access.fetch("json") });
  return {
    id: modelIdText(id),
    async embed(texts, { signal } = {}) {
      const model = await load();
      const most = Math.max(1, await model.maxEmbeddingsPerCall ?? Infinity);
      const vectors: Float32Array[] = [];
      for (let at = 0; at < texts.length; at += most) {
        const values = texts.slice(at, at + most);
        vectors.push(
          ...await patient(() => vectorsOf(model, values, { access, signal }), { ...options, signal }),
        );
      }
      return vectors;
    },
  };
}

const EXPECTED =
  `expected one of openai, google, mistral or of an openai-compatible server, such as openai/text-embedding-3-small`;

function resolved(name: string, { settings }: OpenEmbedderOptions): ModelId {
  const { id } = resolvedModel(name, settings);
  if (id.provider !== "script" && id.provider !== "replay") return id;
  throw configError(`The model ${modelIdText(id)} makes no embeddings: ${EXPECTED}`);
}

async function vectorsOf(
  model: EmbeddingModelV4,
  values: string[],
  { access: { problem }, signal }: {
    readonly access: ProviderAccess;
    readonly signal: AbortSignal | undefined;
  },
): Promise<readonly Float32Array[]> {
  try {
    const { embeddings } = await model.doEmbed({ values, ...(signal && { abortSignal: signal }) });
    return embeddings.map((numbers) => Float32Array.from(numbers));
  } catch (error) {
    throw sdkProblem(error, { problem, characters: 0, signal });
  }
}

async function patient<Result>(
  attempt: () => Promise<Result>,
  { clock, random = Math.random, retry = {}, signal }:
    & Pick<OpenEmbedderOptions, "clock" | "random" | "retry">
    & {
      readonly signal: AbortSignal | undefined;
    },
): Promise<Result> {
  for (let tried = 1;; tried++) {
    try {
      return await attempt();
    } catch (error) {
      const most = retry.retries ?? 3;
      const { delayMs } = nextAttempt(error, { ...retry, clock, random, attempt: tried, most });
      await waitFor(delayMs, { clock, signal });
    }
  }
}

// Each package is imported when a model of its kind is first asked, with its address and key given: see load_sdk_model.ts.

/** The types of providers that have embeddings. */
type EmbeddingProviderType = Extract<
  ProviderType,
  "openai" | "google" | "mistral" | "openai-compatible"
>;

/** All of them. */
const EMBEDDING_PROVIDERS: readonly EmbeddingProviderType[] = [
  "openai",
  "google",
  "mistral",
  "openai-compatible",
];

/** The model of embeddings of the AI SDK. */
async function loadSdkEmbeddings(
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
