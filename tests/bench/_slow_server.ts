// A provider in a process of its own: streams blocks and words of the OpenAI chat format, a token every 5 ms, to the first who asks, and
// one word to everybody else. Says its port on stdout; ends with its stdin.

const [blocks = 1] = Deno.args.map(Number);
const TOKEN_MS = 5;

const encoder = new TextEncoder();

function event(data: unknown): Uint8Array<ArrayBuffer> {
  return encoder.encode(`data: ${JSON.stringify(data)}\n\n`);
}

function delta(content: string): Uint8Array<ArrayBuffer> {
  return event({ id: "x", choices: [{ index: 0, delta: { content } }] });
}

function* tokens(): Iterable<string> {
  for (let i = 0; i < blocks; i++) {
    yield* [`!!!GADGET_START:Tick:t${i}\n`, "!!!ARG:n\n", `${i}\n`, "!!!GADGET", "_END\n", "and ", "then\n"];
  }
}

let asked = 0;

const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: ({ port }) => console.log(port) },
  () => {
    const isFirst = asked++ === 0;
    const stream = new ReadableStream<Uint8Array>({
      async start(controller) {
        for (const token of isFirst ? tokens() : []) {
          await new Promise((resolve) => setTimeout(resolve, TOKEN_MS));
          controller.enqueue(delta(token));
        }
        controller.enqueue(delta("done"));
        controller.enqueue(event({ id: "x", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
        controller.enqueue(encoder.encode("data: [DONE]\n\n"));
        controller.close();
      },
    });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  },
);

await Deno.stdin.readable.pipeTo(new WritableStream());
await server.shutdown();
