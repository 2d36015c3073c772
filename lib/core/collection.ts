/** A piece of a document that fits a query. */
export interface Passage {
  /** Of the document: its `metadata.name`, else its id. */
  readonly name: string;
  readonly link?: string;
  /** The id of the document. */
  readonly document: string;
  readonly text: string;
  /** Higher fits better; comparable within one answer only. */
  readonly score: number;
}

/** Documents in which passages are looked for (conversations.md 2.8). */
export interface Collection {
  /**
   * The best passages for a query, best first, at most `limit`; none when nothing fits. With `secondary` the secondary documents get half
   * of the places, the primary ones the odd one more, and a share that is not used passes over.
   *
   * @throws {Error} when the documents cannot be read, or the model of the embeddings does not answer
   */
  search(
    query: string,
    options: { readonly limit: number; readonly secondary: boolean; readonly signal?: AbortSignal },
  ): Promise<readonly Passage[]>;
}
