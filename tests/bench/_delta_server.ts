// A process of its own that streams 20,000 small deltas in OpenAI's chat format: what it costs to send them is nobody's to measure here.

import { wireEvents } from "../_provider_wire.ts";

const pieces = Array.from({ length: Number(Deno.args[0]) }, (_, i) => `word${i % 10} `);
const body = new TextEncoder().encode(wireEvents("chat", { parts: [{ text: pieces }] }).join(""));
const CHUNK = 4_096;

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
  await request.text();
  let at = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= body.length) return controller.close();
      controller.enqueue(body.slice(at, at + CHUNK));
      at += CHUNK;
    },
  });
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
});
console.log(server.addr.port);
