/** The beginning of a text that is too long to be handed on whole. */
export class CutText {
  readonly text: string;
  /** Bytes of UTF-8 that the whole text takes; undefined where nobody knows, as of a stream that was ended. */
  readonly wholeBytes: number | undefined;

  constructor(text: string, wholeBytes: number | undefined) {
    this.text = text;
    this.wholeBytes = wholeBytes;
  }

  /** What is left when only so many bytes may be kept, with a line that says how much is missing. @param why which limit it was */
  shortened(maxBytes: number, why: string): string {
    const kept = startOfBytes(this.text, maxBytes);
    return `${kept.text}\n[cut: ${this.#missing(kept.bytes)}; ${why}]`;
  }

  /** For whoever knows of no limit. */
  toString(): string {
    return this.shortened(Infinity, "it was too long to be handed on");
  }

  toJSON(): string {
    return this.toString();
  }

  #missing(keptBytes: number): string {
    const { wholeBytes } = this;
    if (wholeBytes === undefined) return `the stream was ended here, so nobody knows how much is missing`;
    return `${Math.max(0, wholeBytes - keptBytes)} of ${wholeBytes} bytes are missing`;
  }
}

/** The beginning of a text that takes at most so many bytes of UTF-8, cut between two characters. */
export function startOfBytes(
  text: string,
  maxBytes: number,
): { readonly text: string; readonly bytes: number } {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxBytes) return { text, bytes: bytes.length };
  let length = maxBytes;
  while (length > 0 && ((bytes[length] ?? 0) & 0xc0) === 0x80) length--; // inside of a character
  return { text: new TextDecoder().decode(bytes.subarray(0, length)), bytes: length };
}
