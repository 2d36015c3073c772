import type { JsonSchema } from "./gadget.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "./json.ts";
import type { Effort } from "./model_settings.ts";
import { messageOf, withCause } from "./source_error.ts";

/** A gadget as a model is told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments: an object. */
  readonly input: JsonSchema;
}

/** What a model is asked. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  /** Offered as the provider's own tool calls. Absent or empty: none. */
  readonly tools?: readonly ToolSpec[];
  /** `none` forbids calls, `required` wants one; a name wants that tool. Default `auto`. */
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string };
  /** The answer is to be JSON of this schema, where the provider can hold it to that. */
  readonly schema?: JsonSchema;
  /** The answer is to be JSON; set beside a schema too. */
  readonly json?: boolean;
  /** What the provider runs itself: `{type: "mcp" | "web_search" | "computer_use", …}` (prompts.md 5). */
  readonly providerTools?: readonly JsonObject[];
  /** What else the provider takes, in its own names. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** How hard it is to think; over `reasoning` of `args`. */
  readonly effort?: Effort;
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxOutputTokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  /** How often a call that failed before anything was shown is tried again. Default 3. */
  readonly retries?: number;
  readonly signal?: AbortSignal;
}

/** Tokens of one call or of several; a count that a provider does not tell is absent, never zero. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  /** Of `input`: read from the provider's cache. */
  readonly cached?: number;
  /** Of `output`: thought, not said. */
  readonly reasoning?: number;
  /** US dollars. Absent: the price is not known. */
  readonly cost?: number;
}

/** Why a model stopped. */
export type FinishReason = "stop" | "length" | "calls" | "filter" | "error" | "other";

/**
 * What comes of a model while it answers. The parts of one answer end with exactly one `finish`; what goes wrong is thrown as
 * a {@linkcode ModelError}.
 */
export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "call-start"; readonly id: string; readonly name: string }
  | { readonly type: "call-delta"; readonly id: string; readonly text: string }
  /** The arguments are complete. It comes as soon as that can be seen, while the model may still be answering. */
  | { readonly type: "call"; readonly call: ToolCall }
  /** The answer ended before the arguments did, as far as anybody knows: it never runs. */
  | { readonly type: "call-cut"; readonly id: string; readonly name: string }
  /** The thinking as it has to be given back, whole. */
  | {
    readonly type: "thought";
    readonly reasoning: Reasoning;
    /** All text so far was a thought, of which only the end is marked. */
    readonly wasText?: boolean;
  }
  /** An attempt failed before anything was shown; the next one begins after `delayMs`. */
  | {
    readonly type: "retry";
    readonly attempt: number;
    readonly delayMs: number;
    readonly error: string;
    /** Set when another model takes over. */
    readonly model?: string;
  }
  /** Something that was asked for, and that this model does not do or does in another way. */
  | { readonly type: "warning"; readonly text: string }
  | {
    readonly type: "finish";
    readonly reason: FinishReason;
    readonly usage: Usage;
    /** The model that answered: `provider/model`; another than the one asked after a fallback. */
    readonly model: string;
    /** The reason in the provider's own word. */
    readonly rawReason?: string;
  };

/** A language model. Every call streams. */
export interface Model {
  /** `provider/model` */
  readonly id: string;
  /** Tokens of its window; absent when not known. */
  readonly contextTokens?: number;
  /** The addons of prompts.md 5 that it knows. Default: none. */
  readonly addons?: readonly string[];
  /** Its provider connects to MCP servers itself. */
  readonly takesServers?: boolean;
  /** The types of media that it takes, such as `image/*`. Absent: that is not known, and all are sent. */
  readonly media?: readonly string[];
  stream(request: ModelRequest): AsyncIterable<ModelPart>;
  /** This was answered before, by another process or for an earlier turn: a model that goes through a list goes past that answer. */
  answered?(request: ModelRequest, options: { readonly isFailure: boolean }): void;
}

/** A model that answers in another way and is the same in everything else. */
export function wrappedModel(model: Model, stream: Model["stream"]): Model {
  const { id, contextTokens, addons, takesServers, media } = model;
  return {
    id,
    contextTokens,
    addons,
    takesServers,
    media,
    answered: (request, options) => model.answered?.(request, options),
    stream,
  };
}

/** Why a model could not answer; decides what is retried and the exit code. */
export type ModelErrorCode =
  | "config" // no such model, provider or key: nothing was sent (exit code 2)
  | "auth" // 401, 403
  | "request" // the provider refused the request: 400, 404, 422
  | "context" // the messages do not fit the model's window
  | "rate-limit" // 429, and 503 and 529: overloaded
  | "server" // other 5xx, 408
  | "network" // no connection, or one that broke
  | "timeout"
  | "answer" // what came is not what the provider's protocol says
  | "permission" // the policy refused the connection (exit code 5)
  | "aborted";

const MODEL_ERROR_CODES: ReadonlySet<unknown> = new Set<ModelErrorCode>(
  [
    "config",
    "auth",
    "request",
    "context",
    "rate-limit",
    "server",
    "network",
    "timeout",
    "answer",
    "permission",
    "aborted",
  ],
);

/** A code that was kept as text. */
export function modelErrorCode(text: unknown): ModelErrorCode {
  return isModelErrorCode(text) ? text : "answer";
}

function isModelErrorCode(text: unknown): text is ModelErrorCode {
  return MODEL_ERROR_CODES.has(text);
}

/**
 * A model could not answer. The message says what to do and never holds a key.
 *
 * ```ts
 * import { ModelError } from "orrery";
 *
 * const error = new ModelError("too many requests", { code: "rate-limit", status: 429, retryAfterMs: 2_000 });
 * console.log(error.code, error.retryAfterMs); // => rate-limit 2000
 * ```
 */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly code: ModelErrorCode;
  /** HTTP status, when there was one. */
  readonly status: number | undefined;
  /** What the provider asked to wait. */
  readonly retryAfterMs: number | undefined;
  /** For a refusal by the policy: the flag that would allow it. */
  readonly flag: string | undefined;

  constructor(
    message: string,
    options: { code: ModelErrorCode; status?: number; retryAfterMs?: number; flag?: string; cause?: unknown },
  ) {
    super(message, withCause(options));
    this.code = options.code;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.flag = options.flag;
  }
}

/** Names to models. */
export interface Models {
  /**
   * The model of an id or alias; without one, the configured default.
   *
   * @throws {ModelError} `config`, when there is none; the message names the nearest known one, or the variable or setting that is missing.
   */
  find(id?: string): Model | Promise<Model>;
}

/** A model that turns texts into vectors: texts of like meaning lie in like directions. */
export interface Embedder {
  /** `provider/model`. Vectors of another id are not compared with its own. */
  readonly id: string;
  /** How many numbers a vector has. Absent: as many as the first one that comes. */
  readonly dimensions?: number;
  /**
   * A vector for each text, in their order.
   *
   * @throws {Error} when the model does not answer; the reason of the signal when that is aborted
   */
  embed(
    texts: readonly string[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly Float32Array[]>;
}

/**
 * What a package could not do because of a permission that Deno itself lacks, and what to do; undefined for any other error. Packages look
 * into the environment when they are loaded, or used for the first time.
 */
export function notCapableText(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== "NotCapable") return undefined;
  const [, kind, name] = /Requires (\w+) access to "([^"]*)"/.exec(error.message) ?? [];
  if (kind === undefined) return `Deno itself was started with too little: ${error.message}`;
  if (kind !== "env") return `Deno itself was started without --allow-${kind}=${name}`;
  return `Deno itself was started without --allow-env=${name}: add --ignore-env, ` +
    "and every variable that it may not read counts as not set";
}

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
  /** What it shows besides its text. */
  readonly media?: readonly Extract<ContentPart, { readonly type: "media" }>[];
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
  const media = typeof message.content === "string"
    ? []
    : message.content.filter((part) => part.type === "media");
  return {
    role: message.role,
    content: textOf(message),
    ...(media.length > 0 && { media }),
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

/** The arguments of a call, which have to be a JSON object; else what is wrong with them. */
export function readArguments(
  text: string,
): { readonly json: JsonObject } | {
  /** A number that no value holds, no JSON, or another value. */
  readonly wrong: "number" | "syntax" | "kind";
  readonly message: string;
} {
  try {
    const json = text.trim() === "" ? {} : parseJson(text);
    return isJsonObject(json) ? { json } : { wrong: "kind", message: "" };
  } catch (error) {
    return { wrong: error instanceof RangeError ? "number" : "syntax", message: messageOf(error) };
  }
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

/** Sums token counts. A count stays absent until one of the two has it; a cost that one lacks is not known for both. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = (x: number | undefined, y: number | undefined): number | undefined =>
    x === undefined ? y : y === undefined ? x : x + y;
  const cached = sum(a.cached, b.cached);
  const reasoning = sum(a.reasoning, b.reasoning);
  const isEmpty = ({ input, output }: Usage): boolean => input === 0 && output === 0;
  const cost = isEmpty(a) ? b.cost : isEmpty(b) ? a.cost : both(a.cost, b.cost);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    ...(cached === undefined ? {} : { cached }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(cost === undefined ? {} : { cost }),
  };
}

const both = (x: number | undefined, y: number | undefined): number | undefined =>
  x === undefined || y === undefined ? undefined : inDollars(x + y);

/** Without what binary fractions add far behind the point: no price is as small. */
export const inDollars = (sum: number): number => Number(sum.toFixed(12));
