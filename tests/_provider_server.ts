/**
 * A model provider on this machine: one server that speaks the formats of OpenAI (chat and responses), Anthropic and Google, byte
 * by byte, from a few words about the answer.
 *
 * ```ts
 * await using provider = providerServer([
 *   { status: 429, retryAfter: "0" },
 *   { parts: [{ text: ["Hel", "lo"] }, { call: { name: "Now", arguments: ["{", "}"] } }] },
 * ]);
 * const models = openModels({ settings: provider.settings, env: provider.env, fetch, clock, files });
 * const model = await models.find("anthropic/test"); // openai/test, chat/test, google/test, compatible/test
 * ```
 *
 * Replies are used one after the other; the last one for good. A function makes a reply of each request. What was asked is in
 * `requests`.
 *
 * @module
 */

import { systemClock } from "../mod.ts";
import { formatOf, type WireAnswer, wireError, wireEvents, type WireFormat } from "./_provider_wire.ts";

/** An answer, and how its bytes come. */
export interface StreamedReply extends WireAnswer {
  /** Bytes of one chunk. Default: each event is one. */
  readonly chunkBytes?: number;
  /** Before each chunk. */
  readonly delayMs?: number;
  /** Instead of the events of the answer: these. */
  readonly events?: readonly string[];
  /** A comment before each event, as proxies send them. */
  readonly keepAlive?: boolean;
  /** The connection breaks after this many bytes. */
  readonly breakAfterBytes?: number;
  /** Nothing comes any more after this many bytes, and the connection stays open. */
  readonly hangAfterBytes?: number;
}

/** An answer that is none. */
export interface RefusedReply {
  readonly status: number;
  /** In the provider's own word. */
  readonly type?: string;
  readonly message?: string;
  /** The header. */
  readonly retryAfter?: string;
  /** Instead of the error: this body. */
  readonly body?: string;
  readonly contentType?: string;
}

/** A reply to one request. */
export type ProviderReply = StreamedReply | RefusedReply;

/** A request as it came. */
export interface ProviderRequest {
  readonly format: WireFormat | undefined;
  readonly path: string;
  readonly headers: Headers;
  /** The JSON of its body. */
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** What a configuration says of them, as far as tests do. */
export interface ProviderSettings {
  readonly providers: Readonly<Record<string, OneProvider>>;
}

interface OneProvider {
  readonly type?: "openai" | "openai-compatible";
  readonly baseURL?: string;
  readonly apiKeyEnv?: string;
  readonly api?: "chat";
  readonly thoughts?: "text" | "reasoning";
}

/** The server. */
export interface ProviderServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** `127.0.0.1:PORT` */
  readonly host: string;
  readonly requests: readonly ProviderRequest[];
  /** Providers `openai` (responses), `chat`, `anthropic`, `google` and `compatible`, all at this server. */
  readonly settings: ProviderSettings;
  /** Has a key for each of them: {@linkcode TEST_KEY}. */
  env(name: string): string | undefined;
}

/** The key that `env` gives; it must never be seen anywhere but in the headers of a request. */
export const TEST_KEY = "sk-test-0123456789abcdef";

/** Starts the server; `await using` stops it. */
export function providerServer(
  replies:
    | ProviderReply
    | readonly ProviderReply[]
    | ((request: ProviderRequest, nth: number) => ProviderReply),
): ProviderServer {
  const requests: ProviderRequest[] = [];
  const stop = new AbortController();
  const replyTo = (request: ProviderRequest): ProviderReply => {
    if (typeof replies === "function") return replies(request, requests.length);
    const list = Array.isArray(replies) ? replies as readonly ProviderReply[] : [replies as ProviderReply];
    return list[Math.min(requests.length, list.length) - 1] ??
      { status: 500, message: "the test has no reply" };
  };
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: () => {},
    onError: () => new Response(),
  }, async (request) => {
    const { pathname } = new URL(request.url);
    const text = await request.text();
    const asked = {
      format: formatOf(pathname),
      path: pathname,
      headers: request.headers,
      body: text === "" ? undefined : JSON.parse(text),
    };
    requests.push(asked);
    return responseOf(replyTo(asked), { format: asked.format ?? "chat", signal: stop.signal });
  });
  const host = `127.0.0.1:${server.addr.port}`;
  const url = `http://${host}`;
  return {
    url,
    host,
    requests,
    settings: settingsFor(url),
    env: (name) => name.endsWith("_KEY") ? TEST_KEY : undefined,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await server.shutdown();
    },
  };
}

function settingsFor(url: string): ProviderSettings {
  return {
    providers: {
      openai: { baseURL: `${url}/v1` },
      chat: { type: "openai", baseURL: `${url}/v1`, api: "chat" },
      anthropic: { baseURL: `${url}/v1` },
      google: { baseURL: `${url}/v1beta` },
      mistral: { baseURL: `${url}/v1` },
      groq: { baseURL: `${url}/v1` },
      xai: { baseURL: `${url}/v1` },
      compatible: { type: "openai-compatible", baseURL: `${url}/v1`, apiKeyEnv: "COMPATIBLE_KEY" },
    },
  };
}

interface ResponseOptions {
  readonly format: WireFormat;
  /** The server stops. */
  readonly signal: AbortSignal;
}

function responseOf(reply: ProviderReply, options: ResponseOptions): Response {
  if (!("status" in reply)) {
    return new Response(streamOf(reply, options), { headers: { "content-type": "text/event-stream" } });
  }
  const { status, type = "invalid_request_error", message = "no", retryAfter, contentType } = reply;
  const body = reply.body ?? wireError(options.format, { status, type, message });
  return new Response(body, {
    status,
    headers: {
      "content-type": contentType ?? "application/json",
      ...(retryAfter !== undefined && { "retry-after": retryAfter }),
    },
  });
}

function streamOf(reply: StreamedReply, { format, signal }: ResponseOptions): ReadableStream<Uint8Array> {
  const chunks = chunksOf(reply, format);
  const { delayMs = 0, breakAfterBytes, hangAfterBytes } = reply;
  const gone = new AbortController();
  const over = AbortSignal.any([signal, gone.signal]);
  let sent = 0;
  return new ReadableStream({
    async pull(controller) {
      try {
        if (delayMs > 0) await systemClock.sleep(delayMs, over);
        if (hangAfterBytes !== undefined && sent >= hangAfterBytes) await systemClock.sleep(3_600_000, over);
        const chunk = chunks.shift();
        if (chunk === undefined) return controller.close();
        if (breakAfterBytes !== undefined && sent + chunk.length > breakAfterBytes) {
          // What was sent has to arrive before the connection goes.
          await systemClock.sleep(20, over);
          return controller.error(new Error("the test breaks the connection"));
        }
        sent += chunk.length;
        controller.enqueue(chunk);
      } catch { // the server stops, or its client has gone
        controller.close();
      }
    },
    cancel: () => gone.abort(),
  }, { highWaterMark: 0 });
}

function chunksOf(
  { chunkBytes, keepAlive = false, events: written, ...answer }: StreamedReply,
  format: WireFormat,
): Uint8Array[] {
  const encoder = new TextEncoder();
  const events = (written ?? wireEvents(format, answer)).map((event) =>
    keepAlive ? `: keep-alive\n\n${event}` : event
  );
  if (chunkBytes === undefined) return events.map((event) => encoder.encode(event));
  const bytes = encoder.encode(events.join(""));
  const count = Math.ceil(bytes.length / chunkBytes);
  return Array.from(
    { length: count },
    (_, index) => bytes.slice(index * chunkBytes, (index + 1) * chunkBytes),
  );
}
