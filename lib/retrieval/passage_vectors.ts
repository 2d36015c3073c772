import type { Embedder } from "../core/embedder.ts";
import type { DocumentRole } from "./indexed_document.ts";
import type { FoundRow, PassageIndex, PassageVector } from "./passage_index.ts";
import { dotProduct, unitVector } from "./vector_math.ts";

/** So many texts are sent at once, and kept before the next ones are. */
const BATCH = 32;

/** The vectors of an index, by one model. */
export class PassageVectors {
  readonly #index: PassageIndex;
  readonly #embedder: Embedder;
  readonly #kept = new Map<DocumentRole, readonly PassageVector[]>();

  constructor(index: PassageIndex, embedder: Embedder) {
    this.#index = index;
    this.#embedder = embedder;
  }

  /** Makes the vectors that are not there yet. What was made before a failure stays. @throws {Error} of the model */
  async complete(signal?: AbortSignal): Promise<void> {
    const passages = this.#index.withoutVector(this.#embedder.id);
    for (let at = 0; at < passages.length; at += BATCH) {
      const batch = passages.slice(at, at + BATCH);
      const vectors = await this.#embed(batch.map(({ text }) => text), signal);
      const made = batch.flatMap(({ row }, index) => {
        const vector = vectors[index];
        return vector === undefined ? [] : [{ row, vector }];
      });
      this.#index.addVectors(this.#embedder.id, made);
    }
    this.#kept.clear();
  }

  /** The direction that a question has. */
  async direction(question: string, signal?: AbortSignal): Promise<Float32Array> {
    const [vector = new Float32Array()] = await this.#embed([question], signal);
    return vector;
  }

  /** The passages that lie nearest to a direction, by the exact cosine; none of those that lie across or opposite. */
  nearest(
    direction: Float32Array,
    { role, limit }: { readonly role: DocumentRole; readonly limit: number },
  ): readonly FoundRow[] {
    const vectors = this.#kept.get(role) ?? this.#index.vectors(this.#embedder.id, role);
    this.#kept.set(role, vectors);
    return vectors.filter(({ vector }) => vector.length === direction.length)
      .map(({ row, vector }) => ({ row, score: dotProduct(vector, direction) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  }

  async #embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
    const { id, dimensions } = this.#embedder;
    const vectors = await this.#embedder.embed(texts, { signal });
    if (vectors.length !== texts.length) {
      throw new Error(`The model ${id} gave ${vectors.length} vectors for ${texts.length} texts`);
    }
    const wanted = dimensions ?? vectors[0]?.length ?? 0;
    const wrong = vectors.find((vector) => vector.length !== wanted || !vector.every(Number.isFinite));
    if (wrong === undefined && wanted > 0) return vectors.map(unitVector);
    const what = wrong?.length === wanted
      ? "a number that is not finite"
      : `a vector of ${wrong?.length ?? 0} numbers`;
    throw new Error(`The model ${id} gave ${what}, expected ${wanted || "some"} numbers for each text`);
  }
}
