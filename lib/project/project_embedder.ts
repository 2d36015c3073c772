import type { Embedder } from "../core/embedder.ts";
import { openEmbedder } from "../models/open_embedder.ts";
import { modelMeans } from "./model_means.ts";
import type { ModelMeansOptions } from "./model_means.ts";

/** The model of embeddings of a project. @throws {ModelError} `config`, that says what is missing */
export function projectEmbedder(options: ModelMeansOptions & { readonly name: string }): Embedder {
  return openEmbedder(options.name, modelMeans(options));
}
