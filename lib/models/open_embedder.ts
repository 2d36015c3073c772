import { embedMany } from "ai";
import { type Embedder, type ModelId, modelIdText } from "../core/core.ts";
import { type ProviderAccess, providerAccess } from "./exchange.ts";
import { configError, resolvedModel } from "./known_models.ts";
import type { OpenModelsOptions } from "./open_models.ts";
import { sdkProblem } from "./problem.ts";
import { nextAttempt } from "./retrying.ts";

/** What a model of embeddings is made of. */
export type OpenEmbedderOptions = Omit<OpenModelsOptions, "files" | "replay">;

const EXPECTED =
  `expected one of openai, google, mistral or of an openai-compatible server, such as openai/text-embedding-3-small`;

/**
 * The model of embeddings of this name: `provider/model` of `openai`, `google`, `mistral` or an openai-compatible server, or an alias.
 * What may pass is tried again, three times unless the policy says otherwise; more texts than a provider takes at once go in several calls.
 *
 * @throws {ModelError} `config`, when there is no such provider, no key for it, or it has no embeddings
 */
export function openEmbedder(name: string, options: OpenEmbedderOptions): Embedder {
  const { id } = resolvedModel(name, options.settings);
  const none = () => configError(`The model ${modelIdText(id)} makes no embeddings: ${EXPECTED}`);
  if (id.provider === "script" || id.provider === "replay") throw none();
  const access = providerAccess(id, options);
  if (!/^(openai|google|mistral|openai-compatible)$/.test(access.provider.type)) throw none();
  const { clock, random, retry } = options;
  return {
    id: modelIdText(id),
    async embed(texts, { signal } = {}) {
      for (let attempt = 1;; attempt++) {
        try {
          return await vectorsOf(id, { access, texts, signal });
        } catch (error) {
          await nextAttempt(error, { clock, random, ...retry, attempt, signal }).wait();
        }
      }
    },
  };
}

async function vectorsOf(
  { model }: ModelId,
  { access, texts, signal }: {
    readonly access: ProviderAccess;
    readonly texts: readonly string[];
    readonly signal: AbortSignal | undefined;
  },
): Promise<readonly Float32Array[]> {
  const question = access.open("json", signal);
  try {
    const { embeddings } = await embedMany({
      model: (await question.sdk()).embeddingModel(model),
      values: [...texts],
      maxRetries: 0, // it is tried again here, where the policy and the clock are
      maxParallelCalls: 1,
      abortSignal: question.signal,
    });
    return embeddings.map((numbers) => Float32Array.from(numbers));
  } catch (error) {
    throw sdkProblem(error, { problem: access.problem, characters: 0, signal });
  } finally {
    question.close();
  }
}
