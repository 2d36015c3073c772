import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import type { ContentPart, Message, ToolCall } from "../core/message.ts";

/** Messages as a run has kept them; what is none is left out. */
export function messagesFrom(kept: Json): readonly Message[] {
  return Array.isArray(kept) ? kept.flatMap((message: Json) => maybeMessage(message) ?? []) : [];
}

function maybeMessage(kept: Json): Message | undefined {
  if (!isJsonObject(kept)) return undefined;
  const { role, content, calls = [], id, name } = kept;
  const text = typeof content === "string" ? content : "";
  switch (role) {
    case "system":
      return { role, content: text };
    case "user":
      return { role, content: Array.isArray(content) ? content.flatMap(partFrom) : text };
    case "assistant": {
      const called = Array.isArray(calls) ? calls.flatMap(callFrom) : [];
      return { role, content: text, ...(called.length > 0 && { calls: called }) };
    }
    case "tool":
      return { role, id: String(id), name: String(name), content: text };
    default:
      return undefined;
  }
}

function partFrom(kept: Json): readonly ContentPart[] {
  if (!isJsonObject(kept)) return [];
  const { type, text, mediaType, data, name } = kept;
  if (type === "text") return [{ type, text: String(text) }];
  if (type !== "media") return [];
  return [{
    type,
    mediaType: String(mediaType),
    data: String(data),
    ...(typeof name === "string" && { name }),
  }];
}

function callFrom(kept: Json): readonly ToolCall[] {
  if (!isJsonObject(kept)) return [];
  const { id, name, arguments: given, metadata } = kept;
  return [{
    id: String(id),
    name: String(name),
    arguments: typeof given === "string" ? given : "",
    ...(metadata !== undefined && { metadata }),
  }];
}
