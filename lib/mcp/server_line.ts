import type { MCPClient, MCPTransport } from "@ai-sdk/mcp";
import { CrashError } from "../core/gadget.ts";
import type { McpEndpoint, McpServer } from "../core/mcp_server.ts";
import type { PipeProcess, Pipes } from "../core/pipes.ts";
import { type HttpFacts, type McpFetch, mcpFetch } from "./http_fetch.ts";
import { redactor } from "./redact.ts";
import { ServerLog } from "./server_log.ts";
import { isGone, serverProblem } from "./server_problem.ts";
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
      if (this.stdio?.isClosing !== true) this.#exitCode = exitCode;
      this.#log.end();
    });
    return this.#process = process;
  }

  /** What to say of an error; the error itself becomes the cause. */
  async problemOf(error: unknown): Promise<Error> {
    // The pipe may be seen to break before the exit code is known.
    if (this.#process !== undefined && !this.stdio?.isClosing) {
      await within(this.stdio?.isBroken ? END_MS : SOON_MS, this.#process.ended);
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

/** What a server that may well live on is given. */
const SOON_MS = 100;
/** What one is given whose pipe is broken, on a machine that has much to do. */
const END_MS = 5_000;

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
