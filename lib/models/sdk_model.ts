// One answer of the AI SDK as parts of ours. It is an iterator by hand: a generator would cost more than the rest of the way.

import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { isJsonObject, type JsonObject, toJson } from "../core/json.ts";
import type { FinishReason, Model, ModelPart, ModelRequest } from "../core/model.ts";
import { addonsOf } from "./hosted_tools.ts";
import { hasEnded } from "./provider_fetch.ts";
import type { ProviderProblem } from "./provider_problem.ts";
import { SdkCalls } from "./sdk_calls.ts";
import { type AnswerSoFar, brokenOff, isWithoutReason, sdkProblem } from "./sdk_problem.ts";
import { type RequestStyle, sdkRequest } from "./sdk_request.ts";
import { finishReasonOf, type Prices, usageOf } from "./sdk_usage.ts";

/** A model of a provider, and how it is asked. */
export interface SdkModelOptions {
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
export function sdkModel(options: SdkModelOptions): Model {
  const { id, contextTokens, style: { hosted } } = options;
  return {
    id,
    contextTokens,
    addons: addonsOf(hosted),
    takesServers: hosted.servers !== undefined,
    stream: (request) => ({ [Symbol.asyncIterator]: () => new Answer(options, request) }),
  };
}

type Reader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>;
type SdkPart<Type extends string> = Extract<LanguageModelV4StreamPart, { type: Type }>;

class Answer implements AsyncIterator<ModelPart> {
  readonly #options: SdkModelOptions;
  readonly #request: ModelRequest;
  /** Ours and the caller's in one; not `AbortSignal.any`, whose listeners Deno 2.6 loses when it collects garbage. */
  readonly #stop = new AbortController();
  readonly #onAbort = (): void => this.#stop.abort(this.#request.signal?.reason);
  /** Told, not taken yet. */
  readonly #parts: ModelPart[] = [];
  #taken = 0;
  readonly #calls: SdkCalls;
  readonly #thoughts = new Map<string, { text: string; metadata: Record<string, JsonObject> }>();
  /** Whole, and it is not seen yet what came of them. */
  #heldThoughts: ModelPart[] = [];
  #reader: Reader | undefined;
  #finish: SdkPart<"finish"> | undefined;
  #characters = 0;
  #isOver = false;

  constructor(options: SdkModelOptions, request: ModelRequest) {
    this.#options = options;
    this.#request = request;
    request.signal?.addEventListener("abort", this.#onAbort, { once: true });
    this.#calls = new SdkCalls((part) => this.#tell(part), { isLate: options.lateCalls });
  }

  async next(): Promise<IteratorResult<ModelPart>> {
    try {
      while (this.#taken === this.#parts.length) {
        if (this.#isOver) return { done: true, value: undefined };
        this.#request.signal?.throwIfAborted();
        const { done, value } = await (this.#reader ??= await this.#open()).read();
        if (done) this.#end();
        else if (value.type === "text-delta" && value.delta !== "") {
          this.#characters += value.delta.length;
          return { done: false, value: { type: "text", text: value.delta } };
        } else this.#take(value);
      }
    } catch (error) {
      await this.#fail(error);
    }
    return { done: false, value: this.#nextPart() };
  }

  async return(): Promise<IteratorResult<ModelPart>> {
    this.#over();
    this.#stop.abort();
    await this.#reader?.cancel().catch(() => undefined);
    return { done: true, value: undefined };
  }

  get #soFar(): AnswerSoFar {
    return { problem: this.#options.problem, characters: this.#characters, signal: this.#request.signal };
  }

  async #open(): Promise<Reader> {
    const { signal } = this.#stop;
    const request = sdkRequest({ ...this.#request, signal }, this.#options.style);
    const model = await this.#options.load();
    const { stream } = await model.doStream(request);
    return stream.getReader();
  }

  #take(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case "text-start":
        return this.#calls.pass();
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
      thought.metadata[name] = { ...thought.metadata[name], ...jsonObject(value) };
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

  #over(): void {
    this.#isOver = true;
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
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
    this.#over();
    this.#calls.end(reason);
    this.#tell({
      type: "finish",
      reason,
      usage: usageOf(usage, this.#options.prices),
      model: this.#options.id,
      ...(raw !== undefined && { rawReason: raw }),
    });
  }

  /** A connection that breaks after the provider has told its end does no harm. */
  async #fail(error: unknown): Promise<void> {
    const problem = sdkProblem(error, this.#soFar);
    await this.return();
    if (problem.code !== "network" || this.#reason === undefined) throw problem;
    this.#end();
  }

  #tell(part: ModelPart): void {
    this.#parts.push(part);
  }

  #nextPart(): ModelPart {
    const part = this.#parts[this.#taken++];
    if (this.#taken === this.#parts.length) this.#parts.length = this.#taken = 0;
    if (part === undefined) throw new Error("an answer was read beyond its end");
    return part;
  }
}

function jsonObject(value: unknown): JsonObject {
  const json = toJson(value);
  return json !== null && isJsonObject(json) ? json : {};
}
