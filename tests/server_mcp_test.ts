// Clients of MCP that nobody here wrote, of both eras of the protocol, against our routes on a socket.
import { Client, type ElicitResult, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import fc from "fast-check";
import assert from "node:assert/strict";
import type { RunTrace } from "../mod.ts";
import { isRecord } from "../lib/core/json.ts";
import { watchedAnswer } from "../lib/server/mcp/http.ts";
import { mcpRoutes } from "../lib/server/route_table.ts";
import type { CatalogJson, GadgetJson } from "../lib/service/look/look.ts";
import { ServiceError, type StartRun } from "../lib/service/service.ts";
import { type FakeRun, type FakeScript, type FakeService, fakeService } from "./_fake_service.ts";
import { codeOf, sendRaw } from "./_server.ts";
import { type SurfaceServer, surfaceServer, TOKEN } from "./_surface_server.ts";

function gadgetOf(name: string, more: Partial<GadgetJson> = {}): GadgetJson {
  return {
    name,
    source: { kind: "built-in" },
    state: "ready",
    description: `The gadget ${name}`,
    input: { type: "object", properties: { ms: { type: "number" } } },
    permissions: {},
    examples: [],
    ...more,
  };
}

const CATALOG: CatalogJson = {
  gadgets: [
    gadgetOf("Wait"),
    gadgetOf("Fetch", { permissions: { net: ["*"] } }),
    gadgetOf("AskUser"),
    gadgetOf("Broken", { state: "broken" }),
  ],
  prompts: [{
    path: "research/task",
    answer: "text",
    tools: [],
    variables: ["topic"],
    input: { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] },
    file: "prompts/research/task.prompt.md",
  }],
  tactics: [],
  profiles: [],
  agents: [{ file: "support.agent.yml", id: "support" }, { file: "old/support.agent.yml", id: "support" }],
  documents: [{
    file: "docs/plan.md",
    title: "Plan",
    description: "Makes a plan",
    inputs: [{ name: "goal", description: null, default: null }],
    input: { type: "object", properties: { goal: { type: "string" } }, required: ["goal"] },
    operations: 1,
  }],
  calls: [],
  models: [],
  problems: [],
};

interface Surface {
  readonly service: FakeService;
  readonly server: SurfaceServer;
}

async function withSurface(script: FakeScript, work: (surface: Surface) => Promise<void>): Promise<void> {
  await using service = fakeService({
    ...script,
    look: {
      catalog: () => Promise.resolve(CATALOG),
      render: (path, { topic }) => Promise.resolve({ text: `${path}: ${topic}`, tools: [], contract: null }),
      source: (path) => Promise.resolve(`the text of ${path}`),
      ...script.look,
    },
  });
  await using server = surfaceServer(service, mcpRoutes);
  await work({ service, server });
  assert.deepEqual(server.told, []);
}

/** What the tests do with a client, whichever it is. */
interface AnyClient {
  names(): Promise<readonly string[]>;
  call(name: string, args: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<CallResult>;
  close(): Promise<void>;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (
    progress: { readonly progress: number; readonly message?: string | undefined },
  ) => void;
}

interface CallResult {
  readonly text: string;
  readonly isError: boolean;
  readonly structured: unknown;
}

function namesOf({ tools }: { readonly tools: readonly { readonly name: string }[] }): readonly string[] {
  return tools.map(({ name }) => name);
}

function resultOf(result: {
  readonly content?: unknown;
  readonly isError?: unknown;
  readonly structuredContent?: unknown;
}): CallResult {
  const content: readonly unknown[] = Array.isArray(result.content) ? result.content : [];
  const texts = content.map((part) =>
    typeof part === "object" && part !== null && "text" in part ? String(part.text) : ""
  );
  return { text: texts.join(""), isError: result.isError === true, structured: result.structuredContent };
}

const INFO = { name: "test", version: "1.0.0" };
const HEADERS = { authorization: `Bearer ${TOKEN}` };

/** How clients connect: with the package of before, and with that of today, in both eras. */
const CLIENTS: Readonly<Record<string, (origin: string) => Promise<AnyClient>>> = {
  "sdk 1": async (origin) => {
    const client = new EarlierClient(INFO, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { allow: true } }));
    const transport = new EarlierTransport(new URL(`${origin}/mcp`), { requestInit: { headers: HEADERS } });
    await client.connect(transport);
    return {
      names: async () => namesOf(await client.listTools()),
      call: async (name, args, options) =>
        resultOf(await client.callTool({ name, arguments: { ...args } }, undefined, { ...options })),
      close: async () => await client.close(),
    };
  },
  "client 2": (origin) => connected(origin, false),
  "client 2, newest protocol": (origin) => connected(origin, true),
};

async function connected(origin: string, isModern: boolean): Promise<AnyClient> {
  const client = new Client(INFO, {
    capabilities: isModern ? {} : { elicitation: {} },
    ...(isModern && { versionNegotiation: { mode: "auto" as const } }),
  });
  if (!isModern) {
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { allow: true } }));
  }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit: { headers: HEADERS } }),
  );
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, options) =>
      resultOf(await client.callTool({ name, arguments: { ...args } }, { ...options })),
    close: async () => await client.close(),
  };
}

/** One call, whose gadget does this. */
function calling(
  work: (tell: Parameters<FakeRun>[0]) => Promise<string | Error> | string | Error,
): FakeRun {
  return async (telling) => {
    const at = { invocationId: "call", line: 1 };
    telling.tell({ type: "call-open", ...at, gadgetName: "Wait", dependencies: [] });
    telling.tell({ type: "call-run", ...at });
    const result = await work(telling);
    if (result instanceof Error) {
      telling.tell({
        type: "call-error",
        ...at,
        error: result.message,
        code: "permission",
        flag: "--allow-net",
      });
      return { status: "failed" };
    }
    telling.tell({ type: "call-result", ...at, result });
    return { value: result };
  };
}

for (const [which, connect] of Object.entries(CLIENTS)) {
  Deno.test(`${which} lists tools and calls a gadget, a document, a prompt and an agent`, async () => {
    const asked: StartRun[] = [];
    const script: FakeScript = {
      start: (request) => {
        asked.push(request);
        if (request.kind !== "gadget") return () => ({ value: { plan: ["a"] } });
        return calling(() => "waited");
      },
      turn: (message, { turns }) => ({ tell }) => {
        tell({ type: "step-start", key: "reply", kind: "step", name: "reply", attempt: 1 });
        tell({ type: "message", step: "reply", n: 1, text: `${turns}: ${message}` });
        return { status: "held" };
      },
    };
    await withSurface(script, async ({ server }) => {
      const client = await connect(server.origin);
      try {
        assert.deepEqual(await client.names(), [
          "Wait",
          "Fetch",
          "agent_support_63874e6a",
          "agent_support_412eb313",
          "document_docs_plan",
          "prompt_research_task",
        ]);
        assert.deepEqual(await client.call("Wait", { ms: 3 }), {
          text: "waited",
          isError: false,
          structured: undefined,
        });
        assert.equal((await client.call("document_docs_plan", { goal: "x", prompt: "short" })).text, PLAN);
        assert.equal((await client.call("prompt_research_task", { topic: "stars" })).text, PLAN);
        const canAsk = which !== "client 2, newest protocol";
        assert.deepEqual(asked, [
          { kind: "gadget", name: "Wait", input: { ms: 3 }, canAsk },
          { kind: "file", file: "docs/plan.md", prompt: "short", input: { goal: "x" }, canAsk },
          { kind: "prompt", path: "research/task", input: { topic: "stars" }, canAsk },
        ]);
        const first = await client.call("agent_support_63874e6a", { message: "hi" });
        assert.deepEqual(first, {
          text: "0: hi",
          isError: false,
          structured: { conversation: "talk-1", status: "held" },
        });
        const second = await client.call("agent_support_63874e6a", {
          message: "more",
          conversation: "talk-1",
        });
        assert.equal(second.text, "1: more");
        const wrong = await client.call("agent_support_412eb313", {
          message: "more",
          conversation: "talk-1",
        });
        assert.deepEqual([wrong.isError, /is one with support\.agent\.yml/.test(wrong.text)], [true, true]);
        await assert.rejects(client.call("Nothing", {}), /There is no tool "Nothing"/);
      } finally {
        await client.close();
      }
    });
  });

  Deno.test(`${which} hears how far a call has come, and takes one back`, async () => {
    const cancelled = Promise.withResolvers<void>();
    const start = (request: StartRun): FakeRun =>
      calling(async ({ tell, signal }) => {
        const at = { invocationId: "call", line: 1 };
        for (const done of [1, 2, 3]) tell({ type: "call-progress", ...at, done, total: 3 });
        tell({ type: "call-log", ...at, text: "nearly there" });
        if (request.kind !== "gadget" || request.input.ms !== 1) {
          const waiting = Promise.withResolvers<void>();
          signal.addEventListener("abort", () => waiting.resolve());
          await waiting.promise;
          cancelled.resolve();
          return new Error("it was cancelled");
        }
        await Promise.resolve();
        return "done";
      });
    await withSurface({ start }, async ({ server, service }) => {
      const client = await connect(server.origin);
      try {
        const heard: [number, string | undefined][] = [];
        const onprogress: CallOptions["onprogress"] = ({ progress, message }) =>
          void heard.push([progress, message]);
        assert.equal((await client.call("Wait", { ms: 1 }, { onprogress })).text, "done");
        assert.deepEqual(heard, [[1, undefined], [2, undefined], [3, undefined], [3.001, "nearly there"]]);
        const stop = new AbortController();
        const call = client.call("Wait", { ms: 2 }, { signal: stop.signal, onprogress: () => stop.abort() });
        await assert.rejects(call);
        await within(cancelled.promise);
        await within(until(() => service.active === 0));
      } finally {
        await client.close();
      }
    });
  });
}

const PLAN = '{\n  "plan": [\n    "a"\n  ]\n}';

async function within<Value>(promise: Promise<Value>, ms = 10_000): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`not within ${ms} ms`)), ms);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

Deno.test("what is not granted is asked at the client, where it can be asked", async () => {
  const start = (request: StartRun): FakeRun =>
    calling(async ({ ask }) => {
      if (request.canAsk !== true) return new Error("needs the permission to reach example.com");
      const answer = await ask({
        kind: "permission",
        subject: "net example.com",
        permissions: ["--allow-net=example.com"],
        question: "Fetch wants to reach example.com",
      });
      return JSON.stringify(answer);
    });
  await withSurface({ start }, async ({ server }) => {
    for (const [which, connect] of Object.entries(CLIENTS)) {
      const client = await connect(server.origin);
      try {
        const { text, isError } = await client.call("Fetch", {});
        if (which === "client 2, newest protocol") {
          assert(isError);
          assert.match(text, /It would be allowed by --allow-net/);
        } else assert.equal(text, '{"allow":true}', which);
      } finally {
        await client.close();
      }
    }
  });
});

Deno.test("a question is put to the client, and one that nobody answers ends the run", async () => {
  const start = (): FakeRun =>
    calling(async ({ ask }) => {
      const answer = await ask({ kind: "question", question: "Which one?", choices: ["a", "b"] });
      return JSON.stringify(answer);
    });
  await withSurface({ start }, async ({ server, service }) => {
    const client = new Client(INFO, { capabilities: { elicitation: {} } });
    const heard = Promise.withResolvers<void>();
    const withdrawn = Promise.withResolvers<void>();
    const answers: (() => Promise<ElicitResult> | ElicitResult)[] = [
      () => ({ action: "accept", content: { answer: "b" } }),
      () => ({ action: "decline" }),
      async () => {
        heard.resolve();
        await withdrawn.promise;
        return { action: "cancel" };
      },
    ];
    client.setRequestHandler("elicitation/create", ({ params }, { mcpReq: { signal } }) => {
      assert(params.mode !== "url");
      assert.equal(params.message, "Which one?");
      assert.deepEqual(params.requestedSchema.properties.answer, { type: "string", enum: ["a", "b"] });
      signal.addEventListener("abort", () => withdrawn.resolve());
      const answer = answers.shift();
      assert(answer !== undefined);
      return answer();
    });
    const url = new URL(`${server.origin}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: HEADERS } }));
    try {
      const call = async () => resultOf(await client.callTool({ name: "Wait", arguments: {} }));
      assert.deepEqual((await call()).text, '{"text":"b"}');
      const declined = await call();
      assert(declined.isError, declined.text);
      assert.equal(service.active, 0);
      const elsewhere = call();
      await within(heard.promise);
      service.find("run-3")?.answer("a1", { text: "a" }, { by: "page" });
      assert.equal((await elsewhere).text, '{"text":"a"}');
      await within(withdrawn.promise);
    } finally {
      await client.close();
    }
  });
});

Deno.test("a call that cannot begin is an error that says why", async () => {
  const start = (): Error => new ServiceError("64 runs are under way", { code: "limit" });
  await withSurface({ start }, async ({ server }) => {
    const client = await connected(server.origin, true);
    try {
      const { text, isError } = await client.call("Wait", {});
      assert.deepEqual([text, isError], ["64 runs are under way", true]);
    } finally {
      await client.close();
    }
  });
});

Deno.test("prompts are rendered, and documents, agents and runs are read", async () => {
  const traces: RunTrace[] = [{
    summary: {
      id: "r1",
      kind: "calls",
      status: "done",
      owned: false,
      startedAt: 1,
      updatedAt: 2,
      steps: 0,
      usage: { input: 0, output: 0 },
    },
    run: { kind: "calls", input: null, id: "r1" },
    steps: [],
    events: [],
    messages: [],
    checkpoints: [],
  }];
  await withSurface({ traces }, async ({ server }) => {
    const client = new Client(INFO);
    const url = new URL(`${server.origin}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: HEADERS } }));
    try {
      const { prompts } = await client.listPrompts();
      assert.deepEqual(prompts, [{ name: "research/task", arguments: [{ name: "topic", required: true }] }]);
      const { messages } = await client.getPrompt({ name: "research/task", arguments: { topic: "stars" } });
      assert.deepEqual(messages[0]?.content, { type: "text", text: "research/task: stars" });
      const { resources } = await client.listResources();
      assert.deepEqual(resources.map(({ uri }) => uri), [
        "orrery://document/docs/plan.md",
        "orrery://agent/support.agent.yml",
        "orrery://agent/old/support.agent.yml",
      ]);
      const { contents } = await client.readResource({ uri: "orrery://document/docs/plan.md" });
      assert.deepEqual(contents, [{
        uri: "orrery://document/docs/plan.md",
        text: "the text of docs/plan.md",
        mimeType: "text/markdown",
      }]);
      const [trace] = (await client.readResource({ uri: "orrery://run/r1" })).contents;
      assert(trace !== undefined && "text" in trace && typeof trace.text === "string");
      assert.deepEqual(JSON.parse(trace.text), traces[0]);
      await assert.rejects(client.readResource({ uri: "orrery://run/none" }), /There is no run none/);
      await assert.rejects(client.readResource({ uri: "file:///etc/passwd" }), /There is no resource/);
    } finally {
      await client.close();
    }
  });
});

Deno.test("a session hears that the tools have changed, and one that has ended is not known any more", async () => {
  let catalog = CATALOG;
  await withSurface({ look: { catalog: () => Promise.resolve(catalog) } }, async ({ server }) => {
    const client = new EarlierClient(INFO);
    const changed = Promise.withResolvers<void>();
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
    const transport = new EarlierTransport(new URL(`${server.origin}/mcp`), {
      requestInit: { headers: HEADERS },
    });
    await client.connect(transport);
    try {
      assert.equal((await client.listTools()).tools.length, 6);
      catalog = { ...CATALOG, gadgets: [] };
      await client.listPrompts();
      await within(changed.promise);
      assert.equal((await client.listTools()).tools.length, 4);
      const { sessionId = "" } = transport;
      await transport.terminateSession();
      const answer = await fetch(`${server.origin}/mcp`, {
        method: "POST",
        headers: {
          ...HEADERS,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-session-id": sessionId,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      });
      assert.equal(answer.status, 404);
      await answer.body?.cancel();
    } finally {
      await client.close();
    }
  });
});

Deno.test("nobody speaks MCP without the token, from another page or under another name", async () => {
  await withSurface({}, async ({ server, service }) => {
    const port = Number(new URL(server.origin).port);
    const own = `127.0.0.1:${port}`;
    const bearer = HEADERS.authorization;
    const wrong: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
      [{ host: own }, "401 token"],
      [{ host: own, authorization: "Bearer wrong" }, "401 token"],
      [{ host: own, cookie: `orrery_${port}=x` }, "401 token"],
      [{ host: `evil.example:${port}`, authorization: bearer }, "421 host"],
      [{ host: `127.0.0.1.nip.io:${port}`, authorization: bearer }, "421 host"],
      [{ host: own, authorization: bearer, origin: "http://evil.example" }, "403 origin"],
      [{ host: own, authorization: bearer, origin: "null" }, "403 origin"],
      [{ host: own, authorization: bearer, "sec-fetch-site": "cross-site" }, "403 origin"],
    ];
    const body = JSON.stringify(initialize("2025-06-18"));
    for (const method of ["GET", "POST", "DELETE"]) {
      for (const [headers, expected] of wrong) {
        const all = {
          ...headers,
          accept: "application/json, text/event-stream",
          ...(method === "POST" &&
            { "content-type": "application/json", "content-length": `${body.length}` }),
        };
        const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("");
        const text = `${method} /mcp HTTP/1.1\r\n${lines}\r\n${method === "POST" ? body : ""}`;
        const answer = await sendRaw(port, text);
        const found = `${answer.status} ${codeOf(answer.body)}`;
        assert.equal(found, expected, `${method} ${JSON.stringify(headers)}`);
        assert.equal(answer.headers.get("mcp-session-id"), undefined);
      }
    }
    const simple = await posted(server, body, { "content-type": "text/plain" });
    assert.deepEqual([simple.status, codeOf(simple.text)], [415, "content-type"]);
    assert.deepEqual(service.done, []);
  });
});

function initialize(protocolVersion: string) {
  return {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo: INFO },
  };
}

interface Posted {
  readonly status: number;
  readonly text: string;
  readonly session: string;
}

/** Posts it as no client would. */
async function posted(
  { origin }: SurfaceServer,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Posted> {
  const answer = await fetch(`${origin}/mcp`, {
    method: "POST",
    headers: {
      ...HEADERS,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body) ?? "",
    signal: AbortSignal.timeout(10_000),
  });
  return {
    status: answer.status,
    text: await answer.text(),
    session: answer.headers.get("mcp-session-id") ?? "",
  };
}

/** The code of the error of JSON-RPC in an answer, as JSON or as an event. */
function rpcCode(text: string): unknown {
  const json: unknown = JSON.parse(text.replace(/^(?:event: .*\n)?(?:id: .*\n)?data: /, ""));
  return isRecord(json) && isRecord(json.error) ? json.error.code : undefined;
}

Deno.test("what is no message of MCP is refused with a code, and starts nothing", async () => {
  await withSurface({}, async ({ server, service }) => {
    for (
      const [body, code] of [["{", "json"], ['{"id":1234567890123456789}', "json"], ["5", "invalid"], [
        '{"__proto__":{}}',
        "invalid",
      ]] as const
    ) {
      const { status, text } = await posted(server, body);
      assert.deepEqual([status, codeOf(text)], [400, code], body);
    }
    const huge = await posted(server, " ".repeat(10 * 2 ** 20 + 1));
    assert.deepEqual([huge.status, codeOf(huge.text)], [413, "too-large"]);
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const strange: readonly (readonly [unknown, number])[] = [
      ["", -32600],
      [{}, -32600],
      [[], -32600],
      [{ ...list, jsonrpc: "1.0" }, -32600],
      [{ ...list, id: {} }, -32600],
      [list, -32000],
      [[list], -32000],
      [[initialize("2025-03-26"), initialize("2025-03-26")], -32600],
    ];
    for (const [body, code] of strange) {
      const { status, text, session } = await posted(server, body);
      assert.deepEqual([status, rpcCode(text), session], [400, code, ""], JSON.stringify(body));
    }
    assert.equal((await posted(server, list, { "mcp-session-id": "none" })).status, 404);
    assert.deepEqual(service.done.filter(({ what }) => what === "start"), []);
  });
});

Deno.test("a session answers several messages at once, and each that it does not understand with a code", async () => {
  await withSurface({}, async ({ server, service }) => {
    const { session } = await posted(server, initialize("2025-03-26"));
    const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-03-26" };
    const message = (id: number, method: string, params?: unknown) => ({
      jsonrpc: "2.0",
      id,
      method,
      params,
    });
    const both = await posted(server, [message(1, "ping"), message(2, "tools/list")], headers);
    assert.deepEqual([...both.text.matchAll(/"id":(\d)/g)].map(([, id]) => id).sort(), ["1", "2"]);
    const strange: readonly (readonly [string, unknown, number])[] = [
      ["nope", undefined, -32601],
      ["tools/call", undefined, -32602],
      ["tools/call", { name: 5 }, -32602],
      ["tools/call", { name: "nope" }, -32602],
      ["tools/call", { name: "Wait", arguments: [1] }, -32602],
      ["resources/read", { uri: "orrery://run/%ff" }, -32602],
      ["resources/read", { uri: "orrery://document/../orrery.yaml" }, -32602],
      ["resources/read", { uri: 5 }, -32602],
      ["prompts/get", { name: "research/task", arguments: { topic: 5 } }, -32602],
      ["prompts/get", { name: 5 }, -32602],
      ["initialize", initialize("2025-03-26").params, -32600],
    ];
    for (const [method, params, code] of strange) {
      const { text } = await posted(server, message(3, method, params), headers);
      assert.equal(rpcCode(text), code, `${method} ${JSON.stringify(params)}: ${text}`);
    }
    for (const method of ["notifications/cancelled", "notifications/nope"]) {
      const { status } = await posted(
        server,
        { jsonrpc: "2.0", method, params: { requestId: "none" } },
        headers,
      );
      assert.equal(status, 202);
    }
    assert.deepEqual(service.done.filter(({ what }) => what === "start"), []);
  });
});

Deno.test("whatever JSON is posted to MCP, the answer has a code, and never is our own fault", async () => {
  await withSurface({ start: () => calling(() => "ok") }, async ({ server }) => {
    const { session } = await posted(server, initialize("2025-06-18"));
    const method = fc.constantFrom(
      "tools/call",
      "tools/list",
      "prompts/get",
      "resources/read",
      "completion/complete",
      "logging/setLevel",
      "server/discover",
      "notifications/cancelled",
    );
    const params = fc.oneof(
      fc.record({
        name: fc.oneof(
          fc.constantFrom("Wait", "agent_support_63874e6a", "document_docs_plan", "research/task"),
          fc.jsonValue(),
        ),
        arguments: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
        uri: fc.oneof(fc.string().map((path) => `orrery://document/${path}`), fc.jsonValue()),
        _meta: fc.jsonValue(),
      }, { requiredKeys: [] }),
      fc.jsonValue(),
    );
    const body = fc.record({
      jsonrpc: fc.constantFrom("2.0", "1.0"),
      id: fc.oneof(fc.nat(), fc.string(), fc.jsonValue()),
      method: fc.oneof(method, fc.string()),
      params,
    }, { requiredKeys: [] });
    const headers = fc.constantFrom<Record<string, string>>(
      { "mcp-session-id": session, "mcp-protocol-version": "2025-06-18" },
      { "mcp-session-id": session, "mcp-protocol-version": "zzz" },
      { "mcp-protocol-version": "2026-07-28" },
      {},
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(body, fc.array(body, { maxLength: 3 }), fc.jsonValue()),
        headers,
        async (given, at) => {
          const { status, text } = await posted(server, given, at);
          assert(status < 500, `${status} ${text}`);
          if (status >= 400) assert.match(text, /"code":(?:-\d+|"[\w-]+")/);
        },
      ),
      { numRuns: 300 },
    );
  });
});

Deno.test("the end of a session ends the calls that are under way in it", async () => {
  const start = (): FakeRun =>
    calling(async ({ signal }) => {
      const waiting = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => waiting.resolve());
      await waiting.promise;
      return new Error("it was cancelled");
    });
  await withSurface({ start }, async ({ server, service }) => {
    const client = new EarlierClient(INFO);
    const transport = new EarlierTransport(new URL(`${server.origin}/mcp`), {
      requestInit: { headers: HEADERS },
    });
    await client.connect(transport);
    const call = client.callTool({ name: "Wait", arguments: {} }).then(() => "answered", () => "over");
    await within(until(() => service.active === 1));
    await transport.terminateSession();
    await within(until(() => service.active === 0));
    await client.close();
    assert.equal(await within(call), "over");
  });
});

Deno.test("the end of the server ends sessions and what they wait for", async () => {
  const start = (): FakeRun => ({ signal }) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
  await withSurface({ start }, async ({ server, service }) => {
    const clients = await Promise.all(Object.values(CLIENTS).map((connect) => connect(server.origin)));
    const calls = clients.map((client) => client.call("Wait", {}).then(() => "answered", () => "over"));
    await within(until(() => service.active === 3));
    await within(Promise.resolve(server[Symbol.asyncDispose]()));
    await within(until(() => service.active === 0));
    for (const client of clients) await client.close();
    await within(Promise.all(calls));
  });
});

Deno.test("a prompt's arguments have the types of its variables, and of files it is what is listed that is read", async () => {
  const rendered: unknown[] = [];
  const [prompt] = CATALOG.prompts;
  assert(prompt !== undefined);
  const catalog: CatalogJson = {
    ...CATALOG,
    prompts: [{
      ...prompt,
      variables: ["n", "on", "name"],
      input: {
        type: "object",
        properties: { n: { type: "integer" }, on: { type: "boolean" }, name: { type: "string" } },
      },
    }],
  };
  const look: FakeScript["look"] = {
    catalog: () => Promise.resolve(catalog),
    render: (_path, input) => {
      rendered.push(input);
      return Promise.resolve({ text: "", tools: [], contract: null });
    },
  };
  await withSurface({ look }, async ({ server, service }) => {
    const client = new Client(INFO);
    const url = new URL(`${server.origin}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: HEADERS } }));
    try {
      await client.getPrompt({ name: "research/task", arguments: { n: "3", on: "true", name: "3" } });
      assert.deepEqual(rendered, [{ n: 3, on: true, name: "3" }]);
      for (
        const uri of ["orrery://document/orrery.yaml", "orrery://agent/docs/plan.md", "orrery://agent/a%2Fb"]
      ) {
        await assert.rejects(client.readResource({ uri }), /There is no resource/);
      }
      assert(!service.done.some(({ what }) => what === "look.source"));
    } finally {
      await client.close();
    }
  });
});

Deno.test("an answer that is watched is over once, however it ends", async () => {
  for (const how of ["read", "left while waiting", "broken", "empty"]) {
    const seen: string[] = [];
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        if (how === "read") controller.close();
        if (how === "broken") controller.error(new Error("broken"));
      },
    });
    const answer = watchedAnswer(new Response(how === "empty" ? null : body), {
      onLeave: () => void seen.push("left"),
      onEnd: () => void seen.push("over"),
    });
    const reader = answer.body?.getReader();
    const reading = reader?.read().catch(() => undefined);
    if (how === "left while waiting") await reader?.cancel();
    await reading;
    assert.deepEqual(seen, how === "left while waiting" ? ["over", "left"] : ["over"], how);
  }
});
