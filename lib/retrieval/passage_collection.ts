import type { Collection, Passage } from "../core/collection.ts";
import type { Embedder } from "../core/embedder.ts";
import { indexDocuments, type IndexDocumentsOptions } from "./index_documents.ts";
import type { DocumentRole } from "./indexed_document.ts";
import { type FoundRow, PassageIndex } from "./passage_index.ts";
import { PassageVectors } from "./passage_vectors.ts";
import { fusedRanks } from "./rank_fusion.ts";

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
    return new PassageCollection(index, vectors);
  } catch (error) {
    index[Symbol.dispose]();
    throw error;
  }
}

class PassageCollection implements Collection, Disposable {
  readonly #index: PassageIndex;
  readonly #vectors: PassageVectors | undefined;

  constructor(index: PassageIndex, vectors: PassageVectors | undefined) {
    this.#index = index;
    this.#vectors = vectors;
  }

  async search(query: string, options: Parameters<Collection["search"]>[1]): Promise<readonly Passage[]> {
    const { limit, secondary, signal } = options;
    signal?.throwIfAborted();
    if (limit < 1 || query.trim() === "") return [];
    const direction = await this.#vectors?.direction(query, signal);
    const ranked = (role: DocumentRole) => this.#passages(this.#ranked(query, { role, limit, direction }));
    return sharedPlaces(ranked("primary"), secondary ? ranked("secondary") : [].values(), limit);
  }

  [Symbol.dispose](): void {
    this.#index[Symbol.dispose]();
  }

  #ranked(
    query: string,
    { role, limit, direction }: {
      readonly role: DocumentRole;
      readonly limit: number;
      readonly direction: Float32Array | undefined;
    },
  ): readonly FoundRow[] {
    const wanted = { role, limit: Math.max(LEAST_RANKED, limit * DEPTH) };
    const byWords = this.#index.find(query, wanted);
    if (this.#vectors === undefined || direction === undefined) return byWords;
    return fusedRanks([byWords, this.#vectors.nearest(direction, wanted)]);
  }

  *#passages(rows: readonly FoundRow[]): Generator<Passage> {
    for (const { row, score } of rows) {
      const passage = this.#index.passage(row);
      if (passage !== undefined) yield { ...passage, score };
    }
  }
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
