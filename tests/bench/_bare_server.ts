// The least that the server's stack can do: a Hono route that sends back the JSON it was sent, and one that streams events, 50 a second, to
// whoever comes. A process of its own, as the server that it is held against.

import { Hono } from "hono";
import { streamSSE } from "hono/streaming";

const EVERY_MS = 20;

const app = new Hono();
app.post("/v1/runs", async (context) => context.json(await context.req.json()));
app.get("/events", (context) =>
  streamSSE(context, async (stream) => {
    for (let seq = 1; !stream.aborted; seq++) {
      await stream.sleep(EVERY_MS);
      await stream.writeSSE({
        id: String(seq),
        event: "tick",
        data: JSON.stringify({ sent: performance.timeOrigin + performance.now() }),
      });
    }
  }));

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, app.fetch);
console.log(`http://127.0.0.1:${server.addr.port}`);
