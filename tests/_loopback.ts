// Servers on 127.0.0.1, gone after the work.

/** A server on loopback that is gone after the test; its handler gets the port too. */
export async function withServer(
  handler: (request: Request, port: number) => Response | Promise<Response>,
  work: (port: number) => Promise<void>,
): Promise<void> {
  const listening = Promise.withResolvers<number>();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: ({ port }) => listening.resolve(port) },
    async (request) => handler(request, await listening.promise),
  );
  const port = await listening.promise;
  try {
    await work(port);
  } finally {
    await server.shutdown();
  }
}

/** A server that answers every connection with these bytes, and then closes it, or keeps it open. */
export async function withRawServer(
  answer: string | Uint8Array<ArrayBuffer>,
  work: (port: number, received: string[]) => Promise<void>,
  options: {
    keepOpen?: boolean;
    /** Called when the other side has closed a connection. */
    onClosed?: () => void;
  } = {},
): Promise<void> {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const open: Deno.Conn[] = [];
  const received: string[] = [];
  const serve = async () => {
    for await (const connection of listener) {
      open.push(connection);
      const bytes = new Uint8Array(65_536);
      const length = await connection.read(bytes);
      received.push(new TextDecoder().decode(bytes.subarray(0, length ?? 0)));
      await connection.write(typeof answer === "string" ? new TextEncoder().encode(answer) : answer);
      if (!options.keepOpen) connection.closeWrite();
      else if (options.onClosed !== undefined) {
        connection.read(bytes).then(options.onClosed, options.onClosed);
      }
    }
  };
  const serving = serve().catch(() => {});
  try {
    await work(listener.addr.port, received);
  } finally {
    listener.close();
    for (const connection of open) connection.close();
    await serving;
  }
}
