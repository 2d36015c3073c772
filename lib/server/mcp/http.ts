// MCP over streamable HTTP, of both eras: clients of today send what they are with each request, those of before have sessions.
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { quietTimer } from "../../host/process.ts";
import { HttpProblem } from "../problem.ts";
import type { RouteContext } from "../route.ts";
import { CatalogWatch } from "./tools.ts";
import { mcpServer, type McpServerOptions, tellChanged } from "./server.ts";

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Answers that are still going on. */
  open: number;
  /** Calls off its end for want of use. */
  used: () => void;
}

const MOST_SESSIONS = 100;
const IDLE_MS = 30 * 60_000;

/** What it is given by the server around it. */
export type McpHttpOptions = Pick<RouteContext, "service"> & {
  readonly settings: Pick<RouteContext["settings"], "tell" | "atStop">;
};

/** All clients of a server. */
export class McpHttp {
  readonly #options: McpHttpOptions;
  readonly #watch = new CatalogWatch();
  readonly #modern: McpHttpHandler;
  readonly #sessions = new Map<string, Session>();
  /** Sessions whose client has not been told their id yet. */
  #beginning = 0;
  #isClosed = false;

  constructor(options: McpHttpOptions) {
    this.#options = options;
    this.#modern = createMcpHandler(() => mcpServer(this.#serverOptions({ canAsk: false })), {
      legacy: "reject",
      maxSubscriptions: MOST_SESSIONS,
    });
    const { notify } = this.#modern;
    this.#watch.onChange(() => {
      notify.toolsChanged();
      notify.promptsChanged();
      notify.resourcesChanged();
    });
    options.settings.atStop(() => this.close());
  }

  /** @param body what was read of the request; undefined where it has none @throws {HttpProblem} */
  async fetch(request: Request, body: unknown): Promise<Response> {
    if (this.#isClosed) throw new HttpProblem(503, "stopping", "the server is about to end");
    const stop = new AbortController();
    const { url, method, headers } = request;
    // Its own signal would fire at every end.
    const copy = new Request(url, { method, headers, signal: stop.signal });
    if (await isLegacyRequest(copy, body)) return await this.#inSession(copy, { body, stop });
    return watchedAnswer(await this.#modern.fetch(copy, { parsedBody: body }), {
      onLeave: () => stop.abort(),
    });
  }

  /** Ends all of them, and the answers that go on. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const { used } of sessions) used();
    await Promise.all([this.#modern.close(), ...sessions.map(({ transport }) => transport.close())]);
  }

  async #inSession(
    request: Request,
    { body, stop }: { readonly body: unknown; readonly stop: AbortController },
  ): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    const session = id === null ? undefined : this.#sessions.get(id);
    if (id !== null && session === undefined) return unknownSession();
    if (session === undefined) return await this.#asFirst(request, body);
    const { transport } = session;
    this.#use(session);
    session.open++;
    const onEnd = (): void => {
      session.open--;
    };
    try {
      const answer = await transport.handleRequest(request, { parsedBody: body });
      return watchedAnswer(answer, { onLeave: () => stop.abort(), onEnd });
    } catch (error) {
      onEnd();
      throw error;
    }
  }

  /** The first request of a session, or one that should have had one. */
  async #asFirst(request: Request, body: unknown): Promise<Response> {
    this.#assertRoom();
    this.#beginning++;
    const transport = this.#transport();
    try {
      await this.#connect(transport);
      return await transport.handleRequest(request, { parsedBody: body });
    } finally {
      this.#beginning--;
      if (transport.sessionId === undefined) await transport.close(); // it was no beginning of one
    }
  }

  /** @throws {HttpProblem} 503 `sessions` */
  #assertRoom(): void {
    if (this.#sessions.size + this.#beginning < MOST_SESSIONS) return;
    throw new HttpProblem(
      503,
      "sessions",
      `${MOST_SESSIONS} clients have sessions already, expected fewer: DELETE ends one, and 30 idle minutes`,
      { headers: { "retry-after": "60" } },
    );
  }

  /** A session is one once its client has been told its id. */
  #transport(): WebStandardStreamableHTTPServerTransport {
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => {
        const session: Session = { transport, open: 0, used: () => undefined };
        this.#sessions.set(id, session);
        this.#use(session);
      },
      onsessionclosed: (id) => this.#forget(id),
    });
    return transport;
  }

  async #connect(transport: WebStandardStreamableHTTPServerTransport): Promise<void> {
    const server = mcpServer(this.#serverOptions({ canAsk: true }));
    server.onclose = this.#watch.onChange(() => tellChanged(server));
    await server.connect(transport);
  }

  /** It ends half an hour after its last request, unless an answer is still going on. */
  #use(session: Session): void {
    session.used();
    const idle = quietTimer(IDLE_MS, () => {
      if (session.open > 0) return this.#use(session);
      const { sessionId } = session.transport;
      if (sessionId !== undefined) this.#forget(sessionId);
      void session.transport.close();
    });
    session.used = () => idle[Symbol.dispose]();
  }

  #forget(id: string): void {
    this.#sessions.get(id)?.used();
    this.#sessions.delete(id);
  }

  #serverOptions({ canAsk }: Pick<McpServerOptions, "canAsk">): McpServerOptions {
    const { service, settings: { tell } } = this.#options;
    return { service, tell, watch: this.#watch, canAsk };
  }
}

/** As the protocol says it: the client begins a new one. */
function unknownSession(): Response {
  const error = { code: -32001, message: "Session not found" };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}

/** The same answer; tells when it is over, and whether its reader has left before. */
function watchedAnswer(
  answer: Response,
  { onLeave, onEnd = () => undefined }: { readonly onLeave: () => void; readonly onEnd?: () => void },
): Response {
  let isOver = false;
  const end = (): void => {
    if (!isOver) onEnd();
    isOver = true;
  };
  if (answer.body === null) {
    end();
    return answer;
  }
  const reader = answer.body.getReader();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        if (isOver) return; // its reader has left meanwhile
        end();
        controller.close();
      } catch (error) {
        end();
        throw error;
      }
    },
    async cancel(reason) {
      end();
      onLeave();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(body, answer);
}
