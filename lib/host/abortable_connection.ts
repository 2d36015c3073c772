import type { ByteChannel } from "./http_exchange.ts";

/** A connection that an abort closes, which is what ends a read that waits. */
export class AbortableConnection implements ByteChannel {
  readonly signal: AbortSignal | undefined;
  readonly #onAbort = () => this.close();
  #open: Deno.Conn | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  open(connection: Deno.Conn): void {
    this.#open = connection;
    if (this.signal?.aborted) this.close();
  }

  read(into: Uint8Array<ArrayBuffer>): Promise<number | null> {
    return this.#opened().read(into);
  }

  write(bytes: Uint8Array<ArrayBuffer>): Promise<number> {
    return this.#opened().write(bytes);
  }

  close(): void {
    this.signal?.removeEventListener("abort", this.#onAbort);
    try {
      this.#open?.close();
    } catch { /* closed already */ }
  }

  #opened(): Deno.Conn {
    if (this.#open === undefined) throw new Error("the connection is not open");
    return this.#open;
  }
}
