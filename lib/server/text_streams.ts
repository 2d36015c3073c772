// Answers that go on for as long as there is something to tell. They are pulled: what a slow reader has not taken yet is not made yet, and a
// reader that has gone is known by `cancel`, on an idle connection too. `request.signal` fires at every end, and warns of it on stderr, where Deno
// does not run with the `no-legacy-abort` of deno.json.

import { quietTimer } from "../host/process.ts";
import type { AnswerHeaders } from "./answers.ts";
import { HttpProblem } from "./problem.ts";

/** Where the text of an answer comes from. */
export interface TextSource {
  /** Its pieces, each when there is one. */
  readonly texts: AsyncIterator<string, undefined>;
  /** The reader has gone, or the server ends: ends a `next` that waits. */
  leave(): void;
}

/** What an answer that goes on may be given besides. */
export interface TextStreamOptions {
  readonly headers?: AnswerHeaders;
  /** The reader has gone; not called when the server ends. */
  readonly onGone?: () => void;
}

const encoder = new TextEncoder();

/** A comment of SSE. */
const IDLE = encoder.encode(": \n\n");

/** All answers that go on. */
export class TextStreams {
  readonly #open = new Set<TextSource>();
  readonly #most: number;
  readonly #idleMs: number;

  /** @param options.most how many there may be at once; default 1,000. @param options.idleMs default 15,000 */
  constructor({ most = 1_000, idleMs = 15_000 }: { readonly most?: number; readonly idleMs?: number } = {}) {
    this.#most = most;
    this.#idleMs = idleMs;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The answer, as `text/event-stream`. @throws {HttpProblem} 503 `readers` */
  open(source: TextSource, { headers, onGone }: TextStreamOptions = {}): Response {
    if (this.#open.size >= this.#most) {
      source.leave();
      throw new HttpProblem(
        503,
        "readers",
        `${this.#most} answers are being read already, expected fewer: try again when one has ended`,
        { headers: { "retry-after": "1" } },
      );
    }
    let idle: Disposable | undefined;
    const end = (): void => {
      this.#open.delete(source);
      idle?.[Symbol.dispose]();
    };
    // A reader that waits is told that we are still there; one that does not take what it has been given already is not.
    const arm = (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): void => {
      idle = quietTimer(this.#idleMs, () => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(IDLE);
        arm(controller);
      });
    };
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        this.#open.add(source);
        arm(controller);
      },
      async pull(controller) {
        try {
          const { value, done } = await source.texts.next();
          if (done !== true) return controller.enqueue(encoder.encode(value));
          end();
          controller.close();
        } catch (error) {
          end();
          source.leave();
          throw error;
        }
      },
      cancel() {
        end();
        source.leave();
        onGone?.();
      },
    }, { highWaterMark: 1 });
    return new Response(body, {
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-store, no-transform",
        "x-accel-buffering": "no",
        ...headers,
      },
    });
  }

  /** Ends all of them. */
  close(): void {
    for (const source of this.#open) source.leave();
  }
}
