import { type MCPClient, MCPClientError, type MCPTransport } from "@ai-sdk/mcp";
import {
  atMost,
  CrashError,
  type McpEndpoint,
  type McpServer,
  messageOf,
  PermissionRefused,
  type PipeProcess,
  type Pipes,
} from "../core/core.ts";
import { MAX_LINE_BYTES, StdioTransport } from "./stdio_transport.ts";

/** What a server is reached with. */
export interface ServerLineOptions {
  /** The folder that a server on stdio starts in: absolute. */
  readonly cwd: string;
  readonly pipes: Pipes;
  readonly fetch: McpFetch;
  /** Told what a server on stdio says on stderr, and on stdout besides the protocol: whole lines, without the values it was given. */
  readonly onLog?: (line: string) => void;
  /** Whether today's way of beginning is tried. */
  readonly discovers: boolean;
}

/** The way to a server, and what is known of it when something goes wrong. */
export class ServerLine {
  readonly server: McpServer;
  readonly stdio: StdioTransport | undefined;
  readonly transport: MCPTransport | {
    type: "http";
    url: string;
    headers: Record<string, string>;
    fetch: McpFetch;
  };
  client: MCPClient | undefined;
  readonly #facts: HttpFacts = {};
  readonly #log: ServerLog;
  readonly #redact: (text: string) => string;
  #process: PipeProcess | undefined;
  #exitCode: number | undefined;

  constructor(server: McpServer, options: ServerLineOptions) {
    const { endpoint } = server;
    this.server = server;
    this.#redact = redactor(server);
    this.#log = new ServerLog((text) => options.onLog?.(this.#redact(text)));
    if (endpoint.kind === "stdio") {
      const start = () => this.#start(endpoint, options);
      this.stdio = new StdioTransport({ start, onStray: (text) => this.#log.stray(text) });
      Object.assign(this.stdio, { supportsProtocolVersionDiscovery: options.discovers });
      this.transport = this.stdio;
    } else {
      const { url, headers } = endpoint;
      const fetch = mcpFetch(options.fetch, { maxBytes: MAX_LINE_BYTES, facts: this.#facts });
      this.transport = { type: "http", url, headers: { ...headers }, fetch };
    }
  }

  #start(endpoint: McpEndpoint & { readonly kind: "stdio" }, { cwd, pipes }: ServerLineOptions): PipeProcess {
    const { command, args, env } = endpoint;
    const process = pipes.start(command, { args, env, cwd, onStderr: (text) => this.#log.stderr(text) });
    process.ended.then(({ exitCode }) => {
      // The client closes at once what it cannot begin with, and may do so before the end of a server that fell over is heard of.
      const isOwn = this.stdio?.isBroken === true && exitCode < SIGNALLED;
      if (this.stdio?.isClosing !== true || isOwn) this.#exitCode = exitCode;
      this.#log.end();
    });
    return this.#process = process;
  }

  /** What to say of an error; the error itself becomes the cause. */
  async problemOf(error: unknown): Promise<Error> {
    // The pipe may be seen to break before the exit code is known.
    if (this.#process !== undefined && (!this.stdio?.isClosing || this.stdio.isBroken)) {
      await atMost(this.#process.ended, this.stdio?.isBroken ? END_MS : SOON_MS);
    }
    const ended = this.#exitCode === undefined ? {} : { exitCode: this.#exitCode };
    const words = serverProblem(error, {
      server: this.server,
      ...ended,
      facts: this.#facts,
      lastLines: this.#log.lastLines(),
    });
    const Problem = isGone(error, ended) ? CrashError : Error;
    return new Problem(this.#redact(words), { cause: error });
  }

  async end({ now = false }: { readonly now?: boolean } = {}): Promise<void> {
    if (now) await this.stdio?.abandon();
    await this.client?.close().catch(() => {}); // closing is all that was wanted of it
    await this.stdio?.close();
  }
}

/** From here on exit codes are those of signals, such as ours. */
const SIGNALLED = 128;

/** What a server that may well live on is given. */
const SOON_MS = 100;
/** What one is given whose pipe is broken, on a machine that has much to do. */
const END_MS = 5_000;

const MAX_LINE = 1_000;
const KEPT_LINES = 5;

/** What a server says besides the protocol, as lines; the last ones are kept for the error of a server that ends. */
class ServerLog {
  readonly #onLine: (line: string) => void;
  readonly #last: string[] = [];
  #rest = "";

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** A piece of its stderr. */
  stderr(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = (lines.pop() ?? "").slice(0, MAX_LINE); // a line without an end does not grow
    lines.forEach((line) => this.#add(line));
  }

  /** Something on its stdout that is no message. */
  stray(text: string): void {
    this.#add(`stdout: ${text}`);
  }

  /** No more comes. */
  end(): void {
    this.#add(this.#rest);
    this.#rest = "";
  }

  lastLines(): readonly string[] {
    return this.#last;
  }

  #add(line: string): void {
    if (line.trim() === "") return;
    const shown = line.slice(0, MAX_LINE).trimEnd();
    this.#last.push(shown);
    if (this.#last.length > KEPT_LINES) this.#last.shift();
    this.#onLine(shown);
  }
}

/** Shorter values, such as `1` or `true`, cannot be told from ordinary text. */
const LEAST_LENGTH = 5;

/**
 * Takes the values of a server's environment and headers, and what variables put into its arguments, out of texts: a server may repeat
 * what it was given in its errors.
 */
export function redactor(server: McpServer): (text: string) => string {
  const secrets = [...givenValues(server), ...argumentValues(server)].filter(({ value }) =>
    value.length >= LEAST_LENGTH
  );
  const longestFirst = secrets.sort((a, b) => b.value.length - a.value.length);
  return (text) =>
    longestFirst.reduce((out, { name, value }) => out.replaceAll(value, `[value of ${name}]`), text);
}

interface Secret {
  readonly name: string;
  readonly value: string;
}

function givenValues({ endpoint }: McpServer): readonly Secret[] {
  const given = endpoint.kind === "stdio" ? endpoint.env : endpoint.headers;
  return Object.entries(given).flatMap(([name, value]) => {
    // `Bearer KEY` may come back as the key alone.
    const parts = value.split(/\s+/).filter((part) => !/^(?:bearer|basic|token)$/i.test(part));
    return [value, ...parts].map((part) => ({ name, value: part }));
  });
}

/** Of `--token=${TOKEN}` the value, not what stands in the file. */
function argumentValues({ written, endpoint }: McpServer): readonly Secret[] {
  if (written.kind !== "stdio" || endpoint.kind !== "stdio") return [];
  return endpoint.args.flatMap((argument, index) => {
    const template = written.args[index] ?? "";
    if (template === argument) return [];
    const parts = argument.split(/[\s=]+/).filter((part) => !template.includes(part));
    return [argument, ...parts].map((value) => ({ name: "an argument", value }));
  });
}

/** What is known of a server that failed. */
interface ServerFacts {
  readonly server: McpServer;
  /** Of a server on stdio that has ended. */
  readonly exitCode?: number;
  readonly facts: HttpFacts;
  /** What it said last, besides the protocol. */
  readonly lastLines: readonly string[];
}

/** Why a server could not be used, in words: `MCP server "x": …`. */
function serverProblem(error: unknown, known: ServerFacts): string {
  const reason = reasonOf(error, known);
  const said = known.lastLines.length === 0 || known.server.endpoint.kind === "http"
    ? ""
    : `; its last lines: ${known.lastLines.map((line) => JSON.stringify(line)).join(", ")}`;
  return `MCP server ${JSON.stringify(known.server.name)}: ${reason}${isOfProgram(error, known) ? said : ""}`;
}

/** Whether it ended, does not answer, or not as MCP has it: any other error is its word, and one that was never let through to it is ours. */
function isGone(error: unknown, { exitCode }: Pick<ServerFacts, "exitCode">): boolean {
  if (exitCode !== undefined) return true;
  const code = codeOf(error);
  return code === undefined ? !(error instanceof PermissionRefused) : code === INTERNAL_ERROR;
}

/** Of JSON-RPC, for an answer that is none too. */
const INTERNAL_ERROR = -32603;

/** An answer of the server explains itself; what it wrote on stderr explains an end, and silence. */
function isOfProgram(error: unknown, { exitCode }: ServerFacts): boolean {
  return exitCode !== undefined || codeOf(error) === undefined;
}

function reasonOf(error: unknown, { exitCode, facts, server }: ServerFacts): string {
  if (exitCode !== undefined) return `it ended with exit code ${exitCode}`;
  const code = codeOf(error);
  if (code !== undefined) return `it answered with error ${code}: ${messageOf(error)}`;
  const status = statusOf(error);
  if (status !== undefined && status >= 400) {
    return `it answered HTTP ${status}${statusHint(status)}${bodyWords(error)}`;
  }
  const isHttp = server.endpoint.kind === "http";
  const isUnreadable = isHttp && facts.status === 200 && !(error instanceof PermissionRefused);
  if (isUnreadable && !/^(application\/json|text\/event-stream)$/.test(facts.contentType ?? "")) {
    const found = facts.contentType === "" ? "no content type" : facts.contentType;
    return `it is no MCP server: it answered HTTP 200 with ${found}, expected application/json or text/event-stream`;
  }
  const problem = schemaProblem(error);
  return problem === undefined
    ? withoutPrefix(messageOf(error))
    : `its answer is not as MCP has it: ${problem}`;
}

function codeOf(error: unknown): number | undefined {
  return MCPClientError.isInstance(error) ? error.code : undefined;
}

function statusOf(error: unknown): number | undefined {
  return MCPClientError.isInstance(error) ? error.statusCode : undefined;
}

function statusHint(status: number): string {
  if (status === 401) return " (it wants to know who asks): check its headers";
  if (status === 403) return " (it does not allow this): check its headers";
  return status === 404 ? " (nothing is there): check its url" : "";
}

const MAX_BODY = 200;

function bodyWords(error: unknown): string {
  const body = MCPClientError.isInstance(error) ? error.responseBody ?? "" : "";
  if (body.trim() === "" || /^\s*</.test(body)) return ""; // a page says nothing in a line
  return `; it said ${JSON.stringify(body.trim().replaceAll(/\s+/g, " ").slice(0, MAX_BODY))}`;
}

/** The place in an answer that does not fit the protocol, when the library tells: `tools/3/inputSchema: expected object`. */
function schemaProblem(error: unknown): string | undefined {
  const source = error instanceof Error && hasIssues(error.cause) ? error.cause : error;
  if (!hasIssues(source)) return undefined;
  const [issue] = source.issues;
  if (typeof issue !== "object" || issue === null || !("message" in issue)) return undefined;
  const path: readonly unknown[] = "path" in issue && Array.isArray(issue.path) ? issue.path : [];
  return `${path.length === 0 ? "" : `${path.map(String).join("/")}: `}${String(issue.message)}`;
}

function hasIssues(value: unknown): value is { readonly issues: readonly unknown[] } {
  return typeof value === "object" && value !== null && "issues" in value && Array.isArray(value.issues);
}

function withoutPrefix(message: string): string {
  return message.replace(/^MCP HTTP Transport Error: /, "");
}

// What the AI SDK's HTTP transport is given as `fetch`. The stream that it opens to listen for messages of the server is answered
// with 405, as by a server that has none: nothing of what comes that way is used, and it would keep the process alive.

/** What of `fetch` is used. */
export type McpFetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** How long a server may take to hear that its session is over. */
const GOODBYE_MS = 1_000;

/** The last answer that was no success, for the error. */
interface HttpFacts {
  status?: number;
  contentType?: string;
}

/** Puts the limits of this client around a `fetch`. */
function mcpFetch(
  send: McpFetch,
  options: { readonly maxBytes: number; readonly facts: HttpFacts },
): McpFetch {
  const { maxBytes, facts } = options;
  return async (url, init = {}) => {
    if ((init.method ?? "GET") === "GET") return new Response(null, { status: 405 });
    const response = await send(
      url,
      init.method === "DELETE" ? { ...init, signal: AbortSignal.timeout(GOODBYE_MS) } : init,
    );
    facts.status = response.status;
    facts.contentType = (response.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "";
    if (response.body === null) return response;
    const isStream = facts.contentType === "text/event-stream";
    const body = response.body.pipeThrough(isStream ? eventLimit(maxBytes) : bodyLimit(maxBytes));
    return new Response(body, { status: response.status, headers: response.headers });
  };
}

function bodyLimit(maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > maxBytes) throw tooLong(maxBytes);
      controller.enqueue(chunk);
    },
  });
}

/** A stream has no end, but each of its events has: an empty line. */
function eventLimit(maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  let isLineEmpty = true;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) {
        if (byte === 0x0a) {
          if (isLineEmpty) size = 0;
          isLineEmpty = true;
        } else if (byte !== 0x0d) isLineEmpty = false;
        if (++size > maxBytes) throw tooLong(maxBytes);
      }
      controller.enqueue(chunk);
    },
  });
}

function tooLong(maxBytes: number): Error {
  return new Error(`The server's answer is longer than ${maxBytes} bytes`);
}
