import { type Frame, FrameReader, timerTurn } from "../../core/core.ts";
import type { BytePipe } from "../../host/commands/gadget_process.ts";

/** From here on whoever sends should wait: the other side is slower. */
const FULL_BYTES = 1024 * 1024;
/** Small frames that wait leave in one write of about this size. */
const WRITE_BYTES = 64 * 1024;
/** A pipe that is always full would leave no turn of the event loop to timers and other work. */
const BYTES_A_TURN = 256 * 1024;

/** What is told of a channel. */
export interface FrameChannelOptions {
  /** Of a frame that comes. */
  readonly maxBytes: number;
  /** What it throws ends the channel. */
  onFrame(frame: Frame): void;
  /** After {@linkcode FrameChannel.isFull} it is so no more. */
  onRoom(): void;
  /** Called once, unless it was closed before: nothing more comes or goes. The error is a `FrameError`, what `onFrame` threw, or of the system. */
  onEnd(error: unknown): void;
}

interface Waiting {
  readonly frame: Uint8Array;
  /** The number of the call that it begins. */
  readonly call: number | undefined;
}

/** Frames in both directions over a pipe. */
export class FrameChannel {
  readonly #pipe: BytePipe;
  readonly #options: FrameChannelOptions;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #isWriting = false;
  #isOver = false;

  constructor(pipe: BytePipe, options: FrameChannelOptions) {
    this.#pipe = pipe;
    this.#options = options;
    this.#readAll().catch((error) => this.#end(error));
  }

  /** More waits to be taken than is good. */
  get isFull(): boolean {
    return this.#waitingBytes >= FULL_BYTES;
  }

  /** Sends a frame behind those that wait. Never waits itself. @param call the number of the call that it begins */
  send(frame: Uint8Array, call?: number): void {
    if (this.#isOver) return;
    this.#waitingBytes += frame.length;
    if (this.#isWriting) this.#waiting.push({ frame, call });
    else void this.#writeAll(frame);
  }

  /** The numbers of the calls of which nothing was sent yet. */
  unsentCalls(): ReadonlySet<number> {
    return new Set(this.#waiting.flatMap(({ call }) => call ?? []));
  }

  /** Nothing is told any more; what waits is kept. */
  close(): void {
    this.#isOver = true;
  }

  async #writeAll(first: Uint8Array): Promise<void> {
    this.#isWriting = true;
    try {
      for (let next: Uint8Array | undefined = first; next !== undefined; next = this.#next()) {
        await this.#pipe.write(next);
        if (this.#isOver) return;
        const wasFull = this.isFull;
        this.#waitingBytes -= next.length;
        if (wasFull && !this.isFull) this.#options.onRoom();
      }
    } catch (error) {
      this.#end(error);
    } finally {
      this.#isWriting = false;
    }
  }

  /** What waits, as far as it fits into a write. */
  #next(): Uint8Array | undefined {
    const [only] = this.#waiting;
    let [count, length] = [1, only?.frame.length ?? 0];
    for (let more = this.#waiting[count]; more !== undefined; more = this.#waiting[++count]) {
      if (length + more.frame.length > WRITE_BYTES) break;
      length += more.frame.length;
    }
    if (only === undefined || count === 1) return this.#waiting.shift()?.frame;
    const joined = new Uint8Array(length);
    let at = 0;
    for (const { frame } of this.#waiting.splice(0, count)) {
      joined.set(frame, at);
      at += frame.length;
    }
    return joined;
  }

  async #readAll(): Promise<void> {
    const reader = new FrameReader({ maxBytes: this.#options.maxBytes });
    let bytes = 0;
    while (true) {
      const piece = await this.#pipe.read();
      if (this.#isOver) return;
      if (piece === undefined) return this.#end(undefined);
      for (const frame of reader.push(piece)) {
        this.#options.onFrame(frame);
        if (this.#isOver) return;
      }
      bytes += piece.length;
      if (bytes < BYTES_A_TURN) continue;
      bytes = 0;
      await timerTurn();
    }
  }

  #end(error: unknown): void {
    if (this.#isOver) return;
    this.close();
    this.#options.onEnd(error);
  }
}
