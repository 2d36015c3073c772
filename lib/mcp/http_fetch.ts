// What the AI SDK's HTTP transport is given as `fetch`. The stream that it opens to listen for messages of the server is answered
// with 405, as by a server that has none: nothing of what comes that way is used, and it would keep the process alive.

/** What of `fetch` is used. */
export type McpFetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** How long a server may take to hear that its session is over. */
const GOODBYE_MS = 1_000;

/** The last answer that was no success, for the error. */
export interface HttpFacts {
  status?: number;
  contentType?: string;
}

/** Puts the limits of this client around a `fetch`. */
export function mcpFetch(
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
