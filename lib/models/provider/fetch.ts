// Everything between the AI SDK and the network. The SDK knows a placeholder instead of the key, so no error, log or dump of
// its can hold it; the key is put in here, on its way out. What is no stream of events never reaches the SDK, which would only
// say that its parser failed.
import {
  type Clock,
  messageOf,
  ModelError,
  type ModelErrorCode,
  PermissionRefused,
} from "../../core/core.ts";
import { codeOf, saidBy, shortened } from "../said_by.ts";
import { MergedDeltas } from "./merge_deltas.ts";
import type { ProviderProblem } from "./problem.ts";
import type { FetchFunction } from "./provider.ts";
import { type Silence, SilenceWatch } from "./silence.ts";

/** The requests whose answer has said that it ends, by their signals. */
const ended = new WeakSet<AbortSignal>();
/** The last event of the formats that have one. */
const LAST_EVENT = /(^data: ?\[DONE\]|"message_stop"\s*\})\s*$/m;
const LAST_BYTES = 32;

/** Whether the answer to the request of this signal has come to its last event: then the provider meant to end there. */
export function hasEnded(signal: AbortSignal): boolean {
  return ended.has(signal);
}

/** What the SDK takes for a key. */
export const KEY_PLACEHOLDER = "orrery-puts-the-key-here";

/** What a provider is to answer with: a stream of events, or JSON as a whole. */
export type ProviderAnswer = "events" | "json";

/** What a request needs besides what the SDK says. */
export interface ProviderFetchOptions {
  readonly answer: ProviderAnswer;
  readonly fetch: FetchFunction;
  readonly clock: Clock;
  readonly silence: Silence;
  /** Put where the SDK has the placeholder. */
  readonly key: string | undefined;
  /** Added to every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly problem: ProviderProblem;
}

/** The connection broke while the answer came; the message says why. */
export class BrokenAnswer extends Error {
  override readonly name = "BrokenAnswer";
}

/** A `fetch` for the SDK: sends the key, watches the time, and throws a {@linkcode ModelError} for all that is no answer. */
export function providerFetch(options: ProviderFetchOptions): FetchFunction {
  return (input, init) => new Exchange(options, init?.signal ?? undefined).run(input, init ?? {});
}

/** One request and its answer. */
class Exchange {
  readonly #options: ProviderFetchOptions;
  readonly #caller: AbortSignal | undefined;
  readonly #stop = new AbortController();
  readonly #watch: SilenceWatch;
  readonly #over = Promise.withResolvers<never>();
  #body: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  #last = "";

  constructor(options: ProviderFetchOptions, caller: AbortSignal | undefined) {
    this.#options = options;
    this.#caller = caller;
    this.#watch = new SilenceWatch(options.clock, () => this.#onLate());
    this.#over.promise.catch(() => undefined); // it may come when nobody waits for it
    caller?.addEventListener("abort", () => this.#end(caller.reason), { once: true });
  }

  async run(input: RequestInfo | URL, init: RequestInit): Promise<Response> {
    this.#caller?.throwIfAborted();
    const { signal } = this.#stop;
    this.#watch.begin(this.#options.silence.firstByteMs);
    try {
      const answer = this.#answer(input, { ...init, headers: this.#headers(init.headers), signal });
      answer.catch(() => undefined); // when the time is over first
      return await Promise.race([answer, this.#over.promise]);
    } catch (error) {
      this.#watch.end();
      this.#stop.abort();
      this.#caller?.throwIfAborted();
      throw this.#problem(error);
    }
  }

  #headers(written: HeadersInit | undefined): Headers {
    const { key, headers } = this.#options;
    const all = new Headers(written);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    for (const [name, value] of all) {
      if (value.includes(KEY_PLACEHOLDER)) all.set(name, value.replaceAll(KEY_PLACEHOLDER, key ?? ""));
    }
    return all;
  }

  async #answer(input: RequestInfo | URL, init: RequestInit): Promise<Response> {
    const response = await this.#options.fetch(input, init);
    if (!response.ok) throw await this.#refusal(response);
    const reader = response.body?.getReader();
    const first = await reader?.read();
    if (reader === undefined || first === undefined || first.done) {
      throw this.#options.problem.error("the connection was closed before an answer came", {
        code: "network",
      });
    }
    if (this.#options.answer === "json") return await this.#json(response, reader, first.value);
    if (isOther(first.value)) throw await this.#noStream(reader, first.value);
    this.#watch.pause();
    return new Response(this.#rest(reader, first.value), { headers: response.headers });
  }

  /** Nobody waits for its parts: the SDK gets it when it is whole, and knows by itself whether it is JSON. */
  async #json(
    { status, headers }: Response,
    reader: Reader,
    first: Uint8Array<ArrayBuffer>,
  ): Promise<Response> {
    const parts = [first];
    for (let next = await this.#piece(reader); !next.done; next = await this.#piece(reader)) {
      parts.push(next.value);
    }
    this.#watch.end();
    return new Response(new Blob(parts), { status, headers });
  }

  async #piece(reader: Reader): Promise<ReadableStreamReadResult<Uint8Array<ArrayBuffer>>> {
    this.#watch.begin(this.#options.silence.betweenMs);
    return await reader.read();
  }

  #rest(reader: Reader, first: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
    const merged = new MergedDeltas();
    return new ReadableStream({
      start: (controller) => {
        this.#body = controller;
        this.#look(first);
        const events = merged.push(first);
        if (events !== undefined) controller.enqueue(events);
      },
      pull: (controller) => this.#pull(reader, { merged, controller }),
      cancel: async (reason) => {
        this.#watch.end();
        await reader.cancel(reason);
      },
    });
  }

  /** Reads until there is an event. */
  async #pull(reader: Reader, { merged, controller }: {
    readonly merged: MergedDeltas;
    readonly controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  }): Promise<void> {
    try {
      while (true) {
        this.#watch.begin(this.#options.silence.betweenMs);
        const { done, value } = await reader.read();
        this.#watch.pause();
        if (done) this.#lookAtEnd();
        else this.#look(value);
        const events = done ? merged.end() : merged.push(value);
        if (events !== undefined) controller.enqueue(events);
        if (done) {
          this.#watch.end();
          controller.close();
        }
        if (done || events !== undefined) return;
      }
    } catch (error) {
      this.#watch.end();
      const isAborted = this.#caller?.aborted ?? false;
      controller.error(isAborted ? this.#caller?.reason : new BrokenAnswer(networkReason(error)));
    }
  }

  /** Keeps what the answer ends with, so far. */
  #look(bytes: Uint8Array): void {
    const last = new TextDecoder().decode(bytes.subarray(-LAST_BYTES));
    this.#last = `${this.#last}${last}`.slice(-LAST_BYTES);
  }

  #lookAtEnd(): void {
    if (this.#caller !== undefined && LAST_EVENT.test(this.#last)) ended.add(this.#caller);
  }

  #onLate(): void {
    const { problem, silence } = this.#options;
    const { ms, what } = this.#body === undefined
      ? { ms: silence.firstByteMs, what: "no answer came" }
      : { ms: silence.betweenMs, what: "the answer stopped: nothing more came" };
    this.#end(problem.error(`${what} for ${ms / 1000} s`, { code: "timeout" }));
  }

  /** Whoever waits goes on at once: Deno does not always end a read of the body when its request is aborted. */
  #end(reason: unknown): void {
    this.#watch.end();
    this.#over.reject(reason);
    this.#body?.error(reason);
    this.#stop.abort(reason);
  }

  async #refusal(response: Response): Promise<ModelError> {
    const says = saidBy(await textOf(response.body?.getReader()), this.#options.problem);
    const { status } = response;
    const code = codeOf(status, says);
    const waits = retryAfterMs(response.headers);
    return this.#options.problem.error(`${WORDS[code] ?? "the request was refused"} (${status}: ${says})`, {
      code,
      status,
      retryAfterMs: waits,
    });
  }

  async #noStream(reader: Reader, first: Uint8Array<ArrayBuffer>): Promise<ModelError> {
    const says = saidBy(await textOf(reader, first), this.#options.problem);
    return this.#options.problem.error(`it answered with something that is no stream of events: ${says}`, {
      code: "answer",
    });
  }

  #problem(error: unknown): Error {
    const { problem } = this.#options;
    if (error instanceof ModelError) return error;
    if (error instanceof PermissionRefused) {
      return problem.error(error.message, { code: "permission", flag: error.flag });
    }
    return problem.error(`cannot connect: ${networkReason(error)}`, { code: "network" });
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;

const WORDS: { readonly [code in ModelErrorCode]?: string } = {
  "auth": "the key was refused",
  "context": "the messages are too long for this model",
  "rate-limit": "too many requests, or it is overloaded",
  "server": "the provider failed",
};

/** A stream of events begins with neither: this is a page, or JSON. */
function isOther(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte > 0x20);
  return first === 0x3c || first === 0x7b || first === 0x5b;
}

const MOST_BYTES = 65_536;

/** The text of an answer that will not be used, as far as it says something. */
async function textOf(reader: Reader | undefined, first?: Uint8Array): Promise<string> {
  const decoder = new TextDecoder();
  let text = first === undefined ? "" : decoder.decode(first, { stream: true });
  try {
    while (reader !== undefined && text.length < MOST_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    await reader?.cancel();
  } catch { /* what has come is enough */ }
  return text;
}

/**
 * What an answer asks to wait, in milliseconds: `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110, 10.2.3),
 * which is read against the answer's own `Date`.
 */
export function retryAfterMs(headers: Headers): number | undefined {
  const exact = wholeNumber(headers.get("retry-after-ms"));
  if (exact !== undefined) return exact;
  const text = headers.get("retry-after");
  const seconds = wholeNumber(text);
  if (seconds !== undefined) return seconds * 1000;
  const [until, now] = [Date.parse(text ?? ""), Date.parse(headers.get("date") ?? "")];
  return Number.isNaN(until) || Number.isNaN(now) ? undefined : Math.max(0, until - now);
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Math.ceil(Number(text)) : undefined;
}

/** Why there is no connection, in words, from whatever a `fetch` throws. */
function networkReason(error: unknown): string {
  const text = messages(error).join(": ");
  if (/refused|ECONNREFUSED/i.test(text)) return "nothing answers there (connection refused)";
  if (/ENOTFOUND|EAI_|dns error|failed to lookup|name or service not known/i.test(text)) {
    return "there is no address for this host";
  }
  if (/certificate|tls handshake|InvalidCertificate/i.test(text)) {
    return `its certificate is not accepted (${shortened(text)})`;
  }
  if (/reset|closed before|connection closed|broken pipe|unexpected e(nd|of)|incomplete/i.test(text)) {
    return "the connection was closed";
  }
  return shortened(text);
}

function messages(error: unknown): readonly string[] {
  const cause = error instanceof Error ? error.cause : undefined;
  return [messageOf(error), ...(cause === undefined ? [] : messages(cause))];
}
