/** A model that turns texts into vectors: texts of like meaning lie in like directions. */
export interface Embedder {
  /** `provider/model`. Vectors of another id are not compared with its own. */
  readonly id: string;
  /** How many numbers a vector has. Absent: as many as the first one that comes. */
  readonly dimensions?: number;
  /**
   * A vector for each text, in their order.
   *
   * @throws {Error} when the model does not answer; the reason of the signal when that is aborted
   */
  embed(
    texts: readonly string[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly Float32Array[]>;
}
