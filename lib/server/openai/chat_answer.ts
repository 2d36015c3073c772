import type { JsonObject } from "../../core/json.ts";
import type { ToolCall } from "../../core/message.ts";
import type { ModelPart } from "../../core/model.ts";
import { callJson, finishWord, usageJson } from "./answer_parts.ts";
import type { MadeAnswer } from "./answer_parts.ts";

/** The whole answer, as `chat.completion`. */
export async function chatAnswer({ head, parts }: Pick<MadeAnswer, "head" | "parts">): Promise<JsonObject> {
  let content = "";
  let thought = "";
  const calls: ToolCall[] = [];
  let isCut = false;
  let end: Extract<ModelPart, { readonly type: "finish" }> | undefined;
  for await (const part of parts) {
    if (part.type === "text") content += part.text;
    else if (part.type === "reasoning") thought += part.text;
    else if (part.type === "call") calls.push(part.call);
    else if (part.type === "call-cut") isCut = true;
    else if (part.type === "finish") end = part;
  }
  const finish = end ?? { type: "finish", reason: "stop", usage: { input: 0, output: 0 }, model: head.model };
  const message = {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    ...(thought === "" ? {} : { reasoning_content: thought }), // as other servers name it, and clients read it
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(callJson) }),
  };
  return {
    id: head.id,
    object: "chat.completion",
    created: head.created,
    model: head.model,
    choices: [{
      index: 0,
      message,
      logprobs: null,
      finish_reason: finishWord(finish, { hasCalls: calls.length > 0, isCut }),
    }],
    usage: usageJson(finish.usage),
  };
}
