// Answers that go on for as long as there is something to tell. They are pulled: what a slow reader has not taken yet is not made yet, and a
// reader that has gone is known by `cancel`, on an idle connection too. `request.signal` fires at every end, and warns of it on stderr, where Deno
// does not run with the `no-legacy-abort` of deno.json.

import { quietTimer } from "../host/process.ts";
import type { AnswerHeaders } from "./answers.ts";
import { HttpProblem } from "./problem.ts";

/** Where the text of an answer comes from. */
export interface TextSource {
  /** The next piece, when there is one; undefined at the end. */
  next(): Promise<string | undefined>;
  /** The reader has gone, or the server ends: ends a `next` that waits. */
  leave(): void;
}

/** What an answer that goes on may be given besides. */
export interface TextStreamOptions {
  /** Default `text/event-stream`. */
  readonly type?: string;
  readonly headers?: AnswerHeaders;
  /** Sent when nothing else was for 15 s. Default: a comment of SSE; the empty text sends nothing. */
  readonly idle?: string;
  /** The reader has gone; not called when the server ends. */
  readonly onGone?: () => void;
}

interface OpenStream {
  readonly controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  readonly source: TextSource;
  readonly idle: Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();

/** All answers that go on, under one timer. */
export class TextStreams {
  readonly #open = new Set<OpenStream>();
  readonly #most: number;
  readonly #idleMs: number;
  #timer: Disposable | undefined;
  #isClosed = false;

  /** @param options.most how many there may be at once; default 1,000. @param options.idleMs default 15,000 */
  constructor({ most = 1_000, idleMs = 15_000 }: { readonly most?: number; readonly idleMs?: number } = {}) {
    this.#most = most;
    this.#idleMs = idleMs;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The answer. @throws {HttpProblem} 503 `readers` */
  open(
    source: TextSource,
    { type = "text/event-stream", headers, idle = ": \n\n", onGone }: TextStreamOptions = {},
  ): Response {
    if (this.#open.size >= this.#most) {
      source.leave();
      throw new HttpProblem(
        503,
        "readers",
        `${this.#most} answers are being read already, expected fewer: try again when one has ended`,
        { headers: { "retry-after": "1" } },
      );
    }
    return new Response(this.#stream(source, { idle: encoder.encode(idle), onGone }), {
      headers: {
        "content-type": type,
        "cache-control": "no-store, no-transform",
        "x-accel-buffering": "no",
        ...headers,
      },
    });
  }

  /** Ends all of them. */
  close(): void {
    for (const { source } of this.#open) source.leave();
    this.#timer?.[Symbol.dispose]();
    this.#isClosed = true;
  }

  #stream(
    source: TextSource,
    { idle, onGone }: Pick<OpenStream, "idle"> & { readonly onGone: TextStreamOptions["onGone"] | undefined },
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    let open: OpenStream | undefined;
    const end = (): void => {
      if (open !== undefined) this.#open.delete(open);
    };
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        open = { controller, source, idle };
        this.#open.add(open);
        if (!this.#isClosed) this.#timer ??= this.#arm();
      },
      pull: async (controller) => {
        try {
          const text = await source.next();
          if (text !== undefined) return controller.enqueue(encoder.encode(text));
          end();
          controller.close();
        } catch (error) {
          end();
          source.leave();
          throw error;
        }
      },
      cancel: () => {
        end();
        source.leave();
        onGone?.();
      },
    }, { highWaterMark: 1 });
  }

  /** A reader that waits is told that we are still there; one that does not take what it has been given already is not. */
  #arm(): Disposable {
    return quietTimer(this.#idleMs, () => {
      for (const { controller, idle } of this.#open) {
        if (idle.length > 0 && (controller.desiredSize ?? 0) > 0) controller.enqueue(idle);
      }
      this.#timer = this.#open.size > 0 ? this.#arm() : undefined;
    });
  }
}
