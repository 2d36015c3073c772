import type {
  LanguageModelV4,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import {
  type FinishReason,
  inDollars,
  type JsonObject,
  type Model,
  type ModelId,
  modelIdText,
  type ModelPart,
  type ModelPrice,
  type ModelRequest,
  objectOrEmpty,
  toJson,
  toJsonObject,
  type Usage,
} from "../../core/core.ts";
import { type KnownModel, maybeKnownModel } from "../known_models.ts";
import { SdkCalls } from "../sdk/calls.ts";
import { addonsOf, hostedTools } from "../sdk/hosted_tools.ts";
import { COMPATIBLE_NAME, loadSdkModel } from "../sdk/load.ts";
import { type AnswerSoFar, brokenOff, isWithoutReason, sdkProblem } from "../sdk/problem.ts";
import { type RequestStyle, sdkRequest } from "../sdk/request.ts";
import { providerAccess, type ProviderAccessOptions } from "./access.ts";
import { hasEnded } from "./fetch.ts";
import type { ProviderProblem } from "./problem.ts";
import { type Provider, PROVIDER_KINDS } from "./provider.ts";

/** What a provider's model is made of. */
export type ProviderModelOptions = ProviderAccessOptions;

/**
 * The model of a provider. Its package, and all that talks to it, is loaded at the first call.
 *
 * @throws {ModelError} `config`, when there is no such provider, or no key for it
 */
export function providerModel(id: ModelId, options: ProviderModelOptions): Model {
  const name = modelIdText(id);
  const { provider, hasKey, problem, fetch } = providerAccess(id, options);
  const known = maybeKnownModel(name);
  const style = styleOf(provider, { model: id.model, name });
  let loading: Promise<LanguageModelV4> | undefined;
  return sdkModel({
    id: name,
    contextTokens: provider.settings.contextTokens ?? known?.contextTokens,
    load: () => loading ??= loadSdkModel(id.model, { provider, hasKey, fetch: fetch("events") }),
    style,
    pairsThoughts: provider.type === "openai" || provider.type === "xai",
    lateCalls: hasLateCalls(provider),
    prices: { own: options.settings.prices?.[name], known },
    problem,
  });
}

function styleOf(
  provider: Provider,
  { model, name }: { readonly model: string; readonly name: string },
): RequestStyle {
  const { type, settings } = provider;
  const options = toJson(settings.options ?? {});
  // Our history is the only one: nothing is kept at the provider, so that thoughts come back to be given back.
  const defaults: JsonObject = type === "openai" && settings.api !== "chat" ? { store: false } : {};
  const isCompatible = type === "openai-compatible";
  return {
    model: name,
    systemFirst: PROVIDER_KINDS[type].systemFirst ?? false,
    metadataName: isCompatible ? COMPATIBLE_NAME : type,
    options: { ...defaults, ...objectOrEmpty(options) },
    hosted: hostedTools(provider, model),
    format: {
      anyRoot: type === "google",
      wantsWord: type === "openai" || type === "groq" || isCompatible,
      withoutSchema: isCompatible && settings.structuredOutputs !== true,
    },
    args: { asGiven: isCompatible }, // its package sends what it does not know as it is
    ...(type === "anthropic" && { picturesOf: "computer", declaresPast: true }),
  };
}

/** Google's own openai-compatible interface signs its calls at the end: they have to be waited for. */
function hasLateCalls({ type, settings, baseURL }: Provider): boolean {
  if (type === "openai") return settings.api === "chat";
  return (PROVIDER_KINDS[type].lateCalls ?? false) && !/\.googleapis\.com/.test(baseURL);
}

// One answer of the AI SDK as parts of ours.

/** A model of a provider, and how it is asked. */
interface SdkModelOptions {
  /** `provider/model` */
  readonly id: string;
  readonly contextTokens?: number;
  readonly load: () => Promise<LanguageModelV4>;
  readonly style: RequestStyle;
  /** Calls are told at the end of the stream only, see {@linkcode SdkCalls}. */
  readonly lateCalls: boolean;
  /** A thought is given back with what came of it or not at all: one that led to a call of the provider's own is not. */
  readonly pairsThoughts: boolean;
  readonly prices: Prices;
  readonly problem: ProviderProblem;
}

/** A model over the AI SDK's single model call. */
function sdkModel(options: SdkModelOptions): Model {
  const { id, contextTokens, style: { hosted } } = options;
  return {
    id,
    contextTokens,
    addons: addonsOf(hosted),
    takesServers: hosted.servers !== undefined,
    stream: (request) => new Answer(options, request).parts(),
  };
}

type Reader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>;
type SdkPart<Type extends string> = Extract<LanguageModelV4StreamPart, { type: Type }>;

class Answer {
  readonly #options: SdkModelOptions;
  readonly #request: ModelRequest;
  /** Ours and the caller's in one; not `AbortSignal.any`, whose listeners Deno 2.6 loses when it collects garbage. */
  readonly #stop = new AbortController();
  readonly #onAbort = (): void => this.#stop.abort(this.#request.signal?.reason);
  /** To be given next. */
  readonly #parts: ModelPart[] = [];
  readonly #calls: SdkCalls;
  readonly #thoughts = new Map<string, { text: string; metadata: Record<string, JsonObject> }>();
  /** Whole, and it is not seen yet what came of them. */
  #heldThoughts: ModelPart[] = [];
  #finish: SdkPart<"finish"> | undefined;
  #characters = 0;

  constructor(options: SdkModelOptions, request: ModelRequest) {
    this.#options = options;
    this.#request = request;
    this.#calls = new SdkCalls((part) => this.#tell(part), { isLate: options.lateCalls });
  }

  async *parts(): AsyncGenerator<ModelPart> {
    const { signal } = this.#request;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    let reader: Reader | undefined;
    try {
      signal?.throwIfAborted();
      reader = await this.#open();
      while (true) {
        signal?.throwIfAborted();
        const { done, value } = await reader.read();
        if (done) break;
        this.#take(value);
        yield* this.#parts.splice(0);
      }
      this.#end();
    } catch (error) {
      // A connection that breaks after the provider has told its end does no harm.
      const problem = sdkProblem(error, this.#soFar);
      if (problem.code !== "network" || this.#reason === undefined) throw problem;
      this.#end();
    } finally {
      signal?.removeEventListener("abort", this.#onAbort);
      this.#stop.abort();
      await reader?.cancel().catch(() => undefined);
    }
    yield* this.#parts;
  }

  get #soFar(): AnswerSoFar {
    return { problem: this.#options.problem, characters: this.#characters, signal: this.#request.signal };
  }

  async #open(): Promise<Reader> {
    const { signal } = this.#stop;
    const request = sdkRequest({ ...this.#request, signal }, this.#options.style);
    const model = await this.#options.load();
    // Not by way of the package `ai`: loading it takes half a second.
    const { stream } = await model.doStream(request);
    return stream.getReader();
  }

  #take(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case "text-start":
        return this.#calls.pass();
      case "text-delta":
        this.#characters += part.delta.length;
        if (part.delta !== "") this.#tell({ type: "text", text: part.delta });
        return;
      case "reasoning-start":
        this.#calls.pass();
        return this.#think(part);
      case "reasoning-delta":
      case "reasoning-end":
        return this.#think(part);
      case "tool-input-start":
        return this.#calls.start(part);
      case "tool-input-delta":
        this.#characters += part.delta.length;
        return this.#calls.delta(part);
      case "tool-call":
        if (part.providerExecuted) this.#heldThoughts = [];
        else this.#releaseThoughts();
        return this.#calls.call(part);
      case "finish":
        this.#releaseThoughts();
        this.#finish ??= part;
        return;
      case "error":
        if (isWithoutReason(part.error) && hasEnded(this.#stop.signal)) return; // what is left is told with its end
        throw part.error;
    }
  }

  #think(part: SdkPart<"reasoning-start" | "reasoning-delta" | "reasoning-end">): void {
    const thought = this.#thoughts.get(part.id) ?? { text: "", metadata: {} };
    this.#thoughts.set(part.id, thought);
    for (const [name, value] of Object.entries(part.providerMetadata ?? {})) {
      thought.metadata[name] = { ...thought.metadata[name], ...toJsonObject(value) };
    }
    if (part.type === "reasoning-delta" && part.delta !== "") {
      this.#characters += part.delta.length;
      thought.text += part.delta;
      this.#tell({ type: "reasoning", text: part.delta });
    }
    if (part.type !== "reasoning-end") return;
    this.#thoughts.delete(part.id);
    const { text, metadata } = thought;
    const hasMetadata = Object.keys(metadata).length > 0;
    if (text === "" && !hasMetadata) return;
    this.#heldThoughts.push({ type: "thought", reasoning: { text, ...(hasMetadata && { metadata }) } });
    if (!this.#options.pairsThoughts) this.#releaseThoughts();
  }

  #releaseThoughts(): void {
    this.#parts.push(...this.#heldThoughts);
    this.#heldThoughts = [];
  }

  get #reason(): FinishReason | undefined {
    const reason = this.#finish && finishReasonOf(this.#finish.finishReason, { hasCalls: this.#calls.any });
    return reason ?? (hasEnded(this.#stop.signal) ? "other" : undefined);
  }

  /** The stream is over: only now the connection is free, and nothing more can go wrong. */
  #end(): void {
    const reason = this.#reason;
    if (this.#finish === undefined || reason === undefined) throw brokenOff(this.#soFar);
    const { usage, finishReason: { raw } } = this.#finish;
    this.#calls.end(reason);
    this.#tell({
      type: "finish",
      reason,
      usage: usageOf(usage, this.#options.prices),
      model: this.#options.id,
      ...(raw !== undefined && { rawReason: raw }),
    });
  }

  #tell(part: ModelPart): void {
    this.#parts.push(part);
  }
}

/** What the tokens of a model cost. */
interface Prices {
  readonly own?: ModelPrice;
  readonly known?: KnownModel;
}

/** Tokens and cost of one call. The SDK writes 0 for what a provider does not tell, so that a 0 of a part is left out. */
function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage, prices: Prices): Usage {
  const input = inputTokens.total ?? 0;
  const [cached, cacheWrite] = [inputTokens.cacheRead ?? 0, inputTokens.cacheWrite ?? 0];
  const [said, reasoning] = [outputTokens.total ?? 0, outputTokens.reasoning ?? 0];
  // Some openai-compatible servers count the thinking apart.
  const output = reasoning > said ? said + reasoning : said;
  const isTold = input > 0 || output > 0;
  const cost = isTold ? costOf({ input, output, cached, cacheWrite }, prices) : undefined;
  return {
    input,
    output,
    ...(cached > 0 && { cached }),
    ...(reasoning > 0 && { reasoning }),
    ...(cost !== undefined && { cost }),
  };
}

/** Why the model stopped; undefined when it did not: the stream ended in the middle. Many servers say `stop` after calls too. */
function finishReasonOf(
  { unified, raw }: LanguageModelV4FinishReason,
  { hasCalls }: { readonly hasCalls: boolean },
): FinishReason | undefined {
  switch (unified) {
    case "stop":
      return hasCalls ? "calls" : "stop";
    case "tool-calls":
    case "other":
      if (raw === undefined || raw === "") return unified === "other" ? undefined : "calls";
      return reasonIn(raw, hasCalls);
    case "content-filter":
      return "filter";
    case "length":
      return "length";
    case "error":
      return raw === undefined ? undefined : "error";
    case "interrupted":
      return undefined;
    default:
      return unified satisfies never;
  }
}

/** The SDK knows the words of its own providers; servers that speak like one of them have those of the others, and more. */
function reasonIn(raw: string, hasCalls: boolean): FinishReason {
  const word = raw.toLowerCase().replaceAll(/[^a-z]+/g, "_");
  const [reason = "other"] = WORDS.find(([, words]) => words.test(word)) ?? [];
  return reason === "stop" && hasCalls ? "calls" : reason;
}

const WORDS: readonly (readonly [reason: FinishReason, words: RegExp])[] = [
  ["stop", /^(stop|stop_sequence|end|end_turn|eos|eos_token|complete|completed|done|finished)$/],
  ["calls", /^(tool_calls?|tool_use|function_calls?)$/],
  ["length", /^(length|(max|model)_length|max_tokens|max_(output|new|completion)_tokens)$/],
  ["filter", /^(content_filter(ed)?|refusal|safety|recitation|blocklist|prohibited_content)$/],
];

/** The tokens of one call; those of the cache are parts of `input`. */
interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cacheWrite: number;
}

/** US dollars for one call; undefined when there is no price. The user's own price has no steps. */
function costOf(
  tokens: TokenCounts,
  prices: { readonly own?: ModelPrice; readonly known?: KnownModel },
): number | undefined {
  const { own, known } = prices;
  const isLong = known?.long !== undefined && tokens.input > known.long.above;
  const price = own ?? (isLong ? known.long : known?.price);
  if (price === undefined) return undefined;
  const { cached, cacheWrite } = tokens;
  const plain = Math.max(0, tokens.input - cached - cacheWrite);
  const dollars = plain * price.input + cached * (price.cached ?? price.input) +
    cacheWrite * (price.cacheWrite ?? price.input) + tokens.output * price.output;
  return inDollars(dollars / 1_000_000);
}
