import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import {
  type ContentPart,
  isJsonObject,
  type Json,
  type Message,
  parseJson,
  type Reasoning,
  type ToolCall,
} from "../../core/core.ts";

/** What a provider wants of a prompt. */
export interface PromptStyle {
  /** Instructions stand at the beginning only: later ones become messages of the user. */
  readonly systemFirst: boolean;
  /** The name under which its metadata is kept; thinking of another provider is left out. */
  readonly metadataName: string;
  /** A picture in the result of this tool, as a `data:` URL, is sent as a picture. */
  readonly picturesOf?: string;
}

type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];
type UserPart = Extract<LanguageModelV4Message, { role: "user" }>["content"][number];
type ToolPart = Extract<LanguageModelV4Message, { role: "tool" }>["content"][number];
type ToolResult = Extract<ToolPart, { type: "tool-result" }>;

/** The messages as the AI SDK wants them: tool results that follow each other are one message, empty messages none. */
export function sdkPrompt(messages: readonly Message[], style: PromptStyle): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  for (const message of messages) {
    const last = prompt.at(-1);
    if (message.role === "tool" && last?.role === "tool") last.content.push(toolPart(message, style));
    else {prompt.push(...converted(message, {
        style,
        isFirst: prompt.every(({ role }) => role === "system"),
      }));}
  }
  return prompt;
}

function converted(
  message: Message,
  { style, isFirst }: { readonly style: PromptStyle; readonly isFirst: boolean },
): readonly LanguageModelV4Message[] {
  switch (message.role) {
    case "system":
      if (message.content === "") return [];
      return style.systemFirst && !isFirst
        ? [{ role: "user", content: userParts(message.content) }]
        : [{ role: "system", content: message.content }];
    case "user": {
      const content = userParts(message.content);
      return content.length === 0 ? [] : [{ role: "user", content }];
    }
    case "assistant": {
      const content = assistantParts(message, style);
      return content.length === 0 ? [] : [{ role: "assistant", content }];
    }
    case "tool":
      return [{ role: "tool", content: [toolPart(message, style)] }];
    default:
      return message satisfies never;
  }
}

function userParts(content: string | readonly ContentPart[]): UserPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.map((part) =>
    part.type === "text" ? { type: "text", text: part.text } : {
      type: "file",
      mediaType: part.mediaType,
      data: { type: "data", data: part.data },
      filename: part.name,
    }
  );
}

function assistantParts(
  { content, calls = [], reasoning = [] }: Extract<Message, { role: "assistant" }>,
  style: PromptStyle,
): AssistantPart[] {
  return [
    ...reasoning.filter((each) => isOwn(each, style)).map(reasoningPart),
    ...(content === "" ? [] : [{ type: "text" as const, text: content }]),
    ...calls.map(callPart),
  ];
}

function isOwn({ metadata }: Reasoning, { metadataName }: PromptStyle): boolean {
  return metadata === undefined || metadata === null || !isJsonObject(metadata) ||
    Object.hasOwn(metadata, metadataName);
}

function reasoningPart({ text, metadata }: Reasoning): AssistantPart {
  return { type: "reasoning", text, ...providerOptions(metadata) };
}

function callPart({ id, name, arguments: text, metadata }: ToolCall): AssistantPart {
  return {
    type: "tool-call",
    toolCallId: id,
    toolName: name,
    input: inputOf(text),
    ...providerOptions(metadata),
  };
}

/** Providers want an object back; text that is none is given back inside one. */
function inputOf(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    const input = parseJson(text, { keepsDigits: true });
    return input !== null && isJsonObject(input) ? input : { value: input };
  } catch {
    return { "not JSON": text };
  }
}

function toolPart(
  { id, name, content }: Extract<Message, { role: "tool" }>,
  { picturesOf }: PromptStyle,
): ToolPart {
  const output = name === picturesOf ? pictureOutput(content) : undefined;
  return {
    type: "tool-result",
    toolCallId: id,
    toolName: name,
    output: output ?? { type: "text", value: content },
  };
}

const PICTURE = /data:(image\/[\w.+-]+);base64,([A-Za-z0-9+/]+=*)/;

/** The text with its picture; undefined when it has none. A picture that was cut is none. */
function pictureOutput(text: string): ToolResult["output"] | undefined {
  const [url, mediaType, data] = PICTURE.exec(text) ?? [];
  if (url === undefined || mediaType === undefined || data === undefined) return undefined;
  const isCut = text.includes(`${url}\n[cut: `);
  const said = text.replace(
    url,
    isCut ? "(a picture that is larger than a result may be)" : "(the picture below)",
  );
  return {
    type: "content",
    value: [
      { type: "text", text: said },
      ...(isCut ? [] : [{ type: "file" as const, mediaType, data: { type: "data" as const, data } }]),
    ],
  };
}

function providerOptions(metadata: Json | undefined): { readonly providerOptions?: SharedV4ProviderOptions } {
  if (metadata === undefined || metadata === null || !isJsonObject(metadata)) return {};
  // What the SDK gave as metadata, unchanged: it is its own type again.
  return { providerOptions: metadata as SharedV4ProviderOptions };
}
