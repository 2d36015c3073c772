// Clients of MCP that nobody here wrote, of both eras of the protocol, against a server over a real project.
import { Client, type ElicitResult, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import fc from "fast-check";
import assert from "node:assert/strict";
import { answer, type RunJson } from "./_http_runs.ts";
import { served, type ServedHere } from "./_served_project.ts";
import { codeOf, sendRaw, TOKEN } from "./_server.ts";
import { until, within } from "./_waiting.ts";

const AGENT = `version: "0.1"
structure:
  id: support
  action:
    id: main
    chain:
      - { id: turn?, message: { message: "And?", hold: true } }
      - { id: reply, llm: { prompts: [ { user: "Reply." } ] } }
      - { id: again, flow: { action: repeat } }
`;

const gadget = (name: string, run: string): string =>
  `export default { name: "${name}", description: "Test.", run: ${run} };\n`;

const FILES = {
  "orrery.yaml": "models: { default: script/echo }\n",
  "support.agent.yml": AGENT,
  "old/support.agent.yml": AGENT,
  "docs/plan.md":
    "---\ntitle: Plan\ndescription: Makes a plan\ninputs: [{ name: goal }]\n---\n# Plan\n\n@return\nblock: [plan, input-parameters, input-parameters/goal]\n",
  "prompts/research/task.prompt.md": "Tell of {topic}",
  "prompts/typed.prompt":
    "---\ninput:\n  schema: { n: integer, on: boolean, name: string }\n---\n{{n}} {{#if on}}yes{{/if}} {{name}}\n",
  "gadgets/counting.js": gadget(
    "Counting",
    'async (_input, context) => { for (const n of [1, 2, 3]) context.progress(n, 3); context.log("nearly there"); return "done"; }',
  ),
  "gadgets/broken.js": "export default {",
};

/** What every project has of gadgets. */
const BUILT_IN = [
  "ReadFile",
  "WriteFile",
  "EditFile",
  "ListFolder",
  "SearchText",
  "FetchUrl",
  "RunCommand",
  "Calculate",
  "Now",
  "Wait",
  "Json",
  "Template",
  "SqlQuery",
];

const OTHERS = [
  "agent_support_63874e6a",
  "agent_support_412eb313",
  "document_docs_plan",
  "prompt_research_task",
  "prompt_typed",
];

async function withServer(work: (server: ServedHere) => Promise<void>, settings = ""): Promise<void> {
  await using server = await served({ ...FILES, "orrery.yaml": FILES["orrery.yaml"] + settings }, [
    "--quiet",
  ]);
  await work(server);
  assert.doesNotMatch(server.told(), /HTTP [0-9a-f]{8}/);
}

/** The runs of a project, the newest first. */
async function runsOf({ json }: ServedHere): Promise<readonly RunJson[]> {
  const { runs } = (await json("/v1/runs")).body;
  assert.ok(Array.isArray(runs));
  return runs;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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

for (const [which, connect] of Object.entries(CLIENTS)) {
  Deno.test(`${which} lists tools, calls a gadget, a document, a prompt and an agent, hears how far a call has come, and takes one back`, async () => {
    await withServer(async (server) => {
      const client = await connect(server.origin);
      try {
        assert.deepEqual(await client.names(), [...BUILT_IN, "Counting", ...OTHERS]);
        assert.deepEqual(await client.call("Calculate", { expression: "6 * 7" }), {
          text: "42",
          isError: false,
          structured: undefined,
        });
        const document = await client.call("document_docs_plan", { goal: "x", prompt: "short" });
        assert.match(document.text, /# Plan[^]*short[^]*x/);
        const prompt = await client.call("prompt_research_task", { topic: "stars" });
        assert.equal(prompt.text, "ECHO[Tell of stars]");
        assert.deepEqual((await runsOf(server)).map(({ kind, file }) => `${kind} ${file}`), [
          "prompt research/task",
          "document docs/plan.md",
          "calls Calculate",
        ]);
        const first = await client.call("agent_support_63874e6a", { message: "hi" });
        assert.match(first.text, /ECHO\[Reply\.\]\n\nAnd\?$/);
        assert.ok(isRecord(first.structured) && first.structured.status === "held");
        const { conversation } = first.structured;
        const second = await client.call("agent_support_63874e6a", { message: "more", conversation });
        assert.equal(second.text, "ECHO[Reply.]\n\nAnd?");
        const wrong = await client.call("agent_support_412eb313", { message: "more", conversation });
        assert.deepEqual([wrong.isError, /is one with support\.agent\.yml/.test(wrong.text)], [true, true]);
        await assert.rejects(client.call("Nothing", {}), /There is no tool "Nothing"/);

        const heard: [number, string | undefined][] = [];
        const onprogress: CallOptions["onprogress"] = ({ progress, message }) =>
          void heard.push([progress, message]);
        assert.equal((await client.call("Counting", {}, { onprogress })).text, "done");
        assert.deepEqual(heard, [[1, undefined], [2, undefined], [3, undefined], [3.001, "nearly there"]]);
        const stop = new AbortController();
        const call = client.call("Wait", { seconds: 60 }, {
          signal: stop.signal,
          onprogress: () => stop.abort(),
        });
        await assert.rejects(call);
        await until(async () => (await runsOf(server))[0]?.status === "stopped");

        const { text, isError } = await client.call("WriteFile", { path: "out.txt", content: "hello" });
        if (which === "client 2, newest protocol") {
          assert(isError);
          assert.match(text, /It would be allowed by --allow-write=out\.txt/);
        } else assert.equal(await server.project.read("out.txt"), "hello", which);
      } finally {
        await client.close();
      }
    });
  });
}

Deno.test("a question is put to the client, and one that nobody answers ends the run", async () => {
  await withServer(async (server) => {
    const client = new Client(INFO, { capabilities: { elicitation: {} } });
    const heard = Promise.withResolvers<void>();
    const withdrawn = Promise.withResolvers<void>();
    const answers: (() => Promise<ElicitResult> | ElicitResult)[] = [
      () => ({ action: "accept", content: { allow: false } }),
      () => ({ action: "decline" }),
      async () => {
        heard.resolve();
        await withdrawn.promise;
        return { action: "cancel" };
      },
    ];
    client.setRequestHandler("elicitation/create", ({ params }, { mcpReq: { signal } }) => {
      assert(params.mode !== "url");
      assert.match(params.message, /out\.txt/);
      assert.ok("allow" in params.requestedSchema.properties);
      signal.addEventListener("abort", () => withdrawn.resolve());
      const answer = answers.shift();
      assert(answer !== undefined);
      return answer();
    });
    const url = new URL(`${server.origin}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: HEADERS } }));
    try {
      const call = async () =>
        resultOf(await client.callTool({ name: "WriteFile", arguments: { path: "out.txt", content: "x" } }));
      for (let times = 0; times < 2; times++) {
        const refused = await call();
        assert(refused.isError, refused.text);
        assert.notEqual((await runsOf(server))[0]?.status, "running");
      }
      const elsewhere = call();
      await within(heard.promise);
      const [asking] = await runsOf(server);
      assert.equal(await answer(server, asking?.id, { ask: asking?.asks[0].ask, allow: true }), "200");
      assert.equal((await elsewhere).isError, false);
      await within(withdrawn.promise);
      assert.equal(await server.project.read("out.txt"), "x");
    } finally {
      await client.close();
    }
  });
});

Deno.test("a call that cannot begin is an error that says why", async () => {
  await withServer(async (server) => {
    const client = await connected(server.origin, true);
    try {
      const stop = new AbortController();
      const waiting = client.call("Wait", { seconds: 60 }, { signal: stop.signal }).catch(() => undefined);
      await until(async () => (await runsOf(server))[0]?.status === "running");
      const { text, isError } = await client.call("Wait", { seconds: 0 });
      assert.match(text, /1 run/);
      assert.equal(isError, true);
      stop.abort();
      await waiting;
    } finally {
      await client.close();
    }
  }, "limits: { runs: 1 }\n");
});

Deno.test("prompts are rendered with arguments of their types, and documents, agents and runs are read, of files what is listed", async () => {
  await withServer(async (server) => {
    const client = new Client(INFO);
    const url = new URL(`${server.origin}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: HEADERS } }));
    try {
      const { prompts } = await client.listPrompts();
      assert.deepEqual(prompts[0], { name: "research/task", arguments: [{ name: "topic", required: true }] });
      const rendered = async (name: string, args: Record<string, string>) =>
        (await client.getPrompt({ name, arguments: args })).messages[0]?.content;
      assert.deepEqual(await rendered("research/task", { topic: "stars" }), {
        type: "text",
        text: "Tell of stars",
      });
      assert.deepEqual(await rendered("typed", { n: "3", on: "true", name: "3" }), {
        type: "text",
        text: "3 yes 3",
      });
      const { resources } = await client.listResources();
      assert.deepEqual(resources.map(({ uri }) => uri), [
        "orrery://document/docs/plan.md",
        "orrery://agent/support.agent.yml",
        "orrery://agent/old/support.agent.yml",
      ]);
      const { contents } = await client.readResource({ uri: "orrery://document/docs/plan.md" });
      assert.deepEqual(contents, [{
        uri: "orrery://document/docs/plan.md",
        text: FILES["docs/plan.md"],
        mimeType: "text/markdown",
      }]);
      const { body } = await server.json("/v1/gadgets/Calculate", { body: { input: { expression: "1" } } });
      const uri = `orrery://run/${body.run}`;
      const [trace] = (await client.readResource({ uri })).contents;
      assert(trace !== undefined && "text" in trace && typeof trace.text === "string");
      assert.deepEqual(JSON.parse(trace.text), (await server.json(`/v1/runs/${body.run}/trace`)).body);
      await assert.rejects(client.readResource({ uri: "orrery://run/none" }), /There is no run "none"/);
      for (
        const uri of [
          "file:///etc/passwd",
          "orrery://document/orrery.yaml",
          "orrery://agent/docs/plan.md",
          "orrery://agent/a%2Fb",
        ]
      ) {
        await assert.rejects(client.readResource({ uri }), /There is no resource/);
      }
    } finally {
      await client.close();
    }
  });
});

Deno.test("a session hears that the tools have changed, and one that has ended is not known any more", async () => {
  await withServer(async (server) => {
    const client = new EarlierClient(INFO);
    const changed = Promise.withResolvers<void>();
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
    const transport = new EarlierTransport(new URL(`${server.origin}/mcp`), {
      requestInit: { headers: HEADERS },
    });
    await client.connect(transport);
    try {
      const count = (await client.listTools()).tools.length;
      await server.project.write("prompts/more.prompt.md", "More.");
      await new Promise((resolve) => setTimeout(resolve, 1_050));
      await client.listPrompts();
      await within(changed.promise);
      assert.equal((await client.listTools()).tools.length, count + 1);
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
  await withServer(async (server) => {
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
    assert.deepEqual(await runsOf(server), []);
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
  { origin }: ServedHere,
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
  await withServer(async (server) => {
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
    assert.deepEqual(await runsOf(server), []);
  });
});

Deno.test("a session answers several messages at once, and each that it does not understand with a code", async () => {
  await withServer(async (server) => {
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
    assert.deepEqual(await runsOf(server), []);
  });
});

Deno.test("whatever JSON is posted to MCP, the answer has a code, and never is our own fault", async () => {
  await withServer(async (server) => {
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
          fc.constantFrom("Now", "agent_support_63874e6a", "document_docs_plan", "research/task"),
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
      { numRuns: 200 },
    );
  });
});

Deno.test("the end of a session ends the calls that are under way in it, and the end of the server what sessions wait for", async () => {
  await withServer(async (server) => {
    const transport = new EarlierTransport(new URL(`${server.origin}/mcp`), {
      requestInit: { headers: HEADERS },
    });
    const client = new EarlierClient(INFO);
    await client.connect(transport);
    const call = client.callTool({ name: "Wait", arguments: { seconds: 60 } })
      .then(() => "answered", () => "over");
    const isRunning = async (count: number) =>
      (await runsOf(server)).filter(({ status }) => status === "running").length === count;
    await until(() => isRunning(1));
    await transport.terminateSession();
    await until(() => isRunning(0));
    await client.close();
    assert.equal(await within(call), "over");

    const clients = await Promise.all(Object.values(CLIENTS).map((connect) => connect(server.origin)));
    const calls = clients.map((each) =>
      each.call("Wait", { seconds: 2 }).then(() => "answered", () => "over")
    );
    await until(() => isRunning(3));
    assert.equal(await within(server.stop()), 0);
    for (const each of clients) await each.close();
    await within(Promise.all(calls));
  });
});
