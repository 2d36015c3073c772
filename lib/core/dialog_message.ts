import { parseJson } from "./json.ts";
import type { Message } from "./message.ts";
import { textOf } from "./message.ts";

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
