// The ways between the process of a gadget and Orrery: a socket, and for what blocks stdin and stdout. When either ends, so does the
// process, in the middle of whatever it does: Orrery is gone, or wants it gone.

import type { GadgetAddress, GadgetGreeting } from "../../core/gadget_message.ts";
import { FRAME_HEAD, readLength } from "../../core/frame_head.ts";
import { GadgetFrameReader, openFrame, type ReadFrame } from "./frames.ts";
import { apply, Buffer, Bytes, lengthOf, textOf } from "./primordials.ts";

const { stdin, stdout, stderr, exit } = Deno;
const { readSync } = stdin;
const { writeSync } = stdout;
const { writeSync: writeErrorSync } = stderr;

const MOST_GREETING = 4096;
const READ_BYTES = 65_536;

/** Ends the process. No handler of the gadget's is asked: see {@linkcode hardenExit}. */
export function endProcess(exitCode: number): never {
  return exit(exitCode);
}

/** Ends the process with a line for whoever reads its stderr. */
export function endWith(message: string, bytesOf: (text: string) => Uint8Array): never {
  try {
    apply(writeErrorSync, stderr, [bytesOf(`${message}\n`)]);
  } catch {
    // nobody reads it
  }
  return exit(1);
}

/** Reads the line that a process gets when it is started. Undefined when it is none: the process was started by hand. */
export function readGreeting(): GadgetGreeting | undefined {
  const buffer = new Buffer(MOST_GREETING);
  const bytes = new Bytes(buffer);
  let filled = 0;
  while (filled < MOST_GREETING && bytes[filled - 1] !== 10) {
    const count = stdin.readSync(new Bytes(buffer, filled));
    if (count === null) return undefined;
    filled += count;
  }
  return greetingIn(textOf(new Bytes(buffer, 0, filled)));
}

function greetingIn(line: string): GadgetGreeting | undefined {
  try {
    const { at, token }: Partial<GadgetGreeting> = JSON.parse(line);
    return typeof at === "object" && typeof token === "string" ? { at, token } : undefined;
  } catch {
    return undefined;
  }
}

interface Waiting {
  readonly frame: Uint8Array<ArrayBuffer>;
  next: Waiting | undefined;
}

/** The socket to Orrery. */
export class GadgetChannel {
  readonly #socket: Deno.Conn;
  readonly #read: Deno.Conn["read"];
  readonly #write: Deno.Conn["write"];
  #first: Waiting | undefined;
  #last: Waiting | undefined;
  #isWriting = false;
  #waitingBytes = 0;

  private constructor(socket: Deno.Conn) {
    this.#socket = socket;
    this.#read = socket.read;
    this.#write = socket.write;
  }

  static async open(at: GadgetAddress): Promise<GadgetChannel> {
    if ("path" in at) return new GadgetChannel(await Deno.connect({ transport: "unix", path: at.path }));
    const socket = await Deno.connect({ hostname: "127.0.0.1", port: at.port });
    socket.setNoDelay(true);
    return new GadgetChannel(socket);
  }

  /** Bytes that wait to be written: Orrery reads slower than they are made. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Sends a frame, behind those that were sent before. */
  send(frame: Uint8Array<ArrayBuffer>): void {
    const waiting: Waiting = { frame, next: undefined };
    this.#waitingBytes += lengthOf(frame);
    if (this.#last === undefined) this.#first = waiting;
    else this.#last.next = waiting;
    this.#last = waiting;
    if (!this.#isWriting) this.#writeAll();
  }

  /** Hands on what comes, for ever: with the end of the socket the process ends. */
  async receive(onFrame: (frame: ReadFrame) => void): Promise<never> {
    const reader = new GadgetFrameReader(onFrame);
    const buffer = new Buffer(READ_BYTES);
    const bytes = new Bytes(buffer);
    while (true) {
      reader.push(buffer, await this.#readInto(bytes));
    }
  }

  /** A socket that is broken is as good as closed. */
  async #readInto(bytes: Uint8Array): Promise<number> {
    try {
      const count = await apply(this.#read, this.#socket, [bytes]);
      return count !== null && count > 0 ? count : endProcess(0);
    } catch {
      return endProcess(0);
    }
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    for (let waiting = this.#first; waiting !== undefined; waiting = this.#first) {
      this.#first = waiting.next;
      if (this.#first === undefined) this.#last = undefined;
      await this.#writeFrame(waiting.frame);
    }
    this.#isWriting = false;
  }

  async #writeFrame(frame: Uint8Array<ArrayBuffer>): Promise<void> {
    const length = lengthOf(frame);
    try {
      for (let at = 0; at < length;) {
        const rest = at === 0 ? frame : new Bytes(frame.buffer, at);
        const count = await apply(this.#write, this.#socket, [rest]);
        if (typeof count !== "number" || count <= 0) return endProcess(0);
        at += count;
      }
    } catch {
      return endProcess(0); // it is broken
    }
    this.#waitingBytes -= length;
  }
}

/** Sends a frame on stdout and blocks until one comes back on stdin. */
export function exchangeSync(frame: Uint8Array<ArrayBuffer>): ReadFrame {
  const length = lengthOf(frame);
  for (let at = 0; at < length;) {
    at += syncCount(() => apply(writeSync, stdout, [new Bytes(frame.buffer, at)]));
  }
  const head = new Bytes(readExactly(FRAME_HEAD));
  const textLength = readLength(head, 0);
  const bodyLength = textLength + readLength(head, 4);
  return openFrame(readExactly(bodyLength), textLength, bodyLength);
}

function readExactly(length: number): ArrayBuffer {
  const buffer = new Buffer(length);
  for (let at = 0; at < length;) at += syncCount(() => apply(readSync, stdin, [new Bytes(buffer, at)]));
  return buffer;
}

function syncCount(work: () => number | null): number {
  let count: number | null;
  try {
    count = work();
  } catch {
    count = null;
  }
  return typeof count === "number" && count > 0 ? count : endProcess(0);
}
