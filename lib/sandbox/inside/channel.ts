// The ways between the process of a gadget and Orrery: a socket, and for what blocks stdin and stdout. When either ends, so does the
// process, in the middle of whatever it does: Orrery is gone, or wants it gone.

import { encodeFrame, FrameReader } from "../../core/frames.ts";
import type { FromGadget, GadgetGreeting, ToGadget } from "../../core/gadget_message.ts";

// Before `Deno` is what the gadget sees.
const { stdin, stdout, stderr, exit } = Deno;

const MOST_GREETING = 4096;
const READ_BYTES = 65_536;
const NOTHING = new Uint8Array();

/** Ends the process with a line for whoever reads its stderr. */
export function endWith(message: string): never {
  try {
    stderr.writeSync(new TextEncoder().encode(`${message}\n`));
  } catch {
    // nobody reads it
  }
  return exit(1);
}

/** Reads the line that a process gets when it is started. Undefined when it is none: the process was started by hand. */
export function readGreeting(): GadgetGreeting | undefined {
  const bytes = new Uint8Array(MOST_GREETING);
  let filled = 0;
  while (filled < MOST_GREETING && bytes[filled - 1] !== 10) {
    const count = stdin.readSync(bytes.subarray(filled));
    if (count === null) return undefined;
    filled += count;
  }
  try {
    const { at, token }: Partial<GadgetGreeting> = JSON.parse(
      new TextDecoder().decode(bytes.subarray(0, filled)),
    );
    return typeof at === "object" && typeof token === "string" ? { at, token } : undefined;
  } catch {
    return undefined;
  }
}

/** The socket to Orrery. */
export class GadgetChannel {
  readonly #socket: Deno.Conn;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #isWriting = false;

  private constructor(socket: Deno.Conn) {
    this.#socket = socket;
  }

  /** Connects, and says the token. */
  static async open({ at, token }: GadgetGreeting): Promise<GadgetChannel> {
    const socket = "path" in at
      ? await Deno.connect({ transport: "unix", path: at.path })
      : await Deno.connect({ hostname: "127.0.0.1", port: at.port });
    if ("setNoDelay" in socket) socket.setNoDelay(true);
    const channel = new GadgetChannel(socket);
    channel.#write(new TextEncoder().encode(token));
    return channel;
  }

  /** Bytes that wait to be written: Orrery reads slower than they are made. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /**
   * Sends a message, behind those that were sent before.
   *
   * @param options.maxBytes of its frame. Default: no limit
   * @param options.what is told, for the error
   * @throws {RangeError} when it takes more
   */
  send(
    message: FromGadget,
    { bytes, maxBytes = Infinity, what = "a message" }: {
      readonly bytes?: Uint8Array;
      readonly maxBytes?: number;
      readonly what?: string;
    } = {},
  ): void {
    const frame = encodeFrame(message, bytes);
    if (frame.length > maxBytes) {
      throw new RangeError(`${what} takes ${frame.length} bytes, expected at most ${maxBytes}`);
    }
    this.#write(frame);
  }

  #write(bytes: Uint8Array): void {
    this.#waitingBytes += bytes.length;
    this.#waiting.push(bytes);
    if (!this.#isWriting) void this.#writeAll();
  }

  /** Hands on what comes, for ever: with the end of the socket the process ends. */
  async receive(onMessage: (message: ToGadget, bytes: Uint8Array) => void): Promise<never> {
    const reader = new FrameReader({ maxBytes: Infinity });
    const buffer = new Uint8Array(READ_BYTES);
    while (true) {
      const count = await this.#socket.read(buffer).catch(() => null); // a socket that is broken is as good as closed
      if (count === null) return exit(0);
      for (const { value, bytes } of reader.push(buffer.subarray(0, count))) {
        const message: unknown = value;
        onMessage(message as ToGadget, bytes); // Orrery says nothing else
      }
    }
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    try {
      for (let frame = this.#waiting.shift(); frame !== undefined; frame = this.#waiting.shift()) {
        for (let at = 0; at < frame.length;) at += await this.#socket.write(frame.subarray(at));
        this.#waitingBytes -= frame.length;
      }
    } catch {
      exit(0); // it is broken
    }
    this.#isWriting = false;
  }
}

/** Sends an effect on stdout and blocks until its answer is on stdin. */
export function exchangeSync(
  message: FromGadget,
  bytes: Uint8Array = NOTHING,
): { readonly message: ToGadget; readonly bytes: Uint8Array } {
  const frame = encodeFrame(message, bytes);
  for (let at = 0; at < frame.length;) at += syncCount(() => stdout.writeSync(frame.subarray(at)));
  const reader = new FrameReader({ maxBytes: Infinity });
  const buffer = new Uint8Array(READ_BYTES);
  while (true) {
    const count = syncCount(() => stdin.readSync(buffer)); // nothing comes behind the answer
    for (const { value, bytes } of reader.push(buffer.subarray(0, count))) {
      const answer: unknown = value;
      return { message: answer as ToGadget, bytes };
    }
  }
}

function syncCount(work: () => number | null): number {
  try {
    return work() ?? exit(0);
  } catch {
    return exit(0);
  }
}
