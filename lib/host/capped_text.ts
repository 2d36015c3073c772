/** Reads a stream of bytes as text and keeps the first `maxBytes`; the rest is read too, so that nobody waits for us. */
export class CappedText {
  #text = "";
  #bytesLeft: number;
  #truncated = false;
  readonly #onText: ((text: string) => void) | undefined;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  /** Settles at the end of the stream. @throws what `onText` threw. */
  readonly done: Promise<void>;

  constructor(
    stream: ReadableStream<Uint8Array>,
    options: { readonly maxBytes: number; readonly onText?: (text: string) => void },
  ) {
    this.#bytesLeft = options.maxBytes;
    this.#onText = options.onText;
    this.#reader = stream.getReader();
    this.done = this.#readAll();
    this.done.catch(() => {}); // told by end()
  }

  get text(): string {
    return this.#text;
  }

  /** Whether something was dropped. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** Waits for the end of the stream, but not longer than `waitMs`. @throws what `onText` threw. */
  async end(waitMs: number): Promise<void> {
    const timer = setTimeout(() => this.#stop(), waitMs);
    try {
      await this.done;
    } finally {
      clearTimeout(timer);
      this.#stop();
    }
  }

  #stop(): void {
    this.#reader.cancel().catch(() => {});
  }

  async #readAll(): Promise<void> {
    while (true) {
      const { value } = await this.#reader.read().catch(() => ({ value: undefined })); // broken off is ended
      if (value === undefined) break;
      if (value.length > this.#bytesLeft) this.#truncated = true;
      const kept = value.subarray(0, this.#bytesLeft);
      this.#bytesLeft -= kept.length;
      this.#add(this.#decoder.decode(kept, { stream: true }));
    }
    // A character that the cut divided is left out; one that the program itself broke off is shown as such.
    if (!this.#truncated) this.#add(this.#decoder.decode());
  }

  #add(text: string): void {
    if (text === "") return;
    this.#text += text;
    this.#onText?.(text);
  }
}
