import { type Json, parseJson } from "./json.ts";

/** A part of a user message that is not text alone. */
export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | {
    readonly type: "media";
    /** Such as `image/png`. */
    readonly mediaType: string;
    /** Base64. */
    readonly data: string;
    readonly name?: string;
  };

/** A call as a model asked for it through its provider (not in the text). */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote it: meant to be a JSON object, but not checked yet; empty means `{}`. */
  readonly arguments: string;
  /** What the provider wants back with the call, such as a signature; opaque. */
  readonly metadata?: Json;
  /** Why it never runs: its arguments had not ended when the answer did. */
  readonly cut?: string;
}

/** What a model thought before it answered; some providers want it back, unchanged. */
export interface Reasoning {
  readonly text: string;
  readonly metadata?: Json;
}

/** One message of a history, plain JSON. */
export type Message =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly ContentPart[] }
  | {
    readonly role: "assistant";
    readonly content: string;
    readonly calls?: readonly ToolCall[];
    readonly reasoning?: readonly Reasoning[];
  }
  | {
    readonly role: "tool";
    /** Of the call this answers. */
    readonly id: string;
    readonly name: string;
    readonly content: string;
  };

/** The text of a message, its media left out. */
export function textOf(message: Message): string {
  const { content } = message;
  return typeof content === "string"
    ? content
    : content.map((part) => part.type === "text" ? part.text : "").join("");
}

/** A message of a dialog (prompts.md 8). */
export interface DialogMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly name: string;
    /** An object; the text as it was written when it is none. */
    readonly arguments: unknown;
  }[];
  /** Of the call that this answers. */
  readonly toolCallId?: string;
  /** The path of the prompt that it was made from. */
  readonly prompt?: string;
}

/** A message as a dialog shows it. */
export function dialogMessage(message: Message, prompt?: string): DialogMessage {
  const made = prompt === undefined ? {} : { prompt };
  if (message.role === "tool") {
    return { role: "tool", content: message.content, toolCallId: message.id, ...made };
  }
  const calls = message.role === "assistant" ? message.calls ?? [] : [];
  return {
    role: message.role,
    content: textOf(message),
    ...(calls.length > 0 && {
      toolCalls: calls.map((call) => ({
        id: call.id,
        name: call.name,
        arguments: argumentsOf(call.arguments),
      })),
    }),
    ...made,
  };
}

/** What a model wrote as arguments: the JSON value, or the text where it is none; no text means no arguments. */
export function argumentsOf(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
