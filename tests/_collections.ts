import {
  type Collection,
  type Embedder,
  memoryFiles,
  openCollection,
  type OpenCollectionOptions,
} from "../mod.ts";
// Collections for tests: files in memory, and embedders that need no model.

/** Documents by their file, as one collection in memory; each has its file without the ending as its id. */
export async function memoryCollection(
  documents: Readonly<Record<string, string | Uint8Array>>,
  options: Omit<OpenCollectionOptions, "world"> = {},
): Promise<Collection & Disposable> {
  const lines = Object.keys(documents).map((file) =>
    `  - { id: ${file.replace(/\.\w+$/, "")}, file: ${file} }`
  );
  const files = memoryFiles({
    ...documents,
    "c.collection.yml": `version: "0.1"\ndocuments:\n${lines.join("\n")}\n`,
  });
  return await openCollection("c.collection.yml", { ...options, world: { root: "/project", files } });
}

/** A model whose vectors count words: each meaning is a list of words, and has a dimension of its own. */
export interface WordEmbedder extends Embedder {
  /** The texts of each call. */
  readonly calls: readonly (readonly string[])[];
}

/** @param meanings words that mean the same */
export function wordEmbedder(
  meanings: readonly (readonly string[])[],
  { id = "fake/words", fail = () => undefined }: {
    readonly id?: string;
    /** What the nth call throws, from 1; undefined: nothing. */
    readonly fail?: (call: number) => Error | undefined;
  } = {},
): WordEmbedder {
  const calls: (readonly string[])[] = [];
  const count = (text: string, words: readonly string[]) =>
    words.reduce((sum, word) => sum + (text.toLowerCase().split(word).length - 1), 0);
  return {
    id,
    calls,
    embed(texts, { signal } = {}) {
      signal?.throwIfAborted();
      calls.push(texts);
      const failure = fail(calls.length);
      if (failure !== undefined) return Promise.reject(failure);
      return Promise.resolve(texts.map((text) => Float32Array.from(meanings, (words) => count(text, words))));
    },
  };
}
