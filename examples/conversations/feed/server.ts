// A weather station at a lake that tells what it sees as server-sent events: deno run --allow-net=127.0.0.1 feed/server.ts PORT [DELAY_MS]
// Without a port, or with 0, the system gives a free one; the first line on stdout says which.

const [port = "0", delay = "300"] = Deno.args;

const REPORT: readonly string[] = [
  "At 8:00 it is calm and dry, 17 degrees. ",
  "At 12:00 there is a light wind from the west. ",
  "From 14:00 on there may be thunderstorms.",
];

/** An event for each piece, and a comment in between, as many servers send one to keep the line open. */
async function* events(): AsyncGenerator<string> {
  for (const text of REPORT) {
    yield `event: report\ndata: ${JSON.stringify({ text })}\n\n`;
    yield ": still here\n\n";
    await new Promise((resolve) => setTimeout(resolve, Number(delay)));
  }
}

function answer(request: Request): Response {
  const { pathname } = new URL(request.url);
  if (pathname === "/station") return Response.json({ name: "Harbour, pier 2" });
  if (pathname !== "/lake") return new Response("There is /station and /lake.\n", { status: 404 });
  const body = ReadableStream.from(events()).pipeThrough(new TextEncoderStream());
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

Deno.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  onListen: (address) => console.log(`http://127.0.0.1:${address.port}/lake`),
}, answer);
