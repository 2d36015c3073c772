import { messageOf } from "../core/source_error.ts";

/** Where text goes: stdout or stderr. */
export interface Output {
  readonly isTerminal: boolean;
  /** True once the reader has gone away (EPIPE): everything after that is dropped, which is no error. */
  readonly closed: boolean;
  /** Written whole and in order, however slow the reader is. @throws {Error} for stdout, when the disk is full, say. */
  write(text: string): Promise<void>;
  /** The same at once, for the moments in which nothing can be awaited, such as a second Ctrl-C. */
  writeNow(text: string): void;
}

interface Stream {
  write(bytes: Uint8Array): Promise<number>;
  writeSync(bytes: Uint8Array): number;
  isTerminal(): boolean;
}

/** How long to wait when a pipe that somebody set to non-blocking is full. */
const FULL_PIPE_DELAY_MS = 5;

/** Wraps stdout or stderr. What cannot be said on stderr cannot be said anywhere: it is dropped, and the work goes on. */
export function createOutput(stream: Stream, name: "stdout" | "stderr"): Output {
  return new HostOutput(stream, name);
}

class HostOutput implements Output {
  readonly isTerminal: boolean;
  readonly #stream: Stream;
  readonly #name: "stdout" | "stderr";
  readonly #encoder = new TextEncoder();
  #closed = false;
  #last: Promise<void> = Promise.resolve();

  constructor(stream: Stream, name: "stdout" | "stderr") {
    this.#stream = stream;
    this.#name = name;
    this.isTerminal = stream.isTerminal();
  }

  get closed(): boolean {
    return this.#closed;
  }

  write(text: string): Promise<void> {
    if (text === "") return this.#last;
    const bytes = this.#encoder.encode(text);
    const written = this.#last.then(() => this.#writeAll(bytes));
    this.#last = written.catch(() => {});
    return written;
  }

  writeNow(text: string): void {
    try {
      const bytes = this.#encoder.encode(text);
      for (let at = 0; at < bytes.length && !this.#closed;) at += this.#stream.writeSync(bytes.subarray(at));
    } catch {
      this.#closed = true;
    }
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !this.#closed;) {
      try {
        at += await this.#stream.write(bytes.subarray(at));
      } catch (error) {
        if (error instanceof Deno.errors.WouldBlock) await pause();
        else if (error instanceof Deno.errors.BrokenPipe || this.#name === "stderr") this.#closed = true;
        else throw new Error(`Cannot write to ${this.#name}: ${reasonOf(error)}`, { cause: error });
      }
    }
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, FULL_PIPE_DELAY_MS));
}

/** `No space left on device (os error 28)` -> `No space left on device`. */
function reasonOf(error: unknown): string {
  return messageOf(error).replace(/ \(os error \d+\).*$/s, "");
}
