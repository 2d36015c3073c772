import {
  type ContentPart,
  type Message,
  shownBase64,
  type ToolCall,
  type Words,
  wordsWith,
} from "../../core/core.ts";
import type { ChatBody } from "./schemas.ts";
import { badField } from "./answer.ts";

type ChatMessage = ChatBody["messages"][number];
type ChatPart = Extract<ChatMessage["content"], readonly unknown[]>[number];

/** The messages of a request as a model of Orrery is given them. @throws {HttpProblem} that names the message */
export function chatMessages(messages: ChatBody["messages"]): readonly Message[] {
  const names = new Map<string, string>();
  return messages.map((message, index) => {
    for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name);
    return messageOf(message, { at: `messages[${index}]`, names });
  });
}

interface Place {
  /** As errors name it. */
  readonly at: string;
  /** Of the calls so far, by id. */
  readonly names: ReadonlyMap<string, string>;
}

function messageOf(message: ChatMessage, place: Place): Message {
  const { at } = place;
  switch (message.role) {
    case "developer":
    case "system":
      return { role: "system", content: textOf(message, at) };
    case "user":
      return { role: "user", content: userContent(message, at) };
    case "assistant":
      return assistantMessage(message, at);
    case "tool":
      return toolMessage(message, place);
  }
}

function assistantMessage(message: ChatMessage, at: string): Message {
  const calls = message.tool_calls?.map((call): ToolCall => ({
    id: call.id,
    name: call.function.name,
    arguments: call.function.arguments,
  })) ?? [];
  const content = calls.length > 0 && message.content === undefined ? "" : textOf(message, at);
  return { role: "assistant", content, ...(calls.length > 0 && { calls }) };
}

function toolMessage(message: ChatMessage, { at, names }: Place): Message {
  const id = message.tool_call_id;
  if (id === undefined) throw badField(`${at}.tool_call_id`, "is missing: the id of the call it answers");
  const name = names.get(id);
  if (name === undefined) {
    throw badField(`${at}.tool_call_id`, `no message before it has a call with the id ${JSON.stringify(id)}`);
  }
  return { role: "tool", id, name, content: textOf(message, at) };
}

/** Null is no text. */
function textOf({ role, content }: ChatMessage, at: string): string {
  if (content === undefined || content === null) {
    if (role === "assistant") return "";
    throw badField(`${at}.content`, "is missing: a text");
  }
  if (typeof content === "string") return content;
  return content.map((part, index) => {
    const text = part.type === "refusal" ? part.refusal : part.type === "text" ? part.text : undefined;
    if (text !== undefined) return text;
    throw badField(
      `${at}.content[${index}]`,
      `found a part of type ${JSON.stringify(part.type)}, but a message of the role ${role} is text`,
    );
  }).join("");
}

/** Files of text become a part of the text. */
function userContent(message: ChatMessage, at: string): Words {
  const { content } = message;
  if (!Array.isArray(content) || content.every(({ type }) => type === "text")) return textOf(message, at);
  const parts = content.map((part, index) => partOf(part, `${at}.content[${index}]`));
  return parts.some(({ type }) => type === "media") ? parts : wordsWith("", parts);
}

function partOf(part: ChatPart, at: string): ContentPart {
  const { type, text, image_url: image, file } = part;
  if (type === "text" && text !== undefined) return { type: "text", text };
  if (type === "image_url" && image !== undefined) return shownPart(image.url, `${at}.image_url.url`);
  if (type === "file" && file?.file_data !== undefined) {
    return shownPart(file.file_data, `${at}.file.file_data`, file.filename);
  }
  throw badField(at, `found a part of type ${JSON.stringify(type)}; text, image_url and file can be read`);
}

/** `data:image/png;base64,…`, as far as the data. */
const DATA_URL = /^data:(?<type>[\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64,/;

/** What a `data:` URL has in it; its type counts where its bytes are none that Orrery knows. */
function shownPart(url: string, at: string, name?: string): ContentPart {
  const [start = "", type] = DATA_URL.exec(url) ?? [];
  if (type === undefined) {
    throw badField(at, "expected data:TYPE;base64,DATA, since nothing is fetched from other places");
  }
  const shown = shownBase64(url.slice(start.length), { name, type });
  if ("part" in shown) return shown.part;
  throw badField(at, `${name === undefined ? "it" : JSON.stringify(name)} ${shown.problem}`);
}
