import type { ContentPart, Message } from "../core/message.ts";
import type { LiveNode } from "../document/live_node.ts";
import { nodeText, nodeTexts } from "../document/node_text.ts";
import type { LlmFields } from "../parse/operation_fields.ts";
import type { Operation } from "./document_operation.ts";

const DEFAULT_SYSTEM = "You are a helpful assistant. Answer in Markdown unless asked otherwise.";

/** What an @llm sends (documents.md 7.2 to 7.4). @throws {BlockReferenceError} */
export function messagesOf(
  operation: Operation<LlmFields>,
  media: readonly ContentPart[],
): readonly Message[] {
  const { live, node, fields, means, run } = operation;
  const hasOperations = means.showsOperations;
  const context = live.contextAbove(node, { hasOperations });
  const system = nodeTexts(context.system);
  const blocks = fields.blocks === undefined
    ? fields.isAmbient ? context.ambient.map(ambientMessage) : []
    : live.select(fields.blocks, { hasOperations }).map(userMessage);
  const messages: readonly Message[] = [
    { role: "system", content: system === "" ? DEFAULT_SYSTEM : system },
    ...blocks,
    ...(fields.prompt === undefined ? [] : [{ role: "user", content: fields.prompt.trimEnd() } as const]),
  ];
  return withMedia(messages.map((message) => run.mask(message)), media);
}

/** An answer of a model above is one; everything else is material. */
function ambientMessage(node: LiveNode): Message {
  return { role: node.origin.by === "llm" ? "assistant" : "user", content: nodeText(node) };
}

function userMessage(node: LiveNode): Message {
  return { role: "user", content: nodeText(node) };
}

/** The media are parts of the last user message. */
function withMedia(messages: readonly Message[], media: readonly ContentPart[]): readonly Message[] {
  if (media.length === 0) return messages;
  const last = messages.findLastIndex(({ role }) => role === "user");
  const message = messages[last];
  if (message?.role !== "user") return [...messages, { role: "user", content: media }];
  const text = typeof message.content === "string"
    ? [{ type: "text", text: message.content } as const]
    : message.content;
  return messages.with(last, { role: "user", content: [...text, ...media] });
}
