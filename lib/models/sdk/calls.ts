import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { type FinishReason, maybeJsonObject, type ModelPart, toJson } from "../../core/core.ts";

type Part<Type extends string> = Extract<LanguageModelV4StreamPart, { type: Type }>;

interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** Its arguments, as far as they have come. */
  text: string;
  /** How much of the text was no object when it was last looked at. */
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
export class SdkCalls {
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
    const { id, name, text, ended } = call;
    if (ended === undefined && !this.#isLate) return;
    if (!this.#open.delete(call)) return;
    const { input, providerMetadata } = ended ?? { input: text };
    const metadata = providerMetadata === undefined ? {} : { metadata: toJson(providerMetadata) };
    this.#tell({ type: "call", call: { id, name, arguments: input, ...metadata } });
  }
}

/** Whether the arguments are one object; a text that was none is not read again. */
function isClosed(call: OpenCall): boolean {
  if (call.text.length === call.unclosed) return false;
  call.unclosed = call.text.length;
  return maybeJsonObject(call.text) !== undefined;
}
