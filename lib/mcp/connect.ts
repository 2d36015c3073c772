// A connection to one MCP server, on the AI SDK's client. It loads the SDK, so it is itself loaded when the first server is used.
import { CrashError, isRecord, linkedSignal, type McpServer } from "../core/core.ts";
import {
  type CallToolResult,
  createMCPClient,
  type ListToolsResult,
  type MCPClient,
  MCPClientError,
} from "@ai-sdk/mcp";
import { ServerLine, type ServerLineOptions } from "./server_line.ts";
import type { OnProgress } from "./stdio_transport.ts";

/** A tool as its server describes it. */
export type McpTool = ListToolsResult["tools"][number];

/** A server that answers. */
export interface McpConnection {
  readonly name: string;
  /** Such as `2025-11-25`. */
  readonly protocolVersion: string;
  readonly tools: readonly McpTool[];
  /**
   * Calls a tool.
   *
   * @throws {CrashError} that names the server, when it is gone or does not answer; {Error} with what it answers; the signal's reason
   * after an abort
   */
  call(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    options: McpCallOptions,
  ): Promise<CallToolResult>;
  /** Ends the connection, and the server on stdio with all that it started. */
  close(): Promise<void>;
}

/** How a tool is called. */
export interface McpCallOptions {
  readonly signal: AbortSignal;
  /** Servers over HTTP do not tell it. */
  readonly onProgress?: OnProgress;
}

/** What a connection is made with. */
export interface ConnectMcpOptions extends Omit<ServerLineOptions, "discovers"> {
  readonly signal?: AbortSignal;
  /** For the start, the handshake and the list of tools together. Default 10,000. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** A list that never ends is ended. */
const MAX_TOOLS = 10_000;
/** The server knows the protocol of today, and not the old one that was asked for, or the other way round. */
const UNSUPPORTED_VERSION = -32022;
const METHOD_NOT_FOUND = -32601;

/**
 * Starts or reaches a server, agrees on a version of the protocol and lists its tools. What it speaks is found out: a server on stdio is
 * asked in the way of 2025 first, since older ones may not answer anything else; one over HTTP in today's way first.
 *
 * @throws {Error} that names the server and says why; it has been ended by then
 */
export async function connectMcp(server: McpServer, options: ConnectMcpOptions): Promise<McpConnection> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const limit = new AbortController();
  const timer = setTimeout(
    () => limit.abort(new Error(`it did not answer within ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  using linked = linkedSignal([options.signal, limit.signal]);
  const { signal } = linked;
  const isHttp = server.endpoint.kind === "http";
  try {
    return await attempt(server, { ...options, signal, discovers: isHttp }).catch((error: unknown) => {
      if (signal.aborted || !isWrongVersion(error, isHttp)) throw error;
      return attempt(server, { ...options, signal, discovers: !isHttp });
    });
  } catch (error) {
    options.signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function isWrongVersion(error: unknown, isHttp: boolean): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = MCPClientError.isInstance(cause) ? cause.code : undefined;
  return code === UNSUPPORTED_VERSION || (!isHttp && code === METHOD_NOT_FOUND);
}

interface Attempt extends ConnectMcpOptions, ServerLineOptions {
  readonly signal: AbortSignal;
}

async function attempt(server: McpServer, options: Attempt): Promise<McpConnection> {
  const line = new ServerLine(server, options);
  try {
    const client = await createMCPClient({
      transport: line.transport,
      clientName: "orrery",
      protocolVersionDiscovery: options.discovers,
      initializationOptions: { signal: options.signal },
      onUncaughtError: () => {}, // what matters of it fails a request too
    });
    line.client = client;
    readOddTools(Reflect.get(client, "transport"));
    const tools = await listTools(client, options.signal);
    return connected(line, { client, tools });
  } catch (error) {
    // A server that ended by itself may say why, if it is given the time to.
    const problem = await line.problemOf(options.signal.aborted ? options.signal.reason : error);
    await line.end({ now: true });
    throw problem;
  }
}

/**
 * The SDK refuses the whole list for one tool that is not as MCP has it (`properties` null, or the empty list that PHP makes of an
 * empty object), so such fields are left out before it looks.
 */
function readOddTools(transport: unknown): void {
  if (typeof transport !== "object" || transport === null) return;
  const take: unknown = Reflect.get(transport, "onmessage");
  if (typeof take !== "function") return;
  Reflect.set(transport, "onmessage", (message: unknown) => take(withPlainTools(message)));
}

function withPlainTools(message: unknown): unknown {
  if (!isRecord(message) || !isRecord(message.result) || !Array.isArray(message.result.tools)) return message;
  return { ...message, result: { ...message.result, tools: message.result.tools.map(plainTool) } };
}

function plainTool(tool: unknown): unknown {
  const { name = "", inputSchema, annotations, ...others } = withoutNull(tool);
  const { properties, ...schema } = withoutNull(inputSchema);
  return {
    ...others,
    name,
    inputSchema: isRecord(properties) ? { ...schema, properties } : schema,
    ...(annotations !== undefined && { annotations: withoutNull(annotations) }),
  };
}

function withoutNull(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null)) : {};
}

async function listTools(client: MCPClient, signal: AbortSignal): Promise<readonly McpTool[]> {
  if (client.initializeResult.capabilities.tools === undefined) return [];
  const tools: McpTool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools({
      options: { signal },
      ...(cursor !== undefined && { params: { cursor } }),
    });
    tools.push(...page.tools);
    if (tools.length > MAX_TOOLS) throw new Error(`it has more than ${MAX_TOOLS} tools`);
    if (page.nextCursor !== undefined && page.nextCursor === cursor) {
      throw new Error("its list of tools goes round in a circle");
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

function connected(
  line: ServerLine,
  { client, tools }: { readonly client: MCPClient; readonly tools: readonly McpTool[] },
): McpConnection {
  const { name } = line.server;
  let closing: Promise<void> | undefined;
  return {
    name,
    protocolVersion: client.initializeResult.protocolVersion,
    tools,
    async call(tool, input, { signal, onProgress }) {
      signal.throwIfAborted();
      if (closing !== undefined) throw new CrashError(`MCP server ${JSON.stringify(name)}: it was ended`);
      const given = { ...input };
      if (onProgress !== undefined) line.stdio?.follow(given, onProgress);
      try {
        return await client.callTool({ name: tool, arguments: given, options: { signal } });
      } catch (error) {
        signal.throwIfAborted();
        throw await line.problemOf(error);
      }
    },
    close: () => closing ??= line.end(),
  };
}
