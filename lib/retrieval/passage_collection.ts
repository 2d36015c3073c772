import type { Collection, Embedder, Passage } from "../core/core.ts";
import { indexDocuments, type IndexDocumentsOptions } from "./index_documents.ts";
import { type DocumentRole, type FoundRow, PassageIndex, type PassageVector } from "./passage_index.ts";

/** What a collection is made of. */
export interface PassageCollectionOptions extends IndexDocumentsOptions {
  /** The SQLite file of its index; `:memory:` keeps nothing. */
  readonly index: string;
  /** Without it only words are compared. */
  readonly embedder?: Embedder;
}

/** So many passages are ranked for each that is wanted: some are said twice, and two rankings agree on few. */
const DEPTH = 8;
const LEAST_RANKED = 32;

/**
 * Documents in which passages are found by their words (BM25), and with an embedder by their meaning too. What is in the index
 * already, and has not changed, is not read into it again.
 *
 * @throws {ProblemsError} for documents that cannot be read
 * @throws {Error} when the index cannot be opened, or the embedder does not answer
 */
export async function openPassageCollection(
  options: PassageCollectionOptions,
): Promise<Collection & Disposable> {
  const index = new PassageIndex(options.index);
  try {
    await indexDocuments(index, options);
    const vectors = options.embedder && new PassageVectors(index, options.embedder);
    await vectors?.complete(options.signal);
    return passageCollection(index, vectors);
  } catch (error) {
    index[Symbol.dispose]();
    throw error;
  }
}

function passageCollection(
  index: PassageIndex,
  vectors: PassageVectors | undefined,
): Collection & Disposable {
  function* passages(rows: readonly FoundRow[]): Generator<Passage> {
    for (const { row, score } of rows) {
      const passage = index.passage(row);
      if (passage !== undefined) yield { ...passage, score };
    }
  }
  return {
    async search(query, { limit, secondary, signal }) {
      signal?.throwIfAborted();
      if (limit < 1 || query.trim() === "") return [];
      const direction = await vectors?.direction(query, signal);
      const ranked = (role: DocumentRole): Iterator<Passage> => {
        const wanted = { role, limit: Math.max(LEAST_RANKED, limit * DEPTH) };
        const byWords = index.find(query, wanted);
        if (vectors === undefined || direction === undefined) return passages(byWords);
        return passages(fusedRanks([byWords, vectors.nearest(direction, wanted)]));
      };
      return sharedPlaces(ranked("primary"), secondary ? ranked("secondary") : [].values(), limit);
    },
    [Symbol.dispose]: () => index[Symbol.dispose](),
  };
}

/** The secondary documents get half of the places, the primary ones the odd one more; a share that is not used passes over. */
function sharedPlaces(
  primary: Iterator<Passage>,
  secondary: Iterator<Passage>,
  limit: number,
): readonly Passage[] {
  const taken = new Map<string, Passage>();
  const take = (from: Iterator<Passage>, most: number): void => {
    for (let next = taken.size < most ? from.next() : undefined; next?.done === false;) {
      if (!taken.has(next.value.text)) taken.set(next.value.text, next.value);
      next = taken.size < most ? from.next() : undefined;
    }
  };
  take(primary, Math.ceil(limit / 2));
  take(secondary, limit);
  take(primary, limit);
  return [...taken.values()].sort((a, b) => b.score - a.score);
}

/** How much the first places count more than those behind them (Cormack, Clarke and Büttcher 2009, reciprocal rank fusion). */
const SOFTNESS = 60;

/** Several rankings of the same passages as one, the best first; whose scores are on different scales, only their order counts. */
function fusedRanks(rankings: readonly (readonly FoundRow[])[]): readonly FoundRow[] {
  const scores = new Map<number, number>();
  for (const ranking of rankings) {
    for (const [index, { row }] of ranking.entries()) {
      scores.set(row, (scores.get(row) ?? 0) + 1 / (SOFTNESS + index + 1));
    }
  }
  return [...scores].map(([row, score]) => ({ row, score })).sort((a, b) => b.score - a.score);
}

/** So many texts are sent at once, and kept before the next ones are: Mistral takes no more, and an embedder divides nothing. */
const BATCH = 32;

/** The vectors of an index, by one model. */
class PassageVectors {
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

/** The same direction with the length 1, so that the product of two is the cosine of the angle between them; zeros stay zeros. */
function unitVector(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dotProduct(vector, vector));
  return length === 0 ? vector : vector.map((number) => number / length);
}

/** Both have the same dimensions. */
function dotProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
