// `orrery mcp` as clients start it, and what a client of HTTP gets of a real project.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as EarlierTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { testProject } from "../_project.ts";
import type { TestProject } from "../_project.ts";
import { orreryCommand, testEnvironment } from "../_run.ts";
import { serveProject } from "../_served_project.ts";
import { until, within } from "../_waiting.ts";

const FILES = {
  "orrery.yaml": "models: { default: script/echo }\n",
  "note.md":
    "---\ndescription: Says what it was given\ninputs: { goal: { description: Why } }\n---\n# Note\n\n@return\nblock: note\n",
  "prompts/one.prompt.md": "Tell of {topic}\n",
  "guide.agent.yml": `version: "0.1"
structure:
  id: guide
  action:
    id: main
    chain:
      - { id: name?, message: { message: "Your name?", hold: true } }
      - { id: bye, message: { message: "Bye." } }
      - { id: end, flow: { action: end } }
`,
};

/** How a client starts it. */
function started(project: TestProject, ...flags: readonly string[]) {
  const [command = "", ...first] = orreryCommand();
  return {
    command,
    args: [...first, "mcp", ...flags],
    cwd: project.folder,
    env: { ...testEnvironment(), ...project.env },
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const INFO = { name: "test", version: "1.0.0" };

Deno.test("orrery mcp ends on SIGTERM", { ignore: Deno.build.os === "windows" }, async () => {
  await using project = await testProject(FILES);
  await using child = project.start(["mcp"]);
  const writer = child.stdin.getWriter();
  const hello = { jsonrpc: "2.0", id: 1, method: "ping" };
  await writer.write(new TextEncoder().encode(`${JSON.stringify(hello)}\n`));
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  assert.match(new TextDecoder().decode(value), /"id":1/);
  child.kill("SIGTERM");
  assert.equal((await child.status).code, 0);
  await reader.cancel();
  await child.stderr.cancel();
  await writer.close().catch(() => undefined);
});

/** A line a message, as the protocol has it. */
interface RawClient {
  send(message: unknown): Promise<void>;
  /** The answer to the request of this id. */
  answer(id: number): Promise<Record<string, unknown>>;
  /** All that came, line by line. */
  readonly lines: readonly string[];
}

async function rawly(child: Deno.ChildProcess, work: (client: RawClient) => Promise<void>): Promise<void> {
  const writer = child.stdin.getWriter();
  const lines: string[] = [];
  const news = { told: Promise.withResolvers<void>() };
  const reading = (async (): Promise<void> => {
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const [last = "", ...whole] = `${rest}${text}`.split("\n").reverse();
      rest = last;
      lines.push(...whole.reverse());
      news.told.resolve();
      news.told = Promise.withResolvers<void>();
    }
    assert.equal(rest, "");
  })();
  const send = async (message: unknown): Promise<void> => {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    await writer.write(new TextEncoder().encode(`${text}\n`));
  };
  const answer = async (id: number): Promise<Record<string, unknown>> => {
    for (;;) {
      const { told } = news;
      const found = lines.map((line): unknown => JSON.parse(line)).find((each) =>
        isRecord(each) && each.id === id && !("method" in each)
      );
      if (isRecord(found)) return found;
      await within(told.promise, 20_000);
    }
  };
  try {
    await send({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: INFO },
    });
    await answer(1);
    await send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await work({ send, answer, lines });
  } finally {
    await writer.close();
    await within(Promise.all([reading, child.status]), 20_000);
  }
}

const LOUD = (name: string) =>
  `export default { name: "${name}", description: "Talks", input: { type: "object", properties: {} }, run: () => {
  console.log("on the console");
  console.info({ a: 1 });
  console.error("an error");
  return "said";
} };
console.log("at its load");
`;

Deno.test("stdout of orrery mcp has the messages of the protocol and nothing else, whatever is said in a run", async () => {
  await using project = await testProject({
    ...FILES,
    "gadgets/loud.js": LOUD("Loud"),
    "gadgets/boxed.js": LOUD("Boxed"),
  });
  await using child = project.start(["mcp", "--trust", "Loud"]);
  const stderr = new Response(child.stderr).text();
  await rawly(child, async ({ send, answer, lines }) => {
    const call = async (id: number, name: string, args: unknown = {}): Promise<string> => {
      await send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
      return JSON.stringify(await answer(id));
    };
    assert.match(await call(2, "Loud"), /"text":"said"/);
    assert.match(await call(3, "Boxed"), /"text":"said"/);
    assert.match(await call(4, "Nothing"), /-32602/);
    await send({ jsonrpc: "2.0", id: 24, method: "tools/list" });
    const listed = JSON.stringify(await answer(24));
    assert.match(listed, /"name":"ListFolder".*?"outputSchema":\{"type":"object".*?"annotations"/);
    assert.match(listed, /"name":"ReadFile"(?:(?!"name":|"outputSchema")[^])*"name":/); // a text is no object
    assert.match(
      await call(25, "ListFolder", { path: "prompts" }),
      /"structuredContent":\{.*one\.prompt\.md/,
    );
    await send("{ no JSON");
    await send("[]");
    await send("5");
    await send("");
    await send([{ jsonrpc: "2.0", id: 21, method: "ping" }]);
    await send("x".repeat(11_000_000));
    await send({ jsonrpc: "1.0", id: 5, method: "tools/list" });
    assert.match(JSON.stringify(await answer(5)), /-32600.*expected one message of JSON-RPC 2.0 a line/);
    await send('{"jsonrpc":"2.0","id":22,"method":"ping","params":{"n":12345678901234567890}}');
    assert.match(JSON.stringify(await answer(22)), /-32600.*12345678901234567890/);
    await send('\uFEFF{"jsonrpc":"2.0","id":23,"method":"ping"}');
    assert.deepEqual((await answer(23)).result, {});
    await send({ jsonrpc: "2.0", method: "notifications/nope" });
    await send({ jsonrpc: "2.0", id: 6, method: "nope" });
    assert.match(JSON.stringify(await answer(6)), /-32601/);
    await send({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: 5 } });
    assert.match(JSON.stringify(await answer(7)), /-32602/);
    assert.match(await call(8, "ReadFile", { path: "../secret" }), /"isError":true/);
    await send({
      jsonrpc: "2.0",
      id: 9,
      method: "resources/read",
      params: { uri: "orrery://document/orrery.yaml" },
    });
    assert.match(JSON.stringify(await answer(9)), /-32602.*There is no resource/);
    await send({ jsonrpc: "2.0", id: 10, method: "prompts/get", params: { name: "nope" } });
    assert.match(JSON.stringify(await answer(10)), /-32602.*There is no prompt/);
    await send({ jsonrpc: "2.0", id: 11, method: "prompts/get", params: { name: "one" } });
    assert.match(JSON.stringify(await answer(11)), /-32602.*topic/);
    await send({ jsonrpc: "2.0", id: 12, method: "ping" });
    await answer(12);
    const broken: unknown[] = [];
    for (const line of lines) {
      const message: unknown = JSON.parse(line);
      assert(isRecord(message) && message.jsonrpc === "2.0", line);
      if (message.id === null && isRecord(message.error)) broken.push(message.error.code);
    }
    assert.deepEqual(broken, [-32700, -32600, -32600, -32600, -32700]); // no JSON, [], 5, a batch, a long line
  });
  assert.equal((await child.status).code, 0);
  assert.doesNotMatch(await stderr, /internal|went wrong|at file:/);
  assert.match(await stderr, /^on the console\n\{ a: 1 \}\nan error$/m);
});

Deno.test("a call that is taken back over stdin ends its run, and one whose client goes away can go on", async () => {
  await using project = await testProject(FILES);
  await using child = project.start(["mcp", "--quiet"]);
  const stderr = new Response(child.stderr).text();
  await rawly(child, async ({ send, answer, lines }) => {
    const wait = (id: number) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "Wait", arguments: { seconds: 60 }, _meta: { progressToken: `p${id}` } },
    });
    await send(wait(2));
    await until(() => lines.some((line) => line.includes('"p2"')), 20_000);
    await send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 2, reason: "enough" },
    });
    await until(
      async () => /"status": ?"stopped"/.test((await project.run(["runs", "--json"])).stdout),
      20_000,
    );
    await send({ jsonrpc: "2.0", id: 3, method: "ping" });
    await answer(3);
    assert(!lines.some((line) => /"id":2[,}]/.test(line)), "what was taken back is not answered");
    await send(wait(4));
    await until(() => lines.some((line) => line.includes('"p4"')), 20_000);
  });
  assert.deepEqual([(await child.status).code, await stderr], [0, ""]);
  const { stdout } = await project.run(["runs", "--json", "--all"]);
  assert.equal(stdout.match(/"status": ?"stopped"/g)?.length, 2, stdout);
});

/** The clients leave a timer behind, which ends their server if it has not ended by then: these tests come last, so that it is theirs. */
const LEAVES_TIMER = { sanitizeOps: false, sanitizeResources: false } as const;

for (const isModern of [false, true]) {
  const which = isModern ? "the newest protocol" : "the one before";
  Deno.test(`orrery mcp answers a client of ${which} on stdin and stdout`, LEAVES_TIMER, async () => {
    await using project = await testProject(FILES);
    const client = new Client(INFO, isModern ? { versionNegotiation: { mode: "auto" } } : {});
    await client.connect(
      new StdioClientTransport({ ...started(project, "--allow-write=out"), stderr: "pipe" }),
    );
    try {
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      for (const name of ["ReadFile", "WriteFile", "agent_guide", "document_note", "prompt_one"]) {
        assert(names.includes(name), `${name} is not among ${names.join(", ")}`);
      }
      assert(!names.includes("AskUser"));
      const call = async (name: string, args: Record<string, unknown>) => {
        const result = await client.callTool({ name, arguments: args });
        const [part] = result.content;
        assert(part?.type === "text");
        return { text: part.text, isError: result.isError ?? false, structured: result.structuredContent };
      };
      await call("WriteFile", { path: "out/a.txt", content: "hello" });
      assert.equal(await project.read("out/a.txt"), "hello");
      const refused = await call("WriteFile", { path: "b.txt", content: "hello" });
      assert(refused.isError, refused.text);
      assert.match(refused.text, /--allow-write/);
      assert.deepEqual(await call("prompt_one", { topic: "rivers" }), {
        text: "ECHO[Tell of rivers]",
        isError: false,
        structured: undefined,
      });
      const wrong = await call("ReadFile", { paht: "a" });
      assert(wrong.isError, wrong.text);
      const talk = await call("agent_guide", { message: "Ada" });
      assert.match(talk.text, /Bye\./);
      assert.match(JSON.stringify(talk.structured), /"status":"completed"/);
    } finally {
      await client.close();
    }
    assert.match((await project.run(["runs", "--json", "--all"])).stdout, /"conversation"/);
  });
}

Deno.test("orrery mcp answers the client of before, and ends with its stdin", LEAVES_TIMER, async () => {
  await using project = await testProject(FILES);
  const client = new EarlierClient(INFO);
  await client.connect(new EarlierTransport({ ...started(project), stderr: "pipe" }));
  const { prompts } = await client.listPrompts();
  const names = prompts.map(({ name }: { readonly name: string }) => name);
  assert.deepEqual(names, ["one"]);
  await client.close();
  await using child = project.start(["mcp"]);
  await child.stdin.close();
  const { code, stdout, stderr } = await child.output();
  const texts = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.deepEqual([code, ...texts], [0, "", ""]);
});

// The timer of the client before it may end in here.
Deno.test(
  "texts and null of a JSON input are what they are, over MCP and over HTTP",
  LEAVES_TIMER,
  async () => {
    const both = (...types: readonly string[]) => ({ anyOf: types.map((type) => ({ type })) });
    const schema = {
      type: "object",
      properties: {
        code: both("integer", "string"),
        part: { type: ["string", "number"] },
        body: both("string", "object", "array"),
        note: both("string", "null"),
        none: both("string", "null"),
        any: {},
      },
    };
    await using project = await testProject({
      ...FILES,
      "gadgets/keep.js": `export default { name: "Keep", description: "Test.", input: ${
        JSON.stringify(schema)
      }, run: (input) => JSON.stringify(input) };\n`,
    });
    const input = {
      code: "007",
      part: "1e3",
      body: '{"a": 1}',
      note: "null",
      none: null,
      any: "!!!ARG:x\n42\n!!!GADGET_END",
    };
    const child = project.start(["mcp", "--trust-project"]);
    const stderr = new Response(child.stderr).text();
    await rawly(child, async ({ send, answer }) => {
      await send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "Keep", arguments: input } });
      const { result } = await answer(2);
      assert.ok(isRecord(result) && Array.isArray(result.content));
      assert.deepEqual(JSON.parse(result.content[0].text), input);
    });
    await stderr;
    await using server = await serveProject(project, ["--trust-project"]);
    const { body } = await server.json("/v1/gadgets/Keep", { body: { input } });
    assert.deepEqual(JSON.parse(String(body.result ?? body.value)), input);
  },
);
