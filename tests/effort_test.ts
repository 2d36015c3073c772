// How hard a model is to think, said by flags, files, profiles and requests: what a provider is sent of it.
import assert from "node:assert/strict";
import {
  createAgent,
  definePrompt,
  type Effort,
  fakeModel,
  loadAgent,
  memoryFiles,
  type Model,
  openConversation,
  type PortRequest,
  runDocument,
} from "../mod.ts";
import { begun, runOf } from "./_http_runs.ts";
import { type ProviderProject, providerProject } from "./_provider_project.ts";
import { TEST_KEY } from "./_provider_server.ts";
import { served } from "./_served_project.ts";
import { TOKEN } from "./_server.ts";
import { until } from "./_waiting.ts";

const FILES = {
  "orrery.yaml": `models: { default: compatible/m }
agents:
  - { name: plain, model: compatible/m, system: Be brief }
  - { name: thinker, model: compatible/m, effort: xhigh, system: Be brief }
  - { name: args, model: compatible/m, modelArgs: { reasoning_effort: minimal }, system: Be brief }
`,
  "prompts/plain.prompt.md": "Go",
  "prompts/deep.prompt": "---\neffort: high\n---\nGo\n",
  "plain.md": "# Plan\n\n@llm\nprompt: Go\n",
  "deep.md": "---\neffort: medium\n---\n# Plan\n\n@llm\nprompt: Go\n\n@llm\nprompt: Go\neffort: high\n",
  "a.agent.yml": `version: "0.1"
structure:
  id: a
  action:
    id: main
    chain:
      - { id: one, llm: { prompts: [ { user: "Go." } ], effort: high } }
      - { id: two, llm: { prompts: [ { user: "Go." } ], reasoning-effort: minimal } }
      - { id: three, llm: { prompts: [ { user: "Go." } ] } }
`,
  "ask.calls": "!!!GADGET_START:RunPrompt:one\n!!!ARG:path\ndeep\n!!!GADGET_END\n" +
    "!!!GADGET_START:RunPrompt:two:one\n!!!ARG:path\nplain\n!!!GADGET_END\n",
};

const asks = (more: object = {}) =>
  providerProject({ parts: [{ text: "ok" }] }, {
    files: FILES,
    models: ({ settings: { providers: { compatible } } }) => ({
      providers: { compatible: { ...compatible, ...more } },
    }),
  });

/** What the provider was sent since. */
function sentTo({ provider: { requests } }: ProviderProject): () => readonly (string | undefined)[] {
  let known = 0;
  return () => {
    const sent = requests.slice(known).map(({ body }) => body.reasoning_effort);
    known = requests.length;
    return sent;
  };
}

const CASES:
  readonly (readonly [args: readonly string[], said: readonly unknown[], flag: readonly string[]])[] = [
    [["ask", "Hello"], ["low"], ["max"]],
    [["chat"], ["low"], ["max"]],
    [["run", "plain"], ["low"], ["max"]],
    [["run", "deep"], ["high"], ["max"]],
    [["run", "plain", "--profile", "thinker"], ["xhigh"], ["max"]],
    [["run", "plain", "--profile", "args"], ["minimal"], ["max"]],
    [["run", "deep", "--profile", "thinker"], ["high"], ["max"]],
    [["ask", "Hello", "--profile", "thinker"], ["xhigh"], ["max"]],
    [["chat", "--profile", "thinker"], ["xhigh"], ["max"]],
    [["run", "plain.md"], ["low"], ["max"]],
    [["run", "deep.md"], ["medium", "high"], ["max", "max"]],
    [["run", "a.agent.yml"], ["high", "minimal", "low"], ["max", "max", "max"]],
    [["run", "ask.calls"], ["high", "low"], ["max", "max"]],
  ];

Deno.test("effort: the flag counts before the file, that before the profile, and that before the provider", async () => {
  await using here = await asks({ effort: "low" });
  const sent = sentTo(here);
  for (const [args, said, flag] of CASES) {
    const stdin = args[0] === "chat" ? "Hello\n" : undefined;
    const run = async (...more: readonly string[]) => {
      const { code, stderr } = await here.project.run([...args, "--quiet", ...more], {
        env: { COMPATIBLE_KEY: TEST_KEY },
        stdin,
      });
      assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
      return sent();
    };
    assert.deepEqual(await run(), said, args.join(" "));
    assert.deepEqual(await run("--effort", "max"), flag, `${args.join(" ")} --effort max`);
  }
});

Deno.test("effort: nothing is sent where nothing says it", async () => {
  await using here = await asks();
  const sent = sentTo(here);
  assert.equal((await here.run("ask", "Hello", "--quiet")).code, 0);
  assert.deepEqual(sent(), [undefined]);
});

const WORDS = "none, minimal, low, medium, high, xhigh";

Deno.test("effort: a word that is none is told where it stands, with the one that may be meant", async () => {
  await using here = await asks();
  const flag = await here.run("ask", "Hello", "--effort", "hihg");
  assert.equal(flag.code, 2);
  assert.ok(
    flag.stderr.includes(`--effort must be one of ${WORDS}, max; found "hihg". Did you mean "high"?`),
    flag.stderr,
  );
  const broken: readonly (readonly [file: string, text: string, says: string])[] = [
    [
      "bad.md",
      "---\neffort: hihg\n---\n# A\n",
      `bad.md:2:1: error: effort must be ${WORDS} or max, not "hihg" (did you mean "high"?)`,
    ],
    ["bad.md", "# A\n\n@llm\nprompt: Go\nefort: low\n", `bad.md:5:1: error: @llm has no parameter "efort"`],
    [
      "bad.agent.yml",
      FILES["a.agent.yml"].replace("effort: high", "effort: hihg"),
      `llm.effort: must be one of "none", "minimal"`,
    ],
    [
      "prompts/bad.prompt",
      "---\neffort: hihg\n---\nGo\n",
      `effort must be one of ${WORDS}, max, found "hihg". Did you mean "high"?`,
    ],
    [
      "orrery.yaml",
      "agents: [{ name: a, model: script/echo, system: x, effort: hihg }]\n",
      `agent "a": effort must be one of ${WORDS}, max. Did you mean "high"?`,
    ],
    [
      "orrery.yaml",
      "models: { providers: { compatible: { effort: hihg } } }\n",
      'Found the text "hihg" for models.providers.compatible.effort, expected "none" or "minimal"',
    ],
  ];
  for (const [file, text, says] of broken) {
    await here.project.write(file, text);
    const { code, stderr } = await here.run("check", file);
    assert.equal(code, 2, `${file}: ${stderr}`);
    assert.ok(stderr.includes(says) && /:\d+:\d+: /.test(stderr), stderr);
  }
});

Deno.test("effort: a run that is gone on with has that of its beginning", async () => {
  let isDown = true;
  await using here = await providerProject(
    () => isDown ? { status: 400, message: "no" } : { parts: [{ text: "ok" }] },
    { files: FILES },
  );
  const sent = sentTo(here);
  for (const args of [["ask", "Hello"], ["run", "plain.md"], ["run", "plain"], ["run", "a.agent.yml"]]) {
    isDown = true;
    assert.equal((await here.run(...args, "--quiet", "--effort", "xhigh")).code === 0, false, args.join(" "));
    assert.deepEqual(new Set(sent()), new Set(["xhigh"]));
    isDown = false;
    const again = await here.run("resume", "--quiet");
    assert.equal(again.code, 0, again.stderr);
    assert.ok(sent().every((effort) => effort === "xhigh"), args.join(" "));
  }
});

Deno.test("effort: show tells it, of a profile and of a document", async () => {
  await using here = await asks();
  assert.match((await here.run("show", "profile", "thinker")).stdout, /^Effort: xhigh$/m);
  assert.equal(JSON.parse((await here.run("show", "profile", "thinker", "--json")).stdout).effort, "xhigh");
  assert.equal(
    JSON.parse((await here.run("show", "document", "deep.md", "--json")).stdout).defaults.effort,
    "medium",
  );
});

Deno.test("effort: requests over HTTP say it, those of OpenAI's clients by reasoning_effort", async () => {
  await using here = await asks();
  Object.assign(here.project.env, { COMPATIBLE_KEY: TEST_KEY });
  await using server = await served(here.project, ["--quiet"]);
  const sent = sentTo(here);
  const bodies = [
    ["/v1/runs", { file: "plain.md" }],
    ["/v1/runs", { path: "deep" }],
    ["/v1/prompts/plain/run", {}],
    ["/v1/conversations", { agent: "a.agent.yml" }],
  ] as const;
  for (const [path, body] of bodies) {
    const id = await begun(server, { ...body, effort: "none" }, path);
    await until(async () => (await runOf(server, id)).status !== "running");
    assert.deepEqual(new Set(sent()), new Set(["none"]), path);
  }
  const wrong = await server.json("/v1/runs", { body: { file: "plain.md", effort: "hihg" } });
  assert.equal(wrong.status, 400);
  assert.match(String(wrong.body.detail), /effort/);

  const messages = [{ role: "user", content: "Hello" }];
  for (const model of ["compatible/m", "orrery/profile/thinker", "orrery/prompt/deep", "orrery/agent/a"]) {
    const { status, body } = await server.json("/v1/chat/completions", {
      body: { model, messages, reasoning_effort: "minimal" },
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(new Set(sent()), new Set(["minimal"]), model);
  }
  const { status, body } = await server.json("/v1/chat/completions", {
    body: { model: "orrery/profile/thinker", messages, reasoning_effort: "hihg" },
  });
  assert.equal(status, 400);
  assert.match(
    JSON.stringify(body),
    /reasoning_effort: expected one of .*found \\"hihg\\". Did you mean \\"high\\"/,
  );
});

Deno.test("effort: a program gives it to an agent, whose port gets it", async () => {
  const requests: PortRequest[] = [];
  const port = { call: (request: PortRequest) => (requests.push(request), Promise.resolve({ text: "ok" })) };
  const prompt = definePrompt({ template: "Go" });
  const agent = createAgent({ name: "a", model: "m", port, system: "", effort: "high" });
  await agent.open().ask(prompt);
  assert.equal(requests[0]?.effort, "high");
  const effort = "hihg" as Effort;
  assert.throws(
    () => createAgent({ name: "a", model: fakeModel([]), system: "", effort }),
    /agent "a": effort must be one of none, .*, max, found "hihg"/,
  );
});

Deno.test("effort: a program gives it to a document and to a conversation", async () => {
  const asked: (Effort | undefined)[] = [];
  const model: Model = {
    ...fakeModel([]),
    id: "m",
    async *stream({ effort }) {
      asked.push(effort);
      yield { type: "text", text: "ok" };
      yield { type: "finish", reason: "stop", usage: { input: 0, output: 0 }, model: "m" };
    },
  };
  const world = { root: "/project", files: memoryFiles({ "deep.md": FILES["deep.md"] }) };
  for await (const _event of runDocument("deep.md", { world, model }));
  for await (const _event of runDocument("deep.md", { world, model, effort: "low" }));
  assert.deepEqual(asked.splice(0), ["medium", "high", "low", "low"]);
  const agent = await loadAgent({ file: "a.agent.yml", text: FILES["a.agent.yml"] });
  for (const effort of [undefined, "low"] as const) {
    const conversation = await openConversation(agent, {
      model: (request) => (asked.push(request.effort), Promise.resolve("ok")),
      effort,
    });
    for await (const _event of conversation.start());
  }
  assert.deepEqual(asked, ["high", "minimal", undefined, "low", "low", "low"]);
});

Deno.test("effort: a form of the page says it", async () => {
  await using here = await asks();
  Object.assign(here.project.env, { COMPATIBLE_KEY: TEST_KEY });
  await using server = await served(here.project, ["--quiet"]);
  const sent = sentTo(here);
  const page = await (await server.ask("/documents/deep.md", { headers: { accept: "text/html" } })).text();
  assert.match(
    page,
    /<select id="effort" name="effort"[^>]*><option value="">[^<]*<\/option><option>none<\/option>/,
  );
  const start = async (effort: string) => {
    const answer = await fetch(`${server.origin}/start`, {
      method: "POST",
      headers: { accept: "application/json", authorization: `Bearer ${TOKEN}` },
      body: new URLSearchParams({ kind: "file", name: "deep.md", effort }),
    });
    assert.equal(answer.status, 200, await answer.clone().text());
    const { url } = await answer.json();
    await until(async () => (await runOf(server, url.slice("/runs/".length))).status !== "running");
    return sent();
  };
  assert.deepEqual(await start(""), ["medium", "high"]);
  assert.deepEqual(await start("none"), ["none", "none"]);
});
