/** A stream of a program's output. */
export interface TextSource {
  readonly stream: ReadableStream<Uint8Array>;
  /** How a piece of it is shown. Default: as it is. */
  readonly shown?: (text: string) => string;
}

/**
 * Reads streams of bytes as one text, in the order in which they come, and keeps the first `maxBytes`; the rest is read too, so that
 * nobody waits for us. What is no UTF-8 becomes U+FFFD.
 */
export class CappedText {
  #text = "";
  #bytesLeft: number;
  #dropped = 0;
  #isDone = false;
  readonly #onText: ((text: string) => void) | undefined;
  readonly #readers: readonly ReadableStreamDefaultReader<Uint8Array>[];
  /** Settles at the end of all streams. @throws what `onText` threw. */
  readonly done: Promise<void>;

  constructor(
    sources: readonly TextSource[],
    options: { readonly maxBytes: number; readonly onText?: (text: string) => void },
  ) {
    this.#bytesLeft = options.maxBytes;
    this.#onText = options.onText;
    const read = sources.map(({ stream, shown = (text) => text }) => ({ reader: stream.getReader(), shown }));
    this.#readers = read.map(({ reader }) => reader);
    this.done = Promise.all(read.map((one) => this.#readAll(one))).then(() => {});
    this.done.then(() => this.#isDone = true, () => {}); // a failure is told by end()
  }

  get text(): string {
    return this.#text;
  }

  /** How many bytes were not kept. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Waits for the end of the streams, but not longer than `waitMs`. @throws what `onText` threw. */
  async end(waitMs: number): Promise<void> {
    if (this.#isDone) return;
    const timer = setTimeout(() => this.#stop(), waitMs);
    try {
      await this.done;
    } finally {
      clearTimeout(timer);
      this.#stop();
    }
  }

  #stop(): void {
    for (const reader of this.#readers) reader.cancel().catch(() => {});
  }

  async #readAll(
    { reader, shown }: {
      readonly reader: ReadableStreamDefaultReader<Uint8Array>;
      readonly shown: (text: string) => string;
    },
  ): Promise<void> {
    const decoder = new TextDecoder();
    let last = new Uint8Array();
    let isCut = false;
    while (true) {
      const { value } = await reader.read().catch(() => ({ value: undefined })); // broken off is ended
      if (value === undefined) break;
      const kept = value.subarray(0, this.#bytesLeft);
      this.#bytesLeft -= kept.length;
      this.#dropped += value.length - kept.length;
      isCut ||= kept.length < value.length;
      if (kept.length === 0) continue;
      last = lastBytes(last, kept);
      this.#add(shown(decoder.decode(kept, { stream: true })));
    }
    // A character that the cut divided is left out; one that the program itself broke off is shown as such.
    if (isCut) this.#dropped += unfinishedBytes(last);
    else this.#add(shown(decoder.decode()));
  }

  #add(text: string): void {
    if (text === "") return;
    this.#text += text;
    this.#onText?.(text);
  }
}

/** As many as a character can have without being whole. */
const MOST_UNFINISHED = 3;

function lastBytes(before: Uint8Array, kept: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = kept.length >= MOST_UNFINISHED ? kept : [...before, ...kept];
  return Uint8Array.from(bytes.slice(-MOST_UNFINISHED));
}

/** How many bytes at the end are the beginning of a character of UTF-8. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let count = 1; count <= bytes.length; count++) {
    try {
      const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
      if (decoder.decode(bytes.subarray(-count), { stream: true }) === "") return count;
      return 0;
    } catch { /* the character begins before these */ }
  }
  return 0;
}
