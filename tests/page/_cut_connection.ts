// A way to the server on which streams of events break again and again, in the middle of whatever is on its way.

/** Stands between a browser and the server. */
export interface CutConnection extends AsyncDisposable {
  readonly origin: string;
  /** `Last-Event-ID` of each stream that was opened; undefined: the first one. */
  readonly streams: readonly (string | undefined)[];
}

/** Passes everything on to the server; the first stream of events breaks after so many bytes, the second after twice as many, and so on. */
export function cutConnection(
  target: string,
  { afterBytes }: { readonly afterBytes: number },
): CutConnection {
  const streams: (string | undefined)[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const headers = new Headers(request.headers);
    headers.delete("host"); // the server hears its own name
    headers.delete("origin");
    const body = request.body === null ? null : await request.arrayBuffer();
    const answer = await fetch(target + pathname + search, {
      method: request.method,
      headers,
      body,
      redirect: "manual",
    });
    if (pathname === "/v1/events") return answer; // that of the project has nothing that could be lost
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!isStream || answer.body === null) return answer;
    streams.push(request.headers.get("last-event-id") ?? undefined);
    return new Response(cut(answer.body, afterBytes * streams.length), answer);
  });
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    streams,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Ends with an error, as a connection that is lost does. */
function cut(stream: ReadableStream<Uint8Array>, afterBytes: number): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let left = afterBytes;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      const part = value.subarray(0, left);
      left -= part.length;
      if (part.length > 0) controller.enqueue(part);
      if (left > 0) return;
      controller.error(new Error("the connection is cut"));
      await reader.cancel();
    },
    cancel: () => reader.cancel(),
  });
}
