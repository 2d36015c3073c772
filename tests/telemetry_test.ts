// OpenTelemetry: what a collector is sent of runs of every kind, when, and what becomes of a run whose collector does not take it.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { assertSound, type Collected, type CollectedSpan, collecting, spanTree } from "./_otlp.ts";
import { type TestProject, testProject } from "./_project.ts";
import { PROJECT_ROOT, runProgram, runsInside, testEnvironment } from "./_run.ts";
import { TOKEN } from "./_server.ts";
import { served } from "./_served_project.ts";

const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];

const OWN = "../config/orrery/config.yaml";
const ON = "telemetry: { otlp: true }\n";
const WITH_CONTENT = "telemetry: { otlp: true, content: true }\n";

const block = (header: string, args: Readonly<Record<string, string>>): string =>
  `!!!GADGET_START:${header}\n${
    Object.entries(args).map(([name, value]) => `!!!ARG:${name}\n${value}\n`).join("")
  }!!!GADGET_END\n`;

/** A word that is in prompts, answers, arguments, results and errors, and nowhere else. */
const SAID = "marmalade";

const FILES = {
  "orrery.yaml": "agents: [{ name: namer, model: script/names.yml, system: You name things. }]\n",
  [`${SAID}.txt`]: `${SAID}\n`,
  "sum.calls": block("Calculate:sum", { expression: "40 + 2" }) +
    block("ReadFile:text", { path: `${SAID}.txt` }) +
    block("ReadFile:gone", { path: `no-${SAID}.txt` }) +
    block("Calculate:never:gone", { expression: "1" }) +
    block("Nonsense:unknown", { text: SAID }),
  "plan.md":
    `---\nmodel: script/plan.yml\n---\n\n# Plan\n\n@llm\nprompt: ${SAID}?\n\n@shell\nprompt: echo ${SAID}\n`,
  "plan.yml": `- { text: "${SAID}!" }\n`,
  "prompts/colour.prompt.md": `---\ntags: { requiredXmlTags: [name] }\n---\nWhich colour has ${SAID}?\n`,
  "colours.yml": `- { text: "It is ${SAID}." }\n- { text: "<name>${SAID}</name>" }\n`,
  "prompts/letter.prompt.md": `Name ${SAID}.\n`,
  "sky.calls": block("RunPrompt:sky", { path: "letter" }),
  "tactics/name.ts": `import { defineTactic } from "orrery";
export const name = defineTactic({
  name: "name",
  agents: ["namer"],
  call: async (_input: string, { agents, prompts, signal }) =>
    (await agents.namer.open().ask(prompts.get("letter"), {}, { signal })).text,
});
`,
  "names.yml": `- { text: "${SAID}" }\n`,
  "clerk.yml": `- chunks: ["I look. ", ${
    JSON.stringify(`\n${block("ReadFile:text", { path: `${SAID}.txt` })}`)
  }]
  delayMs: 5
- { text: "It is ${SAID}." }
`,
  "table.agent.yml": `version: "0.1"
structure:
  id: table
  action:
    id: main
    chain:
      - { id: ask, message: { message: "How many ${SAID}s?", hold: true } }
      - { id: think, llm: { prompt: letter, memory: [{ from: ask }] } }
      - { id: done, message: { message: "${SAID}!" } }
`,
  "talk.yml": `- { text: "${SAID}" }\n`,
  "silent.yml": "- { error: { status: 400, message: no marmalade } }\n",
} satisfies Record<string, string>;

async function project(own: string | undefined): Promise<TestProject> {
  const made = await testProject(FILES);
  if (own !== undefined) await made.write(OWN, own);
  return made;
}

/** Runs a command; gives the spans of it, sound and all in the trace of its run. */
async function traced(
  made: TestProject,
  collected: Collected,
  args: readonly string[],
  { code = 0, stdin, env }: { code?: number; stdin?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<readonly CollectedSpan[]> {
  collected.spans.length = 0;
  const from = Date.now();
  const result = await made.run(args, { stdin, env: { ...collected.env, ...env } });
  assert.equal(result.code, code, result.stderr);
  assert.ok(!result.stderr.includes("span"), result.stderr);
  const spans = [...collected.spans];
  for (const trace of Map.groupBy(spans, rootName).values()) assertSound(trace, { from, to: Date.now() });
  return spans;

  /** Turns of a conversation are in one trace, each with a root of its own. */
  function rootName(span: CollectedSpan): string {
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
    return parent === undefined ? span.spanId : rootName(parent);
  }
}

const find = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const found = spans.find((span) => span.name === name);
  assert.ok(found, `${name}: ${spans.map((span) => span.name)}`);
  return found;
};

Deno.test("telemetry: a run of each kind is a trace, by OpenTelemetry's schema and conventions, and nothing that was said is in it", async (t) => {
  await using made = await project(ON);
  await collecting(async (collected) => {
    const kinds: Readonly<Record<string, { args: string[]; tree: string[]; code?: number; stdin?: string }>> =
      {
        calls: {
          args: ["run", "sum.calls", "-q"],
          code: 1,
          tree: [
            "invoke_workflow sum.calls (_OTHER)",
            "  execute_tool Calculate",
            "  execute_tool ReadFile",
            "  execute_tool ReadFile (failed)",
            "  execute_tool Nonsense (unknown-gadget)",
          ],
        },
        "a prompt in a call": {
          args: ["run", "sky.calls", "-q", "-m", "script/names.yml"],
          tree: ["invoke_workflow sky.calls", "  execute_tool RunPrompt", "    chat names.yml"],
        },
        document: {
          args: ["run", "plan.md", "-q", "--allow-run"],
          tree: [
            "invoke_workflow plan.md",
            "  @llm plan.md:7",
            "    chat plan.yml",
            "  @shell plan.md:10",
            "    @shell plan.md:10",
          ],
        },
        prompt: {
          args: ["run", "colour", "-q", "-m", "script/colours.yml"],
          tree: ["invoke_agent colour", "  chat colours.yml", "  chat colours.yml"],
        },
        tactic: {
          args: ["run", "name", "-q", "--trust-code"],
          tree: ["invoke_agent name", "  chat names.yml"],
        },
        ask: {
          args: ["ask", "Look", "-q", "-m", "script/clerk.yml", "--tools", "ReadFile"],
          tree: ["invoke_agent", "  chat clerk.yml", "  execute_tool ReadFile", "  chat clerk.yml"],
        },
        chat: {
          args: ["chat", "-q", "-m", "script/echo"],
          stdin: `${SAID}\nmore ${SAID}\n`,
          tree: ["invoke_agent", "  chat echo", "  chat echo"],
        },
        conversation: {
          args: ["chat", "table.agent.yml", "-q", "-m", "script/talk.yml"],
          stdin: "Four.\n",
          tree: [
            "invoke_agent table.agent.yml",
            "  ask",
            "invoke_agent table.agent.yml",
            "  think",
            "    chat talk.yml",
            "  done",
          ],
        },
        "one that failed": {
          args: ["ask", "Look", "-q", "-m", "script/silent.yml"],
          code: 7,
          tree: ["invoke_agent (provider)", "  chat silent.yml (request)"],
        },
      };
    for (const [name, { args, tree, ...how }] of Object.entries(kinds)) {
      await t.step(name, async () => {
        const spans = await traced(made, collected, args, how);
        assert.deepEqual(spanTree(spans), tree);
        assert.ok(!collected.requests.some(({ text }) => text.includes(SAID)), "nothing that was said");
        const root = spans.findLast(({ parentSpanId }) => parentSpanId === undefined);
        const id = await made.newest();
        assert.equal(root?.attributes["orrery.run.id"], id);
        assert.equal(root?.traceId, createHash("sha256").update(id).digest("hex").slice(0, 32));
      });
    }
    assert.deepEqual(new Set(collected.requests.map(({ path }) => path)), new Set(["/v1/traces"]));
    assert.equal(collected.resource["service.name"], "orrery");
  });
});

Deno.test("telemetry: the attributes of a run, of questions and of calls are those of the conventions", async () => {
  await using made = await project(ON);
  await collecting(async (collected) => {
    const asked = await traced(made, collected, [
      "ask",
      "Look",
      "-q",
      "-m",
      "script/clerk.yml",
      "--tools",
      "ReadFile",
    ]);
    const { "orrery.run.id": id, ...root } = find(asked, "invoke_agent").attributes;
    assert.deepEqual(root, {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "script",
      "gen_ai.request.model": "clerk.yml",
      "gen_ai.usage.input_tokens": 0,
      "gen_ai.usage.output_tokens": 0,
      "orrery.run.kind": "ask",
      "orrery.run.status": "done",
    });
    const tool = find(asked, "execute_tool ReadFile");
    assert.deepEqual(tool.attributes, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "ReadFile",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "text",
      "orrery.step.key": "turn[1]/call:text",
    });
    const question = find(asked, "chat clerk.yml");
    const { "gen_ai.response.time_to_first_chunk": first, ...chat } = question.attributes;
    assert.deepEqual(chat, {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "script",
      "gen_ai.request.model": "clerk.yml",
      "gen_ai.request.stream": true,
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.response.model": "clerk.yml",
      "gen_ai.usage.input_tokens": 0,
      "gen_ai.usage.output_tokens": 0,
      "orrery.step.attempt": 1,
      "orrery.step.key": "turn[1]/model",
      "orrery.step.kind": "model",
    });
    assert.ok(Number(first) > 0.004 && Number(first) < 10, `${first} s`);
    assert.deepEqual([question.kind, tool.kind], [3, 1], "CLIENT, INTERNAL");

    const prompt = await traced(made, collected, ["run", "colour", "-q", "-m", "script/colours.yml"]);
    const whole = find(prompt, "invoke_agent colour").attributes;
    assert.equal(whole["gen_ai.agent.name"], "colour");
    const failed = await traced(made, collected, ["run", "sum.calls", "-q"], { code: 1 });
    assert.equal(find(failed, "invoke_workflow sum.calls").attributes["gen_ai.workflow.name"], "sum.calls");
    const talk = await traced(made, collected, ["chat", "table.agent.yml", "-q", "-m", "script/talk.yml"], {
      stdin: "Four.\n",
    });
    const turns = talk.filter(({ name }) => name === "invoke_agent table.agent.yml");
    assert.deepEqual(turns.map(({ attributes }) => attributes["gen_ai.conversation.id"]), [
      await made.newest(),
      await made.newest(),
    ]);
    assert.deepEqual(turns.map(({ links }) => links), [
      undefined,
      [{ traceId: turns[0]?.traceId, spanId: turns[0]?.spanId }],
    ]);
    assert.match(String(id), /^[0-9a-z]{12}$/);
  });
});

Deno.test("telemetry: with content: true prompts, answers, arguments, results and errors are there, and secrets are masked", async () => {
  await using made = await project(WITH_CONTENT);
  const KEY = "sk-planted-0123456789";
  await made.write("key.calls", block("Calculate:sum", { expression: KEY }));
  await made.write(`${SAID}.txt`, `${SAID} ${KEY}\n`);
  const env = { OPENAI_API_KEY: KEY };
  await collecting(async (collected) => {
    const args = ["ask", `Look at ${KEY}`, "-q", "-m", "script/clerk.yml", "--tools", "ReadFile"];
    const asked = await traced(made, collected, args, { env });
    const [one, two] = asked.filter(({ name }) => name === "chat clerk.yml").map(({ attributes }) =>
      attributes
    );
    const json = (of: Readonly<Record<string, unknown>> | undefined, name: string) =>
      JSON.parse(String(of?.[name]));
    const messages = json(one, "gen_ai.input.messages");
    assert.deepEqual(messages.at(-1), {
      role: "user",
      parts: [{ type: "text", content: "Look at [secret OPENAI_API_KEY]" }],
    });
    assert.equal(json(one, "gen_ai.output.messages")[0].finish_reason, "stop");
    assert.match(
      json(two, "gen_ai.input.messages")[0].parts[0].content,
      /marmalade \[secret OPENAI_API_KEY\]/,
    );
    assert.deepEqual(json(two, "gen_ai.output.messages"), [
      { role: "assistant", parts: [{ type: "text", content: `It is ${SAID}.` }], finish_reason: "stop" },
    ]);
    const tool = find(asked, "execute_tool ReadFile").attributes;
    assert.deepEqual(json(tool, "gen_ai.tool.call.arguments"), { path: `${SAID}.txt` });
    assert.equal(json(tool, "gen_ai.tool.call.result"), `${SAID} [secret OPENAI_API_KEY]\n`);

    const unkept = await traced(made, collected, [
      "run",
      "sky.calls",
      "-q",
      "--ephemeral",
      "-m",
      "script/names.yml",
    ], { env });
    const { "gen_ai.tool.call.arguments": none, "gen_ai.tool.call.result": said } =
      find(unkept, "execute_tool RunPrompt").attributes;
    assert.deepEqual(
      [none, said],
      [undefined, JSON.stringify(SAID)],
      "what it was given is that of its steps",
    );
    const bare = await traced(made, collected, ["run", "sum.calls", "-q", "--ephemeral"], { code: 1, env });
    assert.equal(
      find(bare, "execute_tool Calculate").attributes["gen_ai.tool.call.arguments"],
      '{"expression":"40 + 2"}',
    );

    const failed = await traced(made, collected, ["run", "key.calls", "-q"], { code: 1, env });
    const { status, attributes } = find(failed, "execute_tool Calculate");
    assert.match(status.message ?? "", /\S/);
    assert.match(String(attributes["gen_ai.tool.call.arguments"]), /\[secret OPENAI_API_KEY\]/);
    assert.ok(!collected.requests.some(({ text }) => text.includes(KEY)), "no key");
  });
});

Deno.test("telemetry: nothing is sent with one switch alone, nor by a project's word, which is told with its place", async () => {
  await collecting(async ({ env, requests, port }) => {
    const args = ["run", "sum.calls", "-q"];
    await using silent = await project(undefined);
    await silent.run(args, { env });
    await using own = await project(ON);
    await own.run(args);
    await own.run(args, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: "" } });
    await own.run(args, { env: { ...env, OTEL_SDK_DISABLED: "true" } });
    await own.run(args, { env: { ...env, TRACEPARENT: `00-${"a".repeat(32)}-${"b".repeat(16)}-00` } });
    await own.write(".env", `OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:${port}\n`);
    await own.run(args);
    await using off = await project("telemetry: { otlp: false, content: true }\n");
    await off.run(args, { env });
    assert.equal(requests.length, 0);

    await using asking = await project(undefined);
    await asking.write("orrery.yaml", `limits: { turns: 3 }\n${WITH_CONTENT}`);
    for (const more of [[], ["--trust-project"]]) {
      const { stderr } = await asking.run(["run", "sum.calls", ...more], { env });
      assert.ok(
        stderr.includes(
          'orrery.yaml:2:1: "telemetry" is ignored here: it belongs in your own config.yaml (orrery help config)',
        ),
        stderr,
      );
    }
    const { stdout } = await asking.run(["show", "config"], { env });
    assert.match(
      stdout,
      /\ntelemetry\.otlp +true +orrery\.yaml:2 \(does not count: only your own config\.yaml can say it\)\n/,
    );
    assert.equal(requests.length, 0);

    // What is said of content is the user's word too.
    await asking.write(OWN, ON);
    await asking.run(args, { env });
    assert.equal(requests.length, 1);
    assert.ok(!requests[0]?.text.includes(SAID));
    const config = await asking.run(["show", "config"], { env });
    assert.match(config.stdout, /\ntelemetry\.otlp +true +\/.*config\.yaml:1\n/);
  });
});

Deno.test("telemetry: the variables of OpenTelemetry say where it goes, with what, and what the run is a part of", async () => {
  await using made = await project(ON);
  await collecting(async (collected) => {
    const { code, stderr } = await made.run(["run", "sky.calls", "-q", "-m", "script/names.yml"], {
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${collected.port}/own/way?key=1`,
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc, x-team = one",
        OTEL_SERVICE_NAME: "nightly",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.name=other",
        TRACEPARENT: `00-${traceId}-${spanId}-01`,
      },
    });
    assert.deepEqual([code, stderr], [0, ""]);
    const [request] = collected.requests;
    assert.equal(request?.path, "/own/way");
    assert.equal(request?.headers.get("authorization"), "Bearer abc");
    assert.equal(request?.headers.get("x-team"), "one");
    assert.equal(request?.headers.get("content-type"), "application/json");
    const { "service.version": version, ...resource } = collected.resource;
    assert.deepEqual(resource, { "service.name": "nightly", "deployment.environment.name": "test" });
    assert.equal(typeof version, "string");
    const root = find(collected.spans, "invoke_workflow sky.calls");
    assert.deepEqual([root.traceId, root.parentSpanId], [traceId, spanId]);
    assert.ok(collected.spans.every((span) => span.traceId === traceId));
  });
});

Deno.test("telemetry: a collector that does not take spans costs one warning, and never the run", async (t) => {
  await using made = await project(ON);
  const args = ["run", "sky.calls", "-q", "-m", "script/names.yml"];
  /** The warning, and how long the run took beyond what it takes without a collector. */
  const warned = async (endpoint: string, more: Readonly<Record<string, string>> = {}) => {
    const begun = performance.now();
    const { code, stdout, stderr } = await made.run(args, {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...more },
    });
    const ms = performance.now() - begun;
    assert.deepEqual([code, stdout], [0, `"${SAID}"\n`].with(1, stdout), stderr);
    assert.ok(stdout.includes(SAID));
    assert.match(
      stderr,
      /^warning: 3 spans did not reach \S+: .*; start a collector there, let OTEL_EXPORTER_OTLP_ENDPOINT name one, or take telemetry\.otlp out of your own config\.yaml \(orrery help config\)\n$/,
    );
    return { why: /did not reach (.*?); start/.exec(stderr)?.[1] ?? "", ms };
  };
  await t.step("down", async () => {
    const { why, ms } = await warned("http://127.0.0.1:9");
    assert.equal(
      why,
      "http://127.0.0.1:9/v1/traces: nothing answers at 127.0.0.1:9 (connection refused)",
    );
    assert.ok(ms < 3000, `${ms} ms`);
  });
  for (
    const [name, answer, expected] of [
      ["4xx", () => new Response("no", { status: 401 }), "it answered 401"],
      ["busy", () => new Response("", { status: 503 }), "it answered 503"],
      [
        "a redirect, which is not followed",
        () => new Response("", { status: 307, headers: { location: "/elsewhere" } }),
        "it answered 307, a redirect, which is not followed",
      ],
      [
        "refused in part",
        () => Response.json({ partialSuccess: { rejectedSpans: "3", errorMessage: "\x1b[31mno" } }),
        "it refused them",
      ],
    ] as const
  ) {
    await t.step(name, async () => {
      await collecting(async ({ port, requests }) => {
        const { why, ms } = await warned(`http://127.0.0.1:${port}/`);
        assert.equal(why, `http://127.0.0.1:${port}/v1/traces: ${expected}`);
        assert.deepEqual(requests.map(({ path }) => path), ["/v1/traces"], "once, and nowhere else");
        assert.ok(ms < 3000, `${ms} ms`);
      }, answer);
    });
  }
  await t.step("slow", async () => {
    const late = Promise.withResolvers<Response>();
    await collecting(async ({ port }) => {
      const { why, ms } = await warned(`http://127.0.0.1:${port}`, { OTEL_EXPORTER_OTLP_TIMEOUT: "300" });
      assert.equal(why, `http://127.0.0.1:${port}/v1/traces: it did not answer in time`);
      assert.ok(ms < 3000, `${ms} ms`);
      const { ms: default_ } = await warned(`http://127.0.0.1:${port}`);
      assert.ok(default_ > 2900 && default_ < 8000, `${default_} ms`);
      late.resolve(new Response(null, { status: 204 }));
    }, () => late.promise.then((answer) => answer.clone()));
  });
  await t.step("no address", async () => {
    const { why } = await warned("localhost:4318");
    assert.match(why, /^"localhost:4318": expected a URL such as http:\/\/localhost:4318/);
    const { why: secret } = await warned("http://me:hidden-word@127.0.0.1:9/?token=hidden-word");
    assert.ok(!secret.includes("hidden-word"), secret);
  });
});

Deno.test("telemetry: a run that goes on is in the trace that it began, with spans for what is done now", async () => {
  await using made = await project(ON);
  await made.write("silent.yml", `- { text: "It is ${SAID}." }\n`);
  await made.write("twice.md", `# A\n\n@llm\nprompt: one\n\n@llm\nprompt: two\n`);
  await collecting(async (collected) => {
    const args = ["run", "twice.md", "-q", "-m", "script/silent.yml"];
    const first = await traced(made, collected, args, { code: 1 });
    assert.deepEqual(spanTree(first), [
      "invoke_workflow twice.md (_OTHER)",
      "  @llm twice.md:3",
      "    chat silent.yml",
      "  @llm twice.md:6 (_OTHER)",
      "    chat silent.yml (request)",
    ]);
    await made.write("silent.yml", `- { text: "It is ${SAID}." }\n- { text: "Again." }\n`);
    const second = await traced(made, collected, ["resume", "-q"]);
    assert.deepEqual(spanTree(second), [
      "invoke_workflow twice.md",
      "  @llm twice.md:6",
      "    chat silent.yml",
    ]);
    const [root, again] = [first, second].map((spans) => find(spans, "invoke_workflow twice.md"));
    assert.equal(again?.traceId, root?.traceId);
    assert.notEqual(again?.spanId, root?.spanId);
    assert.deepEqual(again?.links, [{ traceId: root?.traceId, spanId: root?.spanId }]);
    assert.equal(find(second, "chat silent.yml").attributes["orrery.step.attempt"], 2);
    const ids = [...first, ...second].map(({ spanId }) => spanId);
    assert.equal(new Set(ids).size, ids.length, "no id stands twice");
  });
});

Deno.test("telemetry: of a run that is killed what had ended is there, and whoever goes on with it has the rest in the same trace", async () => {
  await using made = await project(ON);
  await made.write(
    "long.calls",
    block("Calculate:sum", { expression: "1" }) +
      block("RunCommand:sleep", { command: "sleep", args: '["20"]' }),
  );
  await collecting(async (collected) => {
    const child = made.start(["run", "long.calls", "-q", "--allow-run"], { env: collected.env });
    await child.stdin.close();
    for (let waited = 0; collected.spans.length === 0 && waited < 15_000; waited += 50) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.deepEqual(collected.spans.map(({ name }) => name), ["execute_tool Calculate"], "while it runs");
    child.kill("SIGKILL");
    await Promise.all([child.status, child.stdout.cancel(), child.stderr.cancel()]);
    const [killed] = collected.spans;
    const args = ["resume", "-q", "--skip", "all"];
    const skipped = await traced(made, collected, args);
    assert.deepEqual(spanTree(skipped), ["invoke_workflow long.calls"], "it was not run again");
    assert.ok(skipped.every(({ traceId }) => traceId === killed?.traceId));
    const [root] = skipped.filter(({ parentSpanId }) => parentSpanId === undefined);
    assert.equal(root?.links?.[0]?.spanId, killed?.parentSpanId, "it is linked to the root that was lost");
  });
});

Deno.test("telemetry: runs of a server, of MCP, and of a program are traced as well", async (t) => {
  await using made = await project(ON);
  await collecting(async (collected) => {
    await t.step("serve and MCP", async () => {
      const env = made.env;
      Object.assign(env, collected.env);
      await using server = await served(made);
      const { status, body } = await server.json("/v1/runs", {
        body: { path: "letter", model: "script/names.yml" },
        headers: { traceparent: `00-${traceId}-${spanId}-01` },
      });
      assert.ok(status < 300, JSON.stringify(body));
      for (let waited = 0; collected.spans.length < 2 && waited < 5_000; waited += 20) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assert.deepEqual(spanTree(collected.spans), ["invoke_agent letter", "  chat names.yml"]);
      const root = find(collected.spans, "invoke_agent letter");
      assert.equal(root.attributes["orrery.run.id"], body.id);
      assert.deepEqual([root.traceId, root.parentSpanId], [traceId, spanId]);

      collected.spans.length = 0;
      const client = new Client({ name: "test", version: "1" });
      const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`), { requestInit }),
      );
      await client.callTool({ name: "Calculate", arguments: { expression: "1 + 1" } });
      await client.close();
      for (let waited = 0; collected.spans.length < 2 && waited < 5_000; waited += 20) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assert.deepEqual(spanTree(collected.spans), ["invoke_workflow Calculate", "  execute_tool Calculate"]);
    });
    await t.step("a program", async () => {
      if (!runsInside()) return console.log("not run here: the binary is no library");
      collected.spans.length = 0;
      await made.write("short.md", "---\nmodel: script/plan.yml\n---\n\n@llm\nprompt: Say it.\n");
      await made.write(
        "program.ts",
        `import { runDocument } from "orrery";
for await (const event of runDocument("short.md")) if (event.type === "run-end") console.log(event.status);\n`,
      );
      const config = ["--config", join(PROJECT_ROOT, "deno.json")];
      const { code, stdout, stderr } = await runProgram(
        [Deno.execPath(), "run", "-A", "--quiet", ...config, "program.ts"],
        { cwd: made.folder, env: { ...testEnvironment(), ...made.env, ...collected.env } },
      );
      assert.equal(code, 0, stderr);
      assert.equal(stdout, "done\n");
      assert.deepEqual(spanTree(collected.spans), [
        "invoke_workflow short.md",
        "  @llm short.md:5",
        "    chat plan.yml",
      ]);
    });
  });
});
