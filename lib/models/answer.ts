// One answer of a model of a provider, in our parts. It is one call of `ai`: the loop is ours (turn.md 4), and what streamText adds around
// a call takes 20 us more for each delta, which is all that there is for it (figures.md).
import {
  type CallWarning,
  experimental_streamLanguageModelCall as streamCall,
  type FinishReason as SdkReason,
  type LanguageModelStreamPart,
  type LanguageModelUsage,
  ToolChoiceViolationError,
} from "ai";
import {
  type FinishReason,
  type JsonObject,
  maybeJsonObject,
  type Model,
  type ModelId,
  modelIdText,
  type ModelPart,
  type ModelRequest,
  toJson,
  toJsonObject,
  type Usage,
} from "../core/core.ts";
import { type ProviderAccess, providerAccess, type ProviderAccessOptions } from "./exchange.ts";
import { addonsOf } from "./hosted_tools.ts";
import { costOf, maybeKnownModel, type Prices } from "./known_models.ts";
import { brokenOff, isWithoutReason, sdkProblem } from "./problem.ts";
import type { Provider } from "./provider.ts";
import { type RequestStyle, requestStyle, sdkRequest } from "./request.ts";

/** A model of a provider, and how it is asked. */
interface AskedModel {
  readonly id: ModelId;
  readonly access: ProviderAccess;
  readonly style: RequestStyle;
  /** See {@linkcode AnswerCalls}. */
  readonly lateCalls: boolean;
  readonly prices: Prices;
  /** What it was found not to do: told once. */
  readonly warned: Set<string>;
}

/**
 * The model of a provider. Its package is loaded at the first call.
 *
 * @throws {ModelError} `config`, when there is no such provider, or no key for it
 */
export function providerModel(id: ModelId, options: ProviderAccessOptions): Model {
  const name = modelIdText(id);
  const access = providerAccess(id, options);
  const { provider } = access;
  const known = maybeKnownModel(name);
  const style = requestStyle(id, provider);
  const prices = { own: options.settings.prices?.[name], known };
  const model = { id, access, style, lateCalls: hasLateCalls(provider), prices, warned: new Set<string>() };
  return {
    id: name,
    contextTokens: provider.settings.contextTokens ?? known?.contextTokens,
    addons: addonsOf(style.hosted),
    takesServers: style.hosted.servers !== undefined,
    stream: (request) => answer(model, request),
  };
}

/** Google's own openai-compatible interface signs its calls at the end: they have to be waited for. */
function hasLateCalls({ type, settings, baseURL, kind }: Provider): boolean {
  if (type === "openai") return settings.api === "chat";
  return kind.lateCalls === true && !/\.googleapis\.com/.test(baseURL);
}

type Part<Type extends LanguageModelStreamPart["type"]> = Extract<LanguageModelStreamPart, { type: Type }>;

async function* answer(
  { id, access, style, lateCalls, prices, warned }: AskedModel,
  request: ModelRequest,
): AsyncGenerator<ModelPart> {
  const { signal } = request;
  const question = access.open("events", signal);
  /** To be given next. */
  const told: ModelPart[] = [];
  const tell = (part: ModelPart): void => void told.push(part);
  const calls = new AnswerCalls(tell, { isLate: lateCalls });
  const thoughts = new AnswerThoughts(tell, { arePaired: access.provider.kind.pairsThoughts === true });
  let characters = 0;
  let finish: Part<"model-call-end"> | undefined;
  let reader: ReadableStreamDefaultReader<LanguageModelStreamPart> | undefined;

  const take = (part: LanguageModelStreamPart): void => {
    switch (part.type) {
      case "model-call-start":
        for (const text of part.warnings.map(warningText)) {
          if (!warned.has(text)) tell({ type: "warning", text: `${modelIdText(id)}: ${text}` });
          warned.add(text);
        }
        return;
      case "text-start":
        return calls.pass();
      case "text-delta":
        characters += part.text.length;
        if (part.text !== "") tell({ type: "text", text: part.text });
        return;
      case "reasoning-start":
        calls.pass();
        return thoughts.take(part);
      case "reasoning-delta":
        characters += part.text.length;
        return thoughts.take(part);
      case "reasoning-end":
        return thoughts.take(part);
      case "tool-input-start":
        return calls.start(part);
      case "tool-input-delta":
        characters += part.delta.length;
        return calls.delta(part);
      case "tool-call":
        thoughts.end(part.providerExecuted === true);
        return calls.call(part);
      case "model-call-end":
        thoughts.end(false);
        finish ??= part;
        return;
      case "error":
        if (isWithoutReason(part.error) && question.hasEnded()) return; // what is left is told with its end
        if (ToolChoiceViolationError.isInstance(part.error)) return; // whoever wanted a call sees that there is none
        throw part.error;
    }
  };
  const soFar = () => ({ problem: access.problem, characters, signal });
  const reasonOf = (): FinishReason | undefined =>
    (finish && finishReasonOf(finish, calls.any)) ?? (question.hasEnded() ? "other" : undefined);
  /** The stream is over: only now the connection is free, and nothing more can go wrong. */
  const end = (): void => {
    const reason = reasonOf();
    if (finish === undefined || reason === undefined) throw brokenOff(soFar());
    calls.end(reason);
    tell({
      type: "finish",
      reason,
      usage: usageOf(finish.usage, prices),
      model: modelIdText(id),
      rawReason: finish.rawFinishReason,
    });
  };

  try {
    signal?.throwIfAborted();
    const call = sdkRequest({ ...request, signal: question.signal }, style, await question.sdk());
    reader = (await streamCall(call)).stream.getReader();
    while (true) {
      signal?.throwIfAborted();
      const { done, value } = await reader.read();
      if (done) break;
      take(value);
      for (const part of told.splice(0)) yield part;
    }
    end();
  } catch (error) {
    // A connection that breaks after the provider has told its end does no harm.
    const problem = sdkProblem(error, soFar());
    if (problem.code !== "network" || reasonOf() === undefined) throw problem;
    end();
  } finally {
    question.close();
    await reader?.cancel().catch(() => undefined);
  }
  yield* told;
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** Its arguments, as far as they have come. */
  text: string;
  /** How much of the text was no object when it was last looked at: it is not read again. */
  unclosed: number;
  /** The answer went on behind it. */
  isPassed: boolean;
  /** As the SDK tells it; at the end of a stream it does so for what was cut off, too. */
  ended?: Part<"tool-call">;
}

/**
 * The calls of one answer. Each is told once, when it is known to be complete: the answer has gone on behind its end, or has ended as it
 * should. One that the answer was cut off in, or right behind, is told as cut: nobody knows what else would have come.
 */
class AnswerCalls {
  readonly #tell: (part: ModelPart) => void;
  readonly #isLate: boolean;
  readonly #calls = new Map<string, OpenCall>();
  /** Those that were not told yet. */
  readonly #open = new Set<OpenCall>();
  /** Calls of the provider's own tools: it runs them. */
  readonly #foreign = new Set<string>();

  /** @param options.isLate the SDK tells the calls at the end of the stream only: until then, the next call ends one whose object is closed */
  constructor(tell: (part: ModelPart) => void, options: { readonly isLate: boolean }) {
    this.#tell = tell;
    this.#isLate = options.isLate;
  }

  /** True when the model asked for at least one call. */
  get any(): boolean {
    return this.#calls.size > 0;
  }

  start({ id, toolName, providerExecuted }: Part<"tool-input-start">): void {
    for (const call of this.#open) {
      if (call.ended === undefined && !call.isPassed && !isClosed(call)) continue;
      call.isPassed = true;
      this.#whole(call);
    }
    if (providerExecuted) this.#foreign.add(id);
    else this.#begin(id, toolName);
  }

  delta({ id, delta }: Part<"tool-input-delta">): void {
    const call = this.#calls.get(id);
    if (call === undefined || delta === "") return;
    if (!this.#open.has(call) && delta.trim() !== "") {
      throw new Error(`more arguments of ${call.name} behind the beginning of the next call`);
    }
    call.text += delta;
    this.#tell({ type: "call-delta", id, text: delta });
  }

  call(part: Part<"tool-call">): void {
    const { toolCallId: id, toolName, providerExecuted } = part;
    if (providerExecuted || this.#foreign.has(id)) {
      const call = this.#calls.get(id);
      if (call !== undefined) this.#open.delete(call); // not each package says so when a call begins
      this.#calls.delete(id);
      return;
    }
    const call = this.#calls.get(id) ?? this.#begin(id, toolName);
    call.ended = part;
    if (call.isPassed) this.#whole(call);
  }

  /** Something else begins: what has ended before it is complete. */
  pass(): void {
    for (const call of this.#open) if (call.ended !== undefined) this.#whole(call);
  }

  /** Tells what is left. An end for a reason that nobody knows makes a call complete whose object is closed. */
  end(reason: FinishReason): void {
    for (const call of this.#open) {
      const isGood = reason === "stop" || reason === "calls" || (reason === "other" && isClosed(call));
      if (isGood && call.ended !== undefined) this.#whole(call);
      else this.#tell({ type: "call-cut", id: call.id, name: call.name });
    }
  }

  #begin(id: string, name: string): OpenCall {
    const call = { id, name, text: "", unclosed: 0, isPassed: false };
    this.#calls.set(id, call);
    this.#open.add(call);
    this.#tell({ type: "call-start", id, name });
    return call;
  }

  /** Where it is not late, there may be metadata at its end. */
  #whole(call: OpenCall): void {
    const { id, name, ended } = call;
    if ((ended === undefined && !this.#isLate) || !this.#open.delete(call)) return;
    const metadata = ended?.providerMetadata && { metadata: toJson(ended.providerMetadata) };
    this.#tell({ type: "call", call: { id, name, arguments: argumentsOf(call), ...metadata } });
  }
}

/** As the model wrote them: of values a number has lost its digits. Not each package tells the text. */
function argumentsOf({ text, ended }: OpenCall): string {
  if (text !== "" || ended === undefined) return text;
  return ended.invalid && typeof ended.input === "string" ? ended.input : JSON.stringify(ended.input);
}

function isClosed(call: OpenCall): boolean {
  if (call.text.length === call.unclosed) return false;
  call.unclosed = call.text.length;
  return maybeJsonObject(call.text) !== undefined;
}

/** The thoughts of one answer, as they are written, and each whole as it has to be given back. */
class AnswerThoughts {
  readonly #tell: (part: ModelPart) => void;
  readonly #arePaired: boolean;
  readonly #open = new Map<string, { text: string; metadata: Record<string, JsonObject> }>();
  /** Whole, and it is not seen yet what came of them. */
  #held: ModelPart[] = [];

  /** @param options.arePaired each is given back with what came of it or not at all */
  constructor(tell: (part: ModelPart) => void, options: { readonly arePaired: boolean }) {
    this.#tell = tell;
    this.#arePaired = options.arePaired;
  }

  take(part: Part<"reasoning-start" | "reasoning-delta" | "reasoning-end">): void {
    const thought = this.#open.get(part.id) ?? { text: "", metadata: {} };
    this.#open.set(part.id, thought);
    for (const [name, value] of Object.entries(part.providerMetadata ?? {})) {
      thought.metadata[name] = { ...thought.metadata[name], ...toJsonObject(value) };
    }
    if (part.type === "reasoning-delta" && part.text !== "") {
      thought.text += part.text;
      this.#tell({ type: "reasoning", text: part.text });
    }
    if (part.type !== "reasoning-end") return;
    this.#open.delete(part.id);
    const { text, metadata } = thought;
    const hasMetadata = Object.keys(metadata).length > 0;
    if (text === "" && !hasMetadata) return;
    this.#held.push({ type: "thought", reasoning: { text, ...(hasMetadata && { metadata }) } });
    if (!this.#arePaired) this.end(false);
  }

  /** Something came of them: `isForeign`, a call that the provider does itself. */
  end(isForeign: boolean): void {
    if (!isForeign) this.#held.forEach(this.#tell);
    this.#held = [];
  }
}

/** What of a request the package says that the model does not do. */
function warningText(warning: CallWarning): string {
  if (warning.type === "other") return warning.message;
  if (warning.type === "deprecated") return `${warning.setting} is deprecated: ${warning.message}`;
  const what = warning.type === "unsupported" ? "is not supported" : "is done in another way";
  return `${warning.feature} ${what}${warning.details ? `: ${warning.details}` : ""}`;
}

/** Tokens and cost of one call. The SDK writes 0 for what a provider does not tell, so that a 0 of a part is left out. */
function usageOf(
  { inputTokens: input = 0, inputTokenDetails, outputTokens: said = 0, outputTokenDetails }:
    LanguageModelUsage,
  prices: Prices,
): Usage {
  const { cacheReadTokens: cached = 0, cacheWriteTokens: cacheWrite = 0 } = inputTokenDetails;
  const { reasoningTokens: reasoning = 0 } = outputTokenDetails;
  // Some openai-compatible servers count the thinking apart.
  const output = reasoning > said ? said + reasoning : said;
  const isTold = input > 0 || output > 0;
  return {
    input,
    output,
    ...(cached > 0 && { cached }),
    ...(reasoning > 0 && { reasoning }),
    cost: isTold ? costOf({ input, output, cached, cacheWrite }, prices) : undefined,
  };
}

/** Why the model stopped; undefined when it did not: the stream ended in the middle. Many servers say `stop` after calls too. */
function finishReasonOf(
  { finishReason: unified, rawFinishReason: raw }: Part<"model-call-end">,
  hasCalls: boolean,
): FinishReason | undefined {
  const isUnclear = (unified === "tool-calls" || unified === "other") && raw !== undefined && raw !== "";
  const reason = isUnclear
    ? reasonIn(raw)
    : unified === "error" && raw === undefined
    ? undefined
    : REASONS[unified];
  return reason === "stop" && hasCalls ? "calls" : reason;
}

const REASONS: Readonly<Record<SdkReason, FinishReason | undefined>> = {
  "stop": "stop",
  "tool-calls": "calls",
  "length": "length",
  "content-filter": "filter",
  "error": "error",
  "other": undefined,
  "interrupted": undefined,
};

/** The SDK knows the words of its own providers; servers that speak like one of them have those of the others, and more. */
function reasonIn(raw: string): FinishReason {
  const word = raw.toLowerCase().replaceAll(/[^a-z]+/g, "_");
  const [reason = "other"] = WORDS.find(([, words]) => words.test(word)) ?? [];
  return reason;
}

const WORDS: readonly (readonly [reason: FinishReason, words: RegExp])[] = [
  ["stop", /^(stop|stop_sequence|end|end_turn|eos|eos_token|complete|completed|done|finished)$/],
  ["calls", /^(tool_calls?|tool_use|function_calls?)$/],
  ["length", /^(length|(max|model)_length|max_tokens|max_(output|new|completion)_tokens)$/],
  ["filter", /^(content_filter(ed)?|refusal|safety|recitation|blocklist|prohibited_content)$/],
];
