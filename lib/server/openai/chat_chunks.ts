import type { JsonObject } from "../../core/json.ts";
import type { ModelPart } from "../../core/model.ts";
import type { ToolCall } from "../../core/message.ts";
import { callJson, finishWord, usageJson } from "./answer_parts.ts";
import type { AnswerHead } from "./answer_parts.ts";

/** Makes the chunks of one answer: the role first, then text as it comes, calls once they are complete, and why it ended. */
export class ChatChunks {
  readonly #head: AnswerHead;
  readonly #includeUsage: boolean;
  #calls = 0;
  #isCut = false;

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
      case "call":
        return [this.#call(part.call)];
      case "call-cut":
        this.#isCut = true;
        return [];
      case "finish":
        return this.#end(part);
      case "call-start":
      case "call-delta":
      case "thought":
      case "retry":
        return [];
    }
  }

  #call(call: ToolCall): JsonObject {
    return this.#chunk({ tool_calls: [{ index: this.#calls++, ...callJson(call) }] });
  }

  #end(part: Extract<ModelPart, { readonly type: "finish" }>): readonly JsonObject[] {
    const last = this.#chunk({}, finishWord(part, { hasCalls: this.#calls > 0, isCut: this.#isCut }));
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
