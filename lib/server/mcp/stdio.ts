// MCP on standard input and output, for one client that has started this process.
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { isRecord, messageOf, parseJson, type StdioLine, stdioLines } from "../../core/core.ts";
import type { Service } from "../../service/service.ts";
import { mcpServer, tellChanged } from "./server.ts";
import { CatalogWatch } from "./tools.ts";

/** What is needed besides. */
export interface McpStdioOptions {
  /** What the client writes. */
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Writes to the client, whole and in order. */
  readonly write: (text: string) => Promise<void>;
  /** Takes what goes wrong, and what gadgets log, a line or more. */
  readonly tell: (text: string) => void;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Answers until the client closes its end. */
export async function serveMcpStdio(service: Service, options: McpStdioOptions): Promise<void> {
  const { tell, signal } = options;
  const watch = new CatalogWatch();
  const ended = Promise.withResolvers<void>();
  const transport = new LineTransport(options);
  const served = serveStdio(({ era }) => {
    const log = (text: string) => tell(`${text}\n`);
    const server = mcpServer({ service, watch, tell, log, canAsk: era === "legacy" });
    server.onclose = watch.onChange(() => tellChanged(server));
    return server;
  }, { transport, onerror: ({ message }) => tell(`MCP: ${message}\n`) });
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    ended.resolve();
  };
  const stop = (): void => ended.resolve();
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  await ended.promise;
  signal.removeEventListener("abort", stop);
  await served.close();
}

/** The longest line that is read, in bytes: as much as a body over HTTP. */
const MAX_LINE_BYTES = 10 * 2 ** 20;

/** How long what was asked before the client closed its end may take to be answered, ms. */
const LAST_ANSWERS_MS = 10_000;

/** A message a line. That of the SDK ends at a long line, and leaves what is no message without an answer, so that its client waits for ever. */
class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: Pick<McpStdioOptions, "stdin" | "write">;
  #isClosed = false;
  /** The ids of requests that were not answered yet. */
  readonly #asked = new Set<string | number>();
  #whenAnswered: (() => void) | undefined;

  constructor(options: Pick<McpStdioOptions, "stdin" | "write">) {
    this.#options = options;
  }

  start(): Promise<void> {
    void this.#read();
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#options.write(`${JSON.stringify(message)}\n`);
    if ("method" in message || message.id === undefined) return;
    this.#asked.delete(message.id);
    if (this.#asked.size === 0) this.#whenAnswered?.();
  }

  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#whenAnswered?.();
      this.onclose?.();
    }
    return Promise.resolve();
  }

  async #read(): Promise<void> {
    try {
      for await (const line of stdioLines(this.#options.stdin, { maxBytes: MAX_LINE_BYTES })) {
        if (this.#isClosed) return;
        const refused = this.#take(line);
        if (refused !== undefined) await this.#options.write(`${JSON.stringify(refused)}\n`);
      }
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
    await this.#answered();
    await this.close();
  }

  /** One that is taken back is answered by nobody. */
  #note(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if ("id" in message) this.#asked.add(message.id);
    const { requestId } = message.method === "notifications/cancelled" ? message.params ?? {} : {};
    if (typeof requestId === "string" || typeof requestId === "number") this.#asked.delete(requestId);
  }

  /** Who writes its requests and nothing more, as a pipe does, is answered all the same. */
  #answered(): Promise<void> {
    if (this.#asked.size === 0 || this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LAST_ANSWERS_MS);
      this.#whenAnswered = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** What is answered to a line that is no message. */
  #take(line: StdioLine): Refused | undefined {
    if ("tooLong" in line) {
      return refused(PARSE_ERROR, `found a line of more than ${MAX_LINE_BYTES} bytes, expected at most that`);
    }
    let value: unknown;
    try {
      value = parseJson(line.text);
    } catch (error) {
      return error instanceof RangeError
        ? refused(INVALID_REQUEST, messageOf(error), idOf(JSON.parse(line.text)))
        : refused(PARSE_ERROR, `found a line that is no JSON: ${messageOf(error)}`);
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      const found = Array.isArray(value) ? "found a batch" : "found something else";
      return refused(INVALID_REQUEST, `${found}, expected one message of JSON-RPC 2.0 a line`, idOf(value));
    }
    this.#note(message);
    this.onmessage?.(message);
    return undefined;
  }
}

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

interface Refused {
  readonly jsonrpc: "2.0";
  readonly id: string | number | null;
  readonly error: { readonly code: number; readonly message: string };
}

function refused(code: number, message: string, id: Refused["id"] = null): Refused {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

function idOf(value: unknown): Refused["id"] {
  const id = isRecord(value) ? value.id : undefined;
  return typeof id === "string" || typeof id === "number" ? id : null;
}
