import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { type ContentPart, isRecord, type Json, type Message, parseJson } from "../core/core.ts";
import type { ProviderKind } from "./provider.ts";

/** What a provider wants of a prompt. */
export interface PromptStyle {
  readonly kind: ProviderKind;
  /** The name under which its metadata is kept; thinking of another provider is left out. */
  readonly metadataName: string;
}

type Said<Role extends LanguageModelV4Message["role"]> = Extract<LanguageModelV4Message, { role: Role }>;
type UserPart = Said<"user">["content"][number];
type AssistantPart = Said<"assistant">["content"][number];
type ToolPart = Said<"tool">["content"][number];
type ToolOutput = Extract<ToolPart, { type: "tool-result" }>["output"];

/** The messages as the AI SDK wants them: tool results that follow each other are one message, empty messages none. */
export function sdkPrompt(messages: readonly Message[], style: PromptStyle): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  for (const message of messages) {
    const last = prompt.at(-1);
    if (message.role === "tool") {
      const part = toolPart(message, style);
      if (last?.role === "tool") last.content.push(part);
      else prompt.push({ role: "tool", content: [part] });
    } else if (message.role === "assistant") {
      const content = assistantParts(message, style);
      if (content.length > 0) prompt.push({ role: "assistant", content });
    } else if (
      message.role === "system" && (!style.kind.systemFirst || (last?.role ?? "system") === "system")
    ) {
      if (message.content !== "") prompt.push(message);
    } else {
      const content = userParts(message.content);
      if (content.length > 0) prompt.push({ role: "user", content });
    }
  }
  return prompt;
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
  { metadataName }: PromptStyle,
): AssistantPart[] {
  const own = reasoning.filter(({ metadata }) =>
    !isRecord(metadata) || Object.hasOwn(metadata, metadataName)
  );
  return [
    ...own.map(({ text, metadata }) => ({ type: "reasoning" as const, text, ...providerOptions(metadata) })),
    ...(content === "" ? [] : [{ type: "text" as const, text: content }]),
    ...calls.map(({ id, name, arguments: text, metadata }) => ({
      type: "tool-call" as const,
      toolCallId: id,
      toolName: name,
      input: inputOf(text),
      ...providerOptions(metadata),
    })),
  ];
}

/** What the SDK gave as metadata, unchanged: it is its own type again. */
function providerOptions(metadata: Json | undefined): { readonly providerOptions?: SharedV4ProviderOptions } {
  return isRecord(metadata) ? { providerOptions: metadata as SharedV4ProviderOptions } : {};
}

/** Providers want an object back; text that is none is given back inside one. */
function inputOf(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    const input = parseJson(text, { keepsDigits: true });
    return isRecord(input) ? input : { value: input };
  } catch {
    return { "not JSON": text };
  }
}

function toolPart(
  { id, name, content }: Extract<Message, { role: "tool" }>,
  { kind }: PromptStyle,
): ToolPart {
  const output = name === kind.picturesOf ? pictureOutput(content) : undefined;
  return {
    type: "tool-result",
    toolCallId: id,
    toolName: name,
    output: output ?? { type: "text", value: content },
  };
}

const PICTURE = /data:(image\/[\w.+-]+);base64,([A-Za-z0-9+/]+=*)/;

/** The text with its picture; undefined when it has none. A picture that was cut is none. */
function pictureOutput(text: string): ToolOutput | undefined {
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
