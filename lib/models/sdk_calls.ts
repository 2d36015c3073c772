import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { toJson } from "../core/json.ts";
import type { ModelPart } from "../core/model.ts";
import { JsonEnd } from "./json_end.ts";

type Part<Type extends string> = Extract<LanguageModelV4StreamPart, { type: Type }>;

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly end: JsonEnd;
  text: string;
  isTold: boolean;
}

/**
 * The calls of one answer. Each is told as complete once: when the SDK says so or, for a provider whose calls the SDK tells at the
 * end of the stream only, when the object of its arguments is closed. An empty object may be a placeholder that the arguments
 * come after, so it counts when the next call begins.
 */
export class SdkCalls {
  readonly #tell: (part: ModelPart) => void;
  readonly #isLate: boolean;
  readonly #calls = new Map<string, OpenCall>();
  /** Calls of the provider's own tools: it runs them. */
  readonly #foreign = new Set<string>();
  #empty: OpenCall | undefined;

  constructor(tell: (part: ModelPart) => void, options: { readonly isLate: boolean }) {
    this.#tell = tell;
    this.#isLate = options.isLate;
  }

  /** True when the model asked for at least one call. */
  get any(): boolean {
    return this.#calls.size > 0;
  }

  start({ id, toolName, providerExecuted }: Part<"tool-input-start">): void {
    if (this.#empty !== undefined) this.#complete(this.#empty);
    if (providerExecuted) this.#foreign.add(id);
    else this.#open(id, toolName);
  }

  delta({ id, delta }: Part<"tool-input-delta">): void {
    const call = this.#calls.get(id);
    if (call === undefined || delta === "") return;
    this.#tell({ type: "call-delta", id, text: delta });
    if (!this.#isLate || call.isTold) return;
    call.text += delta;
    if (!call.end.push(delta)) return;
    if (/^\s*\{\s*\}\s*$/.test(call.text)) this.#empty = call;
    else this.#complete(call);
  }

  call({ toolCallId: id, toolName, input, providerExecuted, providerMetadata }: Part<"tool-call">): void {
    if (providerExecuted || this.#foreign.has(id)) {
      this.#calls.delete(id); // not each package says so when a call begins
      return;
    }
    const call = this.#calls.get(id) ?? this.#open(id, toolName);
    if (call.isTold) return;
    call.isTold = true;
    const metadata = providerMetadata === undefined ? {} : { metadata: toJson(providerMetadata) };
    this.#tell({ type: "call", call: { id, name: toolName, arguments: input, ...metadata } });
  }

  #open(id: string, name: string): OpenCall {
    const call = { id, name, end: new JsonEnd(), text: "", isTold: false };
    this.#calls.set(id, call);
    this.#tell({ type: "call-start", id, name });
    return call;
  }

  #complete(call: OpenCall): void {
    if (this.#empty === call) this.#empty = undefined;
    if (call.isTold) return;
    call.isTold = true;
    this.#tell({ type: "call", call: { id: call.id, name: call.name, arguments: call.text } });
  }
}
