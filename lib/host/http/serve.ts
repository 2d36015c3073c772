// The only place that listens for HTTP. Whoever serves hands in one function, and nothing else answers. Half a request head is never timed
// out, since Deno's server has no limit for it: it holds one descriptor, and nobody else up.

import { systemReason } from "../files/attempt.ts";
import { ofThisProgram } from "../process.ts";

/** A server that listens. */
export interface HttpServer {
  /** As it is bound. */
  readonly host: string;
  readonly port: number;
  /** Closes each connection once its answers are done, and takes new ones: whoever asks next may come to another server behind the same address. */
  hangUp(): void;
  /** Takes no more requests, waits for the answers that are under way as long as this, and then cuts them off. */
  close(options: { readonly graceMs: number }): Promise<void>;
}

/** What listens where. */
export interface ServeHttpOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Must not fail. */
  readonly fetch: (request: Request) => Response | Promise<Response>;
}

/** Listens. @throws {Error} that says why it cannot, and what to do */
export function serveHttp({ host, port, fetch }: ServeHttpOptions): HttpServer {
  const end = new AbortController();
  let server = listening({ host, port, signal: end.signal, fetch });
  const own = server.addr.port;
  /** Those that have hung up, and still answer. */
  const before = new Set<Promise<void>>();
  let isClosed = false;
  let again: Promise<void> | undefined;

  function shutDown(): void {
    const ended = server.shutdown().then(() => void before.delete(ended));
    before.add(ended);
  }

  /** The port is free a few ms later. */
  async function listenAgain(): Promise<void> {
    for (let tries = 0; !isClosed; tries++) {
      try {
        server = listening({ host, port: own, signal: end.signal, fetch });
        return;
      } catch (error) {
        if (tries === MOST_TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  return {
    host,
    port: own,
    hangUp() {
      if (again !== undefined || isClosed) return;
      shutDown();
      again = listenAgain().finally(() => again = undefined);
    },
    async close({ graceMs }) {
      isClosed = true;
      const cut = setTimeout(() => end.abort(), graceMs);
      try {
        await again;
        shutDown();
        await Promise.all(before);
      } finally {
        clearTimeout(cut);
      }
    },
  };
}

/** How often, and after how long, a port is tried that was just left, ms. */
const MOST_TRIES = 1_000;
const AGAIN_MS = 5;

function listening(
  { host, port, signal, fetch }: ServeHttpOptions & { readonly signal: AbortSignal },
): Deno.HttpServer<Deno.NetAddr> {
  const answer = ofThisProgram(fetch);
  try {
    return Deno.serve({
      hostname: host,
      port,
      signal,
      onListen() {}, // it would write to stdout
      onError: () => new Response(null, { status: 500 }),
    }, (request) => answer(request)); // Deno looks at how many parameters there are
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) {
      throw new Error(
        `Port ${port} of ${host} is taken: choose another one by --port, or 0 for any that is free`,
      );
    }
    if (error instanceof Deno.errors.NotCapable) {
      throw new Error(`Deno itself was started without --allow-net=${host}:${port}`);
    }
    throw new Error(`Cannot listen at ${host}:${port}: ${systemReason(error)}`, { cause: error });
  }
}
