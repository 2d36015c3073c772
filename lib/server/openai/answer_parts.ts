import type { ModelPart, Usage } from "../../core/model.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ToolCall } from "../../core/message.ts";

/** What all pieces of an answer have in common. */
export interface AnswerHead {
  /** `chatcmpl-…` */
  readonly id: string;
  /** s since 1970. */
  readonly created: number;
  /** As the request named it. */
  readonly model: string;
}

/** An answer while it is being made. Ending it early ends what makes it. */
export interface MadeAnswer {
  readonly head: AnswerHead;
  readonly parts: AsyncIterable<ModelPart>;
  /** Nobody wants it any more. */
  leave(): void;
  /** Such as the id of the run. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Gives the head of a new answer. */
export function answerHead(model: string): AnswerHead {
  return {
    id: `chatcmpl-${crypto.randomUUID().replaceAll("-", "")}`,
    created: Math.floor(Date.now() / 1000),
    model,
  };
}

/** Why an answer ended, in OpenAI's words. */
export type FinishWord = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * @param options.hasCalls something is called in the answer
 * @param options.isCut a call of it had not ended, so that it was left out
 */
export function finishWord(
  { reason }: Extract<ModelPart, { readonly type: "finish" }>,
  { hasCalls, isCut }: { readonly hasCalls: boolean; readonly isCut: boolean },
): FinishWord {
  if (reason === "filter") return "content_filter";
  if (reason === "length" || isCut) return "length";
  return hasCalls ? "tool_calls" : "stop";
}

/** A whole call, as OpenAI writes it. */
export function callJson({ id, name, arguments: text }: ToolCall): JsonObject {
  return { id, type: "function", function: { name, arguments: text === "" ? "{}" : text } };
}

/** Tokens, as OpenAI counts them. */
export function usageJson({ input, output, cached, reasoning }: Usage): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}
