// `fetch` for libraries that take one: the address that was checked is the one that is dialled, the body comes as it is sent, and a
// redirect is an error, since the next host was not asked for.
import { PermissionRefused, type Policy } from "../../core/core.ts";
import { AbortableConnection, connectionProblem, dial } from "./dial.ts";
import { decoded, exchange, type HttpAnswer } from "./exchange.ts";
import { requestOf } from "./request.ts";

/** Who is asked before a connection, and whom it may trust. */
export interface StreamFetchOptions {
  /** Called with the host before it is resolved, and with each address before it is dialled. */
  readonly check: Policy["permit"];
  /** PEM certificates that are trusted besides those that Deno trusts. */
  readonly caCerts?: readonly string[];
}

/** What of `fetch` there is: a URL, and text as a body. */
export type StreamFetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The network of this machine, HTTP/1.1 without proxies and redirects. */
export function hostStreamFetch(options: StreamFetchOptions): StreamFetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const signal = init.signal ?? undefined;
    signal?.throwIfAborted();
    const connection = new AbortableConnection(signal);
    try {
      return await answerOf(url, { init, connection, ...options });
    } catch (error) {
      connection.close();
      if (signal?.aborted) throw signal.reason;
      if (error instanceof PermissionRefused) throw error;
      // Without its query, which may hold a key.
      const shown = JSON.stringify(url.origin + url.pathname);
      throw new Error(`Cannot fetch ${shown}: ${connectionProblem(error, url)}`, { cause: error });
    }
  };
}

interface FetchWork extends StreamFetchOptions {
  readonly init: RequestInit;
  readonly connection: AbortableConnection;
}

async function answerOf(url: URL, { init, connection, check, caCerts = [] }: FetchWork): Promise<Response> {
  if (init.body !== undefined && init.body !== null && typeof init.body !== "string") {
    throw new TypeError("expected text as the body of a request");
  }
  const request = requestOf(url.href, {
    method: init.method ?? "GET",
    headers: Object.fromEntries(new Headers(init.headers)),
    ...(typeof init.body === "string" && { body: init.body }),
  });
  const tls = url.protocol === "https:";
  const port = url.port === "" ? (tls ? 443 : 80) : Number(url.port);
  const { signal } = connection;
  connection.open(
    await dial({ host: url.hostname, port, tls, caCerts }, { check, signal }),
  );
  const answer = await exchange(connection, request);
  const location = answer.headers.get("location");
  if (location !== undefined && [301, 302, 303, 307, 308].includes(answer.status)) {
    throw new Error(`it redirects to ${JSON.stringify(location)}, which is not followed`);
  }
  return responseOf(answer, connection);
}

function responseOf({ status, headers, body }: HttpAnswer, connection: AbortableConnection): Response {
  // What a Response may not have a body for.
  const isEmpty = [204, 205, 304].includes(status);
  const shown = [...headers].filter(([name]) => name !== "content-encoding" && name !== "content-length");
  if (isEmpty) connection.close();
  const bytes = isEmpty
    ? null
    : ReadableStream.from(closing(decoded(body, headers.get("content-encoding")), connection));
  return new Response(bytes, { status, headers: shown });
}

async function* closing(
  body: AsyncIterable<Uint8Array<ArrayBuffer>>,
  connection: AbortableConnection,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    yield* body;
  } catch (error) {
    connection.signal?.throwIfAborted();
    throw error;
  } finally {
    connection.close();
  }
}
