import type { Json } from "./json.ts";

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
