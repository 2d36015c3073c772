import type { JsonObject } from "../../core/json.ts";
import type { ModelPart } from "../../core/model.ts";
import type { ToolCall } from "../../core/message.ts";
import { finishWord, usageJson } from "./answer_parts.ts";
import type { AnswerHead } from "./answer_parts.ts";

interface OpenCall {
  readonly index: number;
  /** What was sent of its arguments. */
  sent: string;
}

/** Makes the chunks of one answer: the role first, then text and calls as they come, and why it ended. */
export class ChatChunks {
  readonly #head: AnswerHead;
  readonly #includeUsage: boolean;
  readonly #calls = new Map<string, OpenCall>();

  constructor(head: AnswerHead, { includeUsage }: { readonly includeUsage: boolean }) {
    this.#head = head;
    this.#includeUsage = includeUsage;
  }

  /** The first one. */
  begin(): JsonObject {
    return this.#chunk({ role: "assistant", content: "" });
  }

  /** What a part of the answer is in chunks. */
  of(part: ModelPart): readonly JsonObject[] {
    switch (part.type) {
      case "text":
        return part.text === "" ? [] : [this.#chunk({ content: part.text })];
      case "reasoning":
        return part.text === "" ? [] : [this.#chunk({ reasoning_content: part.text })];
      case "call-start":
        return [this.#start(part.id, part.name)];
      case "call-delta":
        return this.#arguments(part.id, part.text);
      case "call":
        return this.#whole(part.call);
      case "finish":
        return this.#end(part);
      case "thought":
      case "retry":
        return [];
    }
  }

  #start(id: string, name: string): JsonObject {
    const index = this.#calls.size;
    this.#calls.set(id, { index, sent: "" });
    return this.#chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
  }

  #arguments(id: string, text: string): readonly JsonObject[] {
    const call = this.#calls.get(id);
    if (call === undefined || text === "") return [];
    call.sent += text;
    return [this.#chunk({ tool_calls: [{ index: call.index, function: { arguments: text } }] })];
  }

  /** What was not sent of it. */
  #whole({ id, name, arguments: text }: ToolCall): readonly JsonObject[] {
    const start = this.#calls.has(id) ? [] : [this.#start(id, name)];
    const sent = this.#calls.get(id)?.sent ?? "";
    const whole = text === "" ? "{}" : text;
    return [...start, ...this.#arguments(id, whole.startsWith(sent) ? whole.slice(sent.length) : "")];
  }

  #end(part: Extract<ModelPart, { readonly type: "finish" }>): readonly JsonObject[] {
    const last = this.#chunk({}, finishWord(part, { hasCalls: this.#calls.size > 0 }));
    if (!this.#includeUsage) return [last];
    return [last, { ...this.#object(), choices: [], usage: usageJson(part.usage) }];
  }

  #chunk(delta: JsonObject, finish: string | null = null): JsonObject {
    return {
      ...this.#object(),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(this.#includeUsage && { usage: null }),
    };
  }

  #object(): JsonObject {
    const { id, created, model } = this.#head;
    return { id, object: "chat.completion.chunk", created, model };
  }
}
