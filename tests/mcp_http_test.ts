import assert from "node:assert/strict";
import type { GadgetFolder } from "./_gadgets.ts";
import { mcpFolder } from "./_mcp.ts";

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: Record<string, unknown> };
}

interface Heard {
  readonly http: string;
  readonly method?: string;
  readonly headers: Headers;
}

/** A server on loopback that keeps what it heard. */
async function withServer(
  answer: (message: Message, request: Request) => Response | Promise<Response>,
  work: (url: string, heard: Heard[]) => Promise<void>,
): Promise<void> {
  const heard: Heard[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const message: Message = request.method === "POST" ? await request.json() : { method: "" };
    heard.push({ http: request.method, method: message.method, headers: request.headers });
    return request.method === "POST" ? await answer(message, request) : new Response(null, { status: 200 });
  });
  try {
    await work(`http://127.0.0.1:${server.addr.port}/mcp`, heard);
  } finally {
    await server.shutdown();
  }
}

const json = (id: number | undefined, result: unknown, headers = {}) =>
  Response.json({ jsonrpc: "2.0", id, result }, { headers });

function events(...messages: readonly unknown[]): Response {
  const text = messages.map((message) => `event: message\r\ndata: ${JSON.stringify(message)}\r\n\r\n`).join(
    "",
  );
  return new Response(text, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

const TOOLS = { tools: [{ name: "echo", inputSchema: { type: "object" } }] };

/** As servers of 2025 answer: no `server/discover`, a session. */
function legacy({ id, method, params }: Message): Response {
  switch (method) {
    case "initialize":
      return json(id, {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "web", version: "1" },
      }, { "mcp-session-id": "session-1" });
    case "notifications/initialized":
      return new Response(null, { status: 202 });
    case "tools/list":
      return events({ jsonrpc: "2.0", id, result: TOOLS });
    case "tools/call":
      return events(
        { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "working" } },
        {
          jsonrpc: "2.0",
          id,
          result: { content: [{ type: "text", text: `echo: ${params?.arguments?.text}` }] },
        },
      );
    default:
      return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } }, {
        status: 404,
      });
  }
}

/** A folder whose server `web` is there. */
const web = (url: string, headers: Readonly<Record<string, string>> = {}): Promise<GadgetFolder> =>
  mcpFolder({ web: { type: "http", url, headers } });

Deno.test("mcp http: a server of 2025 with JSON, events and a session", async () => {
  await withServer(legacy, async (url, heard) => {
    await using folder = await web(url, { Authorization: "Bearer s3cret-key" });
    assert.deepEqual(
      folder.catalog.entries.filter(({ source }) => source.kind === "mcp").map(({ name }) => name),
      [
        "web__echo",
      ],
    );
    assert.equal(await folder.call("web__echo", { text: "grüße" }), "echo: grüße");
    await folder.catalog.close?.();
    assert.deepEqual(heard.map(({ http, method }) => `${http} ${method}`.trim()), [
      "POST server/discover",
      "POST initialize",
      "POST notifications/initialized",
      "POST tools/list",
      "POST tools/call",
      "DELETE",
    ]);
    assert.ok(heard.every(({ headers }) => headers.get("authorization") === "Bearer s3cret-key"));
    assert.equal(heard.at(-2)?.headers.get("mcp-session-id"), "session-1");
    assert.equal(heard.at(-2)?.headers.get("mcp-protocol-version"), "2025-06-18");
    assert.equal(await folder.error("web__echo", {}), 'MCP server "web": it was ended');
  });
});

Deno.test("mcp http: a server of 2026 has no session; one that offers both is asked again in the old way", async () => {
  const modern = ({ id, method }: Message) => {
    if (method === "server/discover") {
      return json(id, {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {} },
      });
    }
    return json(id, {
      resultType: "complete",
      ...(method === "tools/list" ? TOOLS : { content: [{ type: "text", text: "modern" }] }),
    });
  };
  await withServer(modern, async (url, heard) => {
    await using folder = await web(url);
    assert.equal(await folder.call("web__echo", {}), "modern");
    await folder.catalog.close?.();
    assert.deepEqual(heard.map(({ method }) => method), ["server/discover", "tools/list", "tools/call"]);
    assert.equal(heard.at(-1)?.headers.get("mcp-protocol-version"), "2026-07-28");
  });
  const refuses = (message: Message) => {
    if (message.method !== "server/discover") return legacy(message);
    const data = { supported: ["2025-11-25"], requested: "2026-07-28" };
    const error = { code: -32022, message: "Unsupported protocol version", data };
    return Response.json({ jsonrpc: "2.0", id: message.id, error }, { status: 400 });
  };
  await withServer(refuses, async (url, heard) => {
    await using _folder = await web(url);
    assert.equal(heard.at(-1)?.headers.get("mcp-protocol-version"), "2025-06-18");
  });
});

Deno.test("mcp http: what is no MCP server is told, without the values of its headers", async () => {
  const reason = async (answer: (message: Message, request: Request) => Response) => {
    let message = "";
    await withServer(answer, async (url) => {
      await using folder = await web(url, { Authorization: "Bearer s3cret-key" });
      message = folder.catalog.maybeFind("web__*")?.problem ?? "";
    });
    return message;
  };
  assert.equal(
    await reason((_, { headers }) =>
      new Response(`who is ${headers.get("authorization")}?`, { status: 401 })
    ),
    'MCP server "web": it answered HTTP 401 (it wants to know who asks): check its headers; it said "who is [value of Authorization]?"',
  );
  assert.equal(
    await reason((_, { headers }) =>
      new Response(`bad key: ${headers.get("authorization")?.slice(7)}`, { status: 403 })
    ),
    'MCP server "web": it answered HTTP 403 (it does not allow this): check its headers; it said "bad key: [value of Authorization]"',
  );
  assert.equal(
    await reason(() => new Response("<html>Welcome</html>", { headers: { "content-type": "text/html" } })),
    'MCP server "web": it is no MCP server: it answered HTTP 200 with text/html, expected application/json or text/event-stream',
  );
  assert.equal(
    await reason(() =>
      new Response("<html>gone</html>", { status: 404, headers: { "content-type": "text/html" } })
    ),
    'MCP server "web": it answered HTTP 404 (nothing is there): check its url',
  );
  assert.equal(
    await reason(() => new Response("", { status: 503 })),
    'MCP server "web": it answered HTTP 503',
  );
  assert.match(
    await reason(() => Response.json({ hello: 1 })),
    /^MCP server "web": its answer is not as MCP has it: /,
  );
  assert.match(
    await reason(() => new Response("{", { headers: { "content-type": "application/json" } })),
    /^MCP server "web": .*JSON/,
  );
  assert.match(
    await reason(() => Response.redirect("http://127.0.0.1:1/elsewhere", 307)),
    /it redirects to "http:\/\/127\.0\.0\.1:1\/elsewhere", which is not followed/,
  );
});

Deno.test("mcp http: nobody there", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  await using folder = await web(`http://127.0.0.1:${port}/mcp?key=s3cret-key`);
  assert.equal(
    folder.catalog.maybeFind("web__*")?.problem,
    `MCP server "web": Cannot fetch "http://127.0.0.1:${port}/mcp": nothing answers at 127.0.0.1:${port} (connection refused)`,
  );
});

Deno.test("mcp http: a call that is aborted or too large; the next one works", async () => {
  const answer = (message: Message) => {
    if (message.method !== "tools/call") return legacy(message);
    const { text } = message.params?.arguments ?? {};
    if (text === "wait") {
      return new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });
    }
    if (text === "huge") {
      return json(message.id, { content: [{ type: "text", text: "x".repeat(11_000_000) }] });
    }
    return legacy(message);
  };
  await withServer(answer, async (url) => {
    await using folder = await web(url);
    const stop = new AbortController();
    const waiting = folder.error("web__echo", { text: "wait" }, { signal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 50);
    assert.equal(await waiting, "Aborted: enough");
    assert.match(
      await folder.error("web__echo", { text: "huge" }),
      /The server's answer is longer than 10485760 bytes/,
    );
    assert.equal(await folder.call("web__echo", { text: "on" }), "echo: on");
  });
});
