// MCP over the pipes of a program: a message a line (MCP, transports, stdio). What the AI SDK's client leaves out is done here: a
// call that is given up is cancelled at the server, and progress reaches the call that it belongs to.
import { type JSONRPCMessage, type MCPTransport, validateJSONRPCMessage } from "@ai-sdk/mcp";
import {
  messageOf,
  parseJson,
  type PipeProcess,
  type StdioLine,
  stdioLines,
  timerTurn,
} from "../core/core.ts";

/** The longest line that is read or written, in bytes. */
export const MAX_LINE_BYTES = 10 * 1024 * 1024;

/** A program that writes without end would leave no turn of the event loop to timers and other work. */
const LINES_A_TURN = 1_000;

const MAX_SHOWN = 200;

/** Told how far a call is. */
export type OnProgress = (done: number, total?: number) => void;

/** How the transport is made. */
export interface StdioTransportOptions {
  readonly start: () => PipeProcess;
  /** Told what the server writes that is no message of the protocol. */
  readonly onStray: (text: string) => void;
}

type MessageId = string | number;

interface Pending {
  readonly onProgress: OnProgress | undefined;
  forget(): void;
}

/** The connection to a server on stdio. */
export class StdioTransport implements MCPTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioTransportOptions;
  /** The requests that wait for an answer, by their id as text: a server may give a number back as one. */
  readonly #pending = new Map<string, Pending>();
  readonly #wanted = new WeakMap<object, OnProgress>();
  #process: PipeProcess | undefined;
  #reading: Promise<void> | undefined;
  /** Whether it is we who end the server. */
  isClosing = false;
  /** Whether the server took nothing any more before we closed: it has ended, or is about to. */
  isBroken = false;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  /** Tells `onProgress` how far the call with these arguments is: the very object that is handed to the client. */
  follow(toolArguments: object, onProgress: OnProgress): void {
    this.#wanted.set(toolArguments, onProgress);
  }

  start(): Promise<void> {
    try {
      this.#process = this.#options.start();
    } catch (error) {
      return Promise.reject(error);
    }
    this.#process.hold(false);
    this.#reading = this.#read(this.#process);
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    signal?.throwIfAborted();
    const isRequest = "method" in message && "id" in message;
    const sent = isRequest ? this.#withProgress(message) : message;
    const line = JSON.stringify(sent);
    const size = new TextEncoder().encode(line).length;
    if (size > MAX_LINE_BYTES) {
      throw new Error(`The message of ${size} bytes is too long: a server on stdio takes ${MAX_LINE_BYTES}`);
    }
    if (isRequest) this.#expect(message.id, { signal, onProgress: this.#progressOf(message) });
    await this.#write(line);
  }

  async close(): Promise<void> {
    this.isClosing = true;
    for (const id of [...this.#pending.keys()]) this.#settle(id);
    await this.#process?.end();
    await this.#reading;
  }

  /** Ends the server without waiting for it to go by itself. */
  async abandon(): Promise<void> {
    this.isClosing = true;
    await this.#process?.end({ now: true });
    await this.#reading;
  }

  async #write(line: string): Promise<void> {
    if (this.#process === undefined) throw new Error("The server was not started");
    try {
      await this.#process.write(`${line}\n`);
    } catch (cause) {
      this.isBroken ||= !this.isClosing;
      throw new Error("The server does not take input any more", { cause });
    }
  }

  #expect(
    id: MessageId,
    { signal, onProgress }: {
      readonly signal: AbortSignal | undefined;
      readonly onProgress: OnProgress | undefined;
    },
  ): void {
    const onAbort = () => {
      this.#settle(String(id));
      const params = { requestId: id, reason: "The call was given up" };
      // Best effort: the server may have ended.
      this.#write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params })).catch(
        () => {},
      );
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#pending.set(String(id), {
      onProgress,
      forget: () => signal?.removeEventListener("abort", onAbort),
    });
    this.#process?.hold(true);
  }

  #settle(id: string): void {
    this.#pending.get(id)?.forget();
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#process?.hold(false);
  }

  #progressOf(message: JSONRPCMessage): OnProgress | undefined {
    const given: unknown = "params" in message ? message.params?.arguments : undefined;
    return typeof given === "object" && given !== null ? this.#wanted.get(given) : undefined;
  }

  #withProgress(message: Extract<JSONRPCMessage, { id: MessageId; method: string }>): JSONRPCMessage {
    if (this.#progressOf(message) === undefined) return message;
    const { params } = message;
    return { ...message, params: { ...params, _meta: { ...params?._meta, progressToken: message.id } } };
  }

  async #read(process: PipeProcess): Promise<void> {
    try {
      let untilTurn = LINES_A_TURN;
      for await (const line of stdioLines(process.stdout, { maxBytes: MAX_LINE_BYTES })) {
        if (this.isClosing) break;
        this.#take(line);
        if (--untilTurn > 0) continue;
        untilTurn = LINES_A_TURN;
        await timerTurn();
      }
    } catch (error) {
      this.#options.onStray(messageOf(error));
    }
    await process.ended;
    for (const id of [...this.#pending.keys()]) this.#settle(id);
    this.onclose?.();
  }

  #take(line: StdioLine): void {
    if ("tooLong" in line) {
      return this.#failAll(`The server sent a line of more than ${MAX_LINE_BYTES} bytes`);
    }
    const value = maybeJson(line.text);
    // Servers of 2025-03-26 may answer with several messages in one line.
    const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const message of messages) {
      if (typeof message === "object" && message !== null) this.#takeMessage(message);
      else this.#options.onStray(line.text.slice(0, MAX_SHOWN));
    }
  }

  #takeMessage(value: object): void {
    const id = "id" in value && (typeof value.id === "number" || typeof value.id === "string")
      ? String(value.id)
      : undefined;
    if ("method" in value && id === undefined) return this.#notified(value);
    try {
      const message = validateJSONRPCMessage(value);
      if (id !== undefined && !("method" in message)) this.#settle(id);
      this.onmessage?.(message); // throws for an answer that nobody waits for any more
    } catch {
      if (id !== undefined && this.#pending.has(id)) {
        this.#fail(id, "The server's answer is no message of JSON-RPC 2.0");
      } else this.#options.onStray(JSON.stringify(value).slice(0, MAX_SHOWN));
    }
  }

  /** Of all that a server may tell only progress is of use; that its list of tools changed counts from the next start. */
  #notified(value: object): void {
    const params = "params" in value ? value.params : undefined;
    if (!("method" in value) || value.method !== "notifications/progress") return;
    if (typeof params !== "object" || params === null || !("progressToken" in params)) return;
    const { progressToken: token } = params;
    const onProgress = typeof token === "number" || typeof token === "string"
      ? this.#pending.get(String(token))?.onProgress
      : undefined;
    const done = "progress" in params ? maybeNumber(params.progress) : undefined;
    if (onProgress === undefined || done === undefined) return;
    onProgress(done, "total" in params ? maybeNumber(params.total) : undefined);
  }

  #failAll(message: string): void {
    const waiting = [...this.#pending.keys()];
    if (waiting.length === 0) this.#options.onStray(message);
    for (const id of waiting) this.#fail(id, message);
  }

  #fail(id: string, message: string): void {
    this.#settle(id);
    try {
      this.onmessage?.({ jsonrpc: "2.0", id, error: { code: -32603, message } });
    } catch { /* nobody waits for it any more */ }
  }
}

/** Undefined for what is no JSON, and for a value that no message is: a server that floods us costs little. */
function maybeJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return parseJson(text, { keepsDigits: true });
  } catch {
    return undefined;
  }
}

function maybeNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
