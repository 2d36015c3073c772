/** Reads a stream to its end and keeps the last bytes of it; what was broken off is ended. */
export class LastText {
  readonly #maxBytes: number;
  #kept = new Uint8Array();
  /** Settles at the end of the stream. */
  readonly done: Promise<void>;

  constructor(stream: ReadableStream<Uint8Array>, options: { readonly maxBytes: number }) {
    this.#maxBytes = options.maxBytes;
    this.done = this.#readAll(stream);
  }

  /** What was kept, as UTF-8; what is none is U+FFFD. */
  get text(): string {
    return new TextDecoder().decode(this.#kept);
  }

  async #readAll(stream: ReadableStream<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of stream) this.#add(chunk);
    } catch { /* broken off */ }
  }

  #add(chunk: Uint8Array): void {
    const both = new Uint8Array(this.#kept.length + chunk.length);
    both.set(this.#kept);
    both.set(chunk, this.#kept.length);
    this.#kept = both.slice(-this.#maxBytes);
  }
}
