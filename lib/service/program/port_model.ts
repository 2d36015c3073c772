// A model of the user's own making (prompts.md 13, ModelPort): it answers whole. Here it becomes a model like any other.
import {
  type DialogMessage,
  dialogMessage,
  type Effort,
  isRecord,
  type JsonSchema,
  messageOf,
  type Model,
  ModelError,
  type ModelPart,
  type ModelRequest,
  shown,
  type ToolCall,
  type Usage,
} from "../../core/core.ts";
import { codeOf, fieldOf, waitMs } from "../../models/problem.ts";

/** What a port is asked. */
export interface PortRequest {
  /** As the agent names it. */
  readonly model: string;
  readonly messages: readonly DialogMessage[];
  /** In this order: `function`, `mcp`, `web_search`, `computer_use` (prompts.md 5). */
  readonly tools: readonly Readonly<Record<string, unknown>>[];
  /** The answer is to be JSON, of the schema when there is one. */
  readonly format?: { readonly schema?: JsonSchema };
  /** How hard it is to think. */
  readonly effort?: Effort;
  /** What the agent and the call gave as `modelArgs`. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/** What a port answers. */
export interface PortReply {
  readonly text?: string | null;
  readonly toolCalls?: readonly {
    readonly id?: string;
    readonly name: string;
    readonly arguments: string | object;
  }[];
  readonly usage?: { readonly input: number; readonly output: number };
}

/**
 * A way to a model. What it throws decides what happens: a `ModelError`, or an error with the `status` of an HTTP answer and perhaps a
 * `retryAfter` (seconds, or a date), or one of a connection that broke.
 */
export interface ModelPort {
  /** The addons that it knows. */
  readonly addons?: readonly string[];
  /** The types of media that it takes, such as `image/*`, which are then in its messages. Default: none, it takes text alone. */
  readonly media?: readonly string[];
  call(request: PortRequest): Promise<PortReply>;
}

/** A port as a model; `now` is ms since 1970, for a `retryAfter` that is a date. */
export function portModel(
  port: ModelPort,
  { name, now = Date.now }: { readonly name: string; readonly now?: () => number },
): Model {
  return {
    id: name,
    addons: port.addons ?? [],
    takesServers: true,
    media: port.media ?? [],
    async *stream(request): AsyncGenerator<ModelPart> {
      const signal = request.signal ?? new AbortController().signal;
      let reply: unknown;
      try {
        reply = await port.call(portRequest(request, { name, signal }));
      } catch (error) {
        signal.throwIfAborted();
        throw problemOf(error, now);
      }
      yield* partsOf(reply, name);
    },
  };
}

function portRequest(
  request: ModelRequest,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): PortRequest {
  const { messages, tools = [], providerTools = [], schema, json, args = {}, effort } = request;
  const functions = tools.map(({ input, ...tool }) => ({
    type: "function",
    name: tool.name,
    description: tool.description,
    parameters: input,
  }));
  return {
    model: name,
    messages: messages.map((message) => dialogMessage(message)),
    tools: [...functions, ...providerTools],
    ...((json || schema) && { format: schema === undefined ? {} : { schema } }),
    ...(effort && { effort }),
    args,
    signal,
  };
}

/** The parts of what a port gave, which need not be what its type says. @throws {ModelError} `answer` */
function* partsOf(reply: unknown, model: string): Generator<ModelPart> {
  if (!isRecord(reply)) throw noReply(model, `{ text, toolCalls }, found ${shown(reply)}`);
  const { text, toolCalls, usage } = reply;
  const said = text ?? "";
  const wanted: unknown = toolCalls ?? [];
  if (typeof said !== "string") throw noReply(model, `text in "text", found ${shown(said)}`);
  if (!Array.isArray(wanted)) throw noReply(model, `a list in "toolCalls", found ${shown(wanted)}`);
  const calls = wanted.map((call: unknown) => callOf(call, model));
  if (said !== "") yield { type: "text", text: said };
  for (const call of calls) yield { type: "call", call };
  yield { type: "finish", reason: calls.length > 0 ? "calls" : "stop", usage: usageOf(usage), model };
}

function callOf(call: unknown, model: string): ToolCall {
  if (!isRecord(call) || typeof call.name !== "string") {
    throw noReply(model, `calls such as { name, arguments }, found ${shown(call)}`);
  }
  const { id, name, arguments: given } = call;
  const written = typeof given === "string" ? given : jsonOf(given ?? {});
  if (written === undefined) {
    const found = typeof given === "function" ? "a function" : shown(given);
    throw noReply(model, `JSON in the arguments of "${name}", found ${found}`);
  }
  return { id: typeof id === "string" || typeof id === "number" ? String(id) : "", name, arguments: written };
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function usageOf(usage: unknown): Usage {
  const { input, output } = isRecord(usage) ? usage : {};
  return { input: countOf(input), output: countOf(output) };
}

function countOf(count: unknown): number {
  return typeof count === "number" && Number.isFinite(count) && count > 0 ? count : 0;
}

function noReply(model: string, expected: string): ModelError {
  return new ModelError(`The port of "${model}" gave no reply: expected ${expected}`, { code: "answer" });
}

/** The names of errors of a connection, in Deno and in Node. */
const BROKEN =
  /^(ConnectionRe(set|fused)|ConnectionAborted|NotConnected|BrokenPipe|UnexpectedEof|NetworkError|ECONN\w+|EPIPE|ENOTFOUND|EAI_AGAIN|ENETUNREACH|UND_ERR_\w+)$/;

function problemOf(error: unknown, now: () => number): ModelError {
  if (error instanceof ModelError) return error;
  const message = messageOf(error);
  const status = fieldOf(error, "status");
  if (typeof status === "number") {
    const retryAfterMs = waitMs(fieldOf(error, "retryAfter"), now());
    return new ModelError(message, { code: codeOf(message, { status }), status, cause: error, retryAfterMs });
  }
  const says = [fieldOf(error, "name"), fieldOf(error, "code"), fieldOf(fieldOf(error, "cause"), "code")];
  const isBroken = says.some((word) => BROKEN.test(String(word))) ||
    (error instanceof TypeError && /fetch|sending request|network/i.test(message));
  const isLate = /^(TimeoutError|TimedOut)$/.test(String(says[0]));
  return new ModelError(message, {
    code: isBroken ? "network" : isLate ? "timeout" : "request",
    cause: error,
  });
}
