/** Anything that bytes can be read from, such as a connection. */
export interface ByteSource {
  read(into: Uint8Array<ArrayBuffer>): Promise<number | null>;
}

/** Small, so that a compressed chunk cannot unfold to more than some megabytes at once. */
const CHUNK_BYTES = 16 * 1024;

/** Reads lines and bytes from one source. */
export class ByteReader {
  readonly #source: ByteSource;
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array();

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** At most `maxBytes` bytes, at least one; undefined at the end. */
  async some(maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.#rest.length === 0 && !await this.#fill()) return undefined;
    const chunk = this.#rest.subarray(0, maxBytes);
    this.#rest = this.#rest.subarray(chunk.length);
    return chunk;
  }

  /**
   * A line without its end (LF or CRLF), a character for each byte; undefined at the end.
   *
   * @throws {Error} when it is longer than `maxBytes`, or broken off.
   */
  async line(maxBytes: number): Promise<string | undefined> {
    let line = "";
    while (true) {
      const end = this.#rest.indexOf(0x0a);
      const part = end < 0 ? this.#rest : this.#rest.subarray(0, end);
      if (line.length + part.length > maxBytes) {
        throw new Error(`a line of its head is longer than ${maxBytes} bytes`);
      }
      line += latin1(part);
      this.#rest = this.#rest.subarray(part.length + (end < 0 ? 0 : 1));
      if (end >= 0) return line.endsWith("\r") ? line.slice(0, -1) : line;
      if (!await this.#fill()) {
        if (line === "") return undefined;
        throw new Error("the connection ended in the middle of a line");
      }
    }
  }

  async #fill(): Promise<boolean> {
    const chunk = new Uint8Array(CHUNK_BYTES);
    const length = await this.#source.read(chunk);
    if (length === null || length === 0) return false;
    this.#rest = chunk.subarray(0, length);
    return true;
  }
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
