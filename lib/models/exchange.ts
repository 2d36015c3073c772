// Everything between the AI SDK and the network. The SDK knows a placeholder instead of the key, so no error, log or dump of
// its can hold it; the key is put in here, on its way out. What is no stream of events never reaches the SDK, which would only
// say that its parser failed. The time is watched here and not by the package `ai`: bytes count, so that a provider that thinks for
// minutes and says so in comments is not taken for silent.
import type { experimental_streamLanguageModelCall, ToolSet } from "ai";
import type { ProviderV4 } from "@ai-sdk/provider";
import { type Clock, type ModelId, modelIdText, type ModelSettings } from "../core/core.ts";
import { configError, missingKey, unknownProvider } from "./known_models.ts";
import {
  BrokenAnswer,
  networkReason,
  noConnection,
  type ProviderProblem,
  providerProblem,
  type ProviderSecret,
  refusal,
  retryAfterMs,
  saidBy,
} from "./problem.ts";
import { type Env, type FetchFunction, maybeKey, maybeProvider, type Provider } from "./provider.ts";

/** How long a provider may be silent, in milliseconds. */
export interface Silence {
  /** Until the first byte of an answer. */
  readonly firstByteMs: number;
  /** Between two pieces of it. */
  readonly betweenMs: number;
}

/** turn.md 1 */
const DEFAULT_SILENCE: Silence = { firstByteMs: 60_000, betweenMs: 60_000 };

/** What a provider is reached with. */
export interface ProviderAccessOptions {
  readonly settings: ModelSettings;
  readonly fetch: FetchFunction;
  readonly env: Env;
  /** Why a variable cannot be looked at, when it cannot. */
  readonly unreadable?: (name: string) => string | undefined;
  readonly clock: Clock;
  readonly silence?: Silence;
}

/** A provider that can be asked for one of its models. */
export interface ProviderAccess {
  readonly provider: Provider;
  readonly problem: ProviderProblem;
  /** Begins a question, which the caller's signal ends. It has to be closed. */
  open(answer: ProviderAnswer, caller: AbortSignal | undefined): Exchange;
}

/** What a provider is to answer with: a stream of events, or JSON as a whole. */
export type ProviderAnswer = "events" | "json";

/** One call of a model, as `ai` takes it. */
export type SdkCall = Extract<
  Parameters<typeof experimental_streamLanguageModelCall<ToolSet>>[0],
  { readonly messages: unknown[] }
>;

/** A provider of the SDK, with what makes its own tools. */
export interface SdkProvider extends Pick<ProviderV4, "languageModel" | "embeddingModel"> {
  readonly tools?: Readonly<Record<string, (args: never) => unknown>>;
}

/** One question to a provider, and the answer. */
export interface Exchange {
  /** Of everything that is done for it; not `AbortSignal.any`, whose listeners Deno 2.6 loses when it collects garbage. */
  readonly signal: AbortSignal;
  /** The SDK's provider, which asks by way of this. Its package is loaded with the first question. */
  sdk(): Promise<SdkProvider>;
  /** Whether the answer has come to its last event: then the provider meant to end there. */
  hasEnded(): boolean;
  /** Lets the connection go. */
  close(): void;
}

/** @throws {ModelError} `config`, when there is no such provider, or no key for it */
export function providerAccess(id: ModelId, options: ProviderAccessOptions): ProviderAccess {
  const { settings, env, unreadable } = options;
  const provider = maybeProvider(id.provider, options);
  if (provider === undefined || provider.baseURL === "") throw unknownProvider(id.provider, settings);
  const key = maybeKey(provider, env);
  if (key === undefined && provider.keyVariables.length > 0) {
    throw missingKey(modelIdText(id), { provider, unreadable });
  }
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key.value)) {
    throw configError(`The key in ${key.name} holds a blank, a line break or a letter that no key has`);
  }
  const secrets: ProviderSecret[] = key === undefined ? [] : [key];
  const headers = headersOf(provider, { env, secrets });
  const problem = providerProblem(id, { provider, keyName: key?.name, secrets });
  const means = { silence: DEFAULT_SILENCE, ...options, provider, key: key?.value, headers, problem };
  return { provider, problem, open: (answer, caller) => exchange({ ...means, answer, caller }) };
}

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** The configured headers, `${NAME}` and `${NAME:-default}` replaced. What they hide is added to `secrets`. */
function headersOf(
  { name, settings: { headers = {} } }: Provider,
  { env, secrets }: { readonly env: Env; readonly secrets: ProviderSecret[] },
): readonly (readonly [name: string, value: string])[] {
  const expand = (text: string): string =>
    text.replaceAll(VARIABLE, (_, variable: string, other: string | undefined) => {
      const value = env(variable)?.trim() || other;
      if (value === undefined) {
        throw configError(
          `models.providers.${name}.headers needs the variable ${variable}, which is not set`,
        );
      }
      if (value.length >= 8 && value !== other) secrets.push({ name: variable, value });
      return value;
    });
  return Object.entries(headers).map(([header, text]) => [header, expand(text)]);
}

interface ExchangeOptions {
  readonly answer: ProviderAnswer;
  readonly caller: AbortSignal | undefined;
  readonly provider: Provider;
  readonly fetch: FetchFunction;
  readonly clock: Clock;
  readonly silence: Silence;
  /** Put where the SDK has the placeholder. */
  readonly key: string | undefined;
  /** Added to every request. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly problem: ProviderProblem;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** The last event of the formats that have one. */
const LAST_EVENT = /(^data: ?\[DONE\]|"message_stop"\s*\})\s*$/m;
const LAST_BYTES = 32;

function exchange(options: ExchangeOptions): Exchange {
  const { answer, caller, provider, clock, silence, key, problem } = options;
  const stop = new AbortController();
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => undefined); // it may come when nobody waits for it
  let body: ReadableStreamDefaultController<Bytes> | undefined;
  let lateAt = Infinity;
  let lastText = "";
  let isWhole = false;

  /** Whoever waits goes on at once: Deno does not always end a read of the body when its request is aborted. */
  const end = (reason: unknown): void => {
    over.reject(reason);
    body?.error(reason);
    stop.abort(reason);
  };
  const onAbort = (): void => end(caller?.reason);
  caller?.addEventListener("abort", onAbort, { once: true });

  /** Nothing is late while nothing is waited for. One timer goes from one look to the next, whatever has come in between. */
  const watch = async (): Promise<void> => {
    while (true) {
      const left = lateAt - clock.now();
      if (left <= 0) break;
      await clock.sleep(Math.min(left, silence.betweenMs), stop.signal);
    }
    const [ms, what] = body === undefined
      ? [silence.firstByteMs, "no answer came"]
      : [silence.betweenMs, "the answer stopped: nothing more came"];
    end(problem.error(`${what} for ${ms / 1000} s`, { code: "timeout" }));
  };

  const ask: FetchFunction = async (input, init = {}) => {
    caller?.throwIfAborted();
    lateAt = clock.now() + silence.firstByteMs;
    watch().catch(() => undefined); // the exchange is over
    try {
      const answering = answered(input, {
        ...init,
        headers: headersWithKey(init.headers),
        signal: stop.signal,
      });
      answering.catch(() => undefined); // when it is over first
      return await Promise.race([answering, over.promise]);
    } catch (error) {
      stop.abort();
      caller?.throwIfAborted();
      throw noConnection(error, problem);
    }
  };

  const headersWithKey = (written: HeadersInit | undefined): Headers => {
    const all = new Headers(written);
    for (const [name, value] of options.headers) all.set(name, value);
    for (const [name, value] of all) {
      if (value.includes(KEY_PLACEHOLDER)) all.set(name, value.replaceAll(KEY_PLACEHOLDER, key ?? ""));
    }
    return all;
  };

  const answered = async (input: RequestInfo | URL, init: RequestInit): Promise<Response> => {
    const response = await options.fetch(input, init);
    const { status, headers } = response;
    const reader = response.body?.getReader();
    if (!response.ok) {
      throw refusal({ status, body: await textOf(reader), retryAfterMs: retryAfterMs(headers) }, problem);
    }
    const first = await reader?.read().catch(() => undefined);
    if (reader === undefined || first === undefined || first.done) {
      throw problem.error("the connection was closed before an answer came", { code: "network" });
    }
    if (answer === "events" && isOther(first.value)) {
      const says = saidBy(await textOf(reader, first.value), problem);
      throw problem.error(`it answered with something that is no stream of events: ${says}`, {
        code: "answer",
      });
    }
    return new Response(rest(reader, first.value), { headers });
  };

  const rest = (reader: Reader, first: Bytes): ReadableStream<Bytes> =>
    new ReadableStream({
      start(controller) {
        body = controller;
        lateAt = Infinity;
        look(first);
        controller.enqueue(first);
      },
      async pull(controller) {
        lateAt = clock.now() + silence.betweenMs;
        try {
          const { done, value } = await reader.read();
          if (done) {
            isWhole = LAST_EVENT.test(lastText);
            controller.close();
          } else {
            look(value);
            controller.enqueue(value);
          }
        } catch (error) {
          controller.error(new BrokenAnswer(networkReason(error, problem)));
        } finally {
          lateAt = Infinity;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });

  /** Keeps what the answer ends with, so far. */
  const look = (bytes: Bytes): void => {
    lastText = `${lastText}${new TextDecoder().decode(bytes.subarray(-LAST_BYTES))}`.slice(-LAST_BYTES);
  };

  return {
    signal: stop.signal,
    sdk: () => sdkProvider(provider, { fetch: ask, hasKey: key !== undefined }),
    hasEnded: () => isWhole,
    close() {
      caller?.removeEventListener("abort", onAbort);
      stop.abort();
    },
  };
}

type Reader = ReadableStreamDefaultReader<Bytes>;

/** A stream of events begins with neither: this is a page, or JSON. */
function isOther(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte > 0x20);
  return first === 0x3c || first === 0x7b || first === 0x5b;
}

const MOST_BYTES = 65_536;

/** The text of an answer that will not be used, as far as it says something. */
async function textOf(reader: Reader | undefined, first?: Bytes): Promise<string> {
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

/** What the SDK takes for a key. */
const KEY_PLACEHOLDER = "orrery-puts-the-key-here";

/** The name under which the SDK keeps the options and metadata of `openai-compatible` providers. */
export const COMPATIBLE_NAME = "openaiCompatible";

/** The SDK's provider. Addresses and keys are always given: left out, the SDK would look into the environment itself. */
async function sdkProvider(
  { type, baseURL, settings: { api, queryParams, structuredOutputs } }: Provider,
  { fetch, hasKey }: { readonly fetch: FetchFunction; readonly hasKey: boolean },
): Promise<SdkProvider> {
  const common = { baseURL, apiKey: KEY_PLACEHOLDER, fetch };
  switch (type) {
    case "openai": {
      const openai = (await import("@ai-sdk/openai")).createOpenAI(common);
      return api === "chat" ? { ...openai, languageModel: openai.chat } : openai;
    }
    case "anthropic":
      return (await import("@ai-sdk/anthropic")).createAnthropic(common);
    case "google":
      return (await import("@ai-sdk/google")).createGoogle(common);
    case "mistral":
      return (await import("@ai-sdk/mistral")).createMistral(common);
    case "xai":
      return (await import("@ai-sdk/xai")).createXai(common);
    case "groq":
      return (await import("@ai-sdk/groq")).createGroq(common);
    case "openai-compatible":
      return (await import("@ai-sdk/openai-compatible")).createOpenAICompatible({
        ...common,
        name: COMPATIBLE_NAME,
        apiKey: hasKey ? KEY_PLACEHOLDER : undefined,
        includeUsage: true,
        queryParams: queryParams && { ...queryParams },
        supportsStructuredOutputs: structuredOutputs,
      });
    default:
      return type satisfies never;
  }
}
