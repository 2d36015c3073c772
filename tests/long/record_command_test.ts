// A run that is recorded and replayed as a user does it: the same bytes, without network, and with Deno's permission to read Orrery's own
// folder, the record and the run's own files alone.

import assert from "node:assert/strict";
import { join } from "node:path";
import { testProject } from "../_project.ts";
import type { TestProject } from "../_project.ts";
import { providerServer, TEST_KEY } from "../_provider_server.ts";
import type { ProviderReply } from "../_provider_server.ts";
import { PROJECT_ROOT, runProgram } from "../_run.ts";
import type { RunResult } from "../_run.ts";

const RECORD = "run.jsonl";
/** Deno may prepare what it runs: that is Deno's own doing, and no permission of the program. */
const MAIN = join(PROJECT_ROOT, "main.ts");

/** Runs `orrery` as Deno does that may read these files of the project, and Orrery's own, and nothing else. */
function sealed(
  project: TestProject,
  args: readonly string[],
  { files, stdin }: { readonly files: readonly string[]; readonly stdin?: string },
): Promise<RunResult> {
  const read = [PROJECT_ROOT, ...files.map((file) => join(project.folder, file))].join(",");
  return runProgram(
    [Deno.execPath(), "run", "--no-prompt", "--quiet", `--allow-read=${read}`, MAIN, ...args],
    { cwd: project.folder, env: project.env, ...(stdin === undefined ? {} : { stdin }) },
  );
}

interface Recorded {
  readonly code: number;
  readonly stdout: string;
  readonly events: string;
}

/** Runs it twice: for what is on stdout, and for its events with the record of them. */
async function record(
  project: TestProject,
  args: readonly string[],
  options: { readonly stdin?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Recorded> {
  const live = await project.run([...args, "--jsonl", "--record", RECORD, "-q"], options);
  assert.notEqual(live.stdout, "", live.stderr);
  const { stdout } = await project.run([...args, "-q"], options);
  return { code: live.code, stdout, events: live.stdout };
}

/** The replay of a record gives the same events, times included, and the same stdout. */
async function assertReplayed(
  project: TestProject,
  args: readonly string[],
  want: Recorded & { readonly files: readonly string[] },
): Promise<void> {
  const replay = [...args, "--replay", RECORD, "-q"];
  const events = await sealed(project, [...replay, "--jsonl"], want);
  assert.equal(events.stdout, want.events, events.stderr);
  assert.equal(events.code, want.code);
  const plain = await sealed(project, replay, want);
  assert.deepEqual([plain.code, plain.stdout], [want.code, want.stdout], plain.stderr);
}

const call = (header: string, args: Readonly<Record<string, string>> = {}): string =>
  `!!!GADGET_START:${header}\n${
    Object.entries(args).map(([name, value]) => `!!!ARG:${name}\n${value}\n`).join("")
  }!!!GADGET_END\n`;

const CALLS = `Words.\n${call("ReadFile:text", { path: "data.txt" })}${call("Wait:w", { seconds: "0.02" })}${
  call("Now:now")
}${call("Calculate:n:text,w", { expression: "{{results.text}} * 2" })}${
  call("ReadFile:no", { path: "nothing.txt" })
}${call("Template:end:no", { template: "x" })}${
  call("RunCommand:sh", { command: "sh", "args/0": "-c", "args/1": "echo ran >> ran.txt; echo out" })
}`;

Deno.test("a call file: its replay is its recording, byte for byte, and touches nothing", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: the file runs a shell");
  await using project = await testProject({ "work.calls": CALLS, "data.txt": "21" });
  const args = ["run", "work.calls", "--allow-run=sh", "--allow-read", "--allow-write"];
  const live = await project.run([...args, "--jsonl", "--record", RECORD, "-q"]);
  const types = live.stdout.trim().split("\n").map((line) => JSON.parse(line).type);
  for (const type of ["text-delta", "call-run", "call-result", "call-error", "call-skip", "run-end"]) {
    assert.ok(types.includes(type), `${type}: ${live.stderr}`);
  }
  const value = JSON.parse(live.stdout.trim().split("\n").at(-1) ?? "").value;
  const ran = await project.read("ran.txt");
  await Deno.remove(join(project.folder, ".orrery"), { recursive: true });
  const want = { code: 1, stdout: `${JSON.stringify(value, null, 2)}\n`, events: live.stdout };
  const replay = ["run", "work.calls"];
  await assertReplayed(project, replay, { ...want, files: [RECORD, "work.calls"] });
  await Deno.remove(join(project.folder, "data.txt"));
  await assertReplayed(project, replay, { ...want, files: [RECORD, "work.calls"] });

  // The record alone: what was stored in it is the file.
  await assertReplayed(project, replay, { ...want, files: [RECORD] });
  await Deno.remove(join(project.folder, "work.calls"));
  await assertReplayed(project, replay, { ...want, files: [RECORD, "work.calls"] });
  await assertReplayed(project, replay, { ...want, files: [RECORD] });
  await assertReplayed(project, ["run", "-"], { ...want, files: [RECORD] });
  assert.equal(await project.read("ran.txt"), ran);
  const left = [...Deno.readDirSync(project.folder)].map(({ name }) => name).sort();
  assert.deepEqual(left, ["ran.txt", RECORD], "the replay left nothing behind");
});

Deno.test("calls from stdin: the record has them", async () => {
  await using project = await testProject({ "data.txt": "21" });
  const stdin = call("ReadFile:text", { path: "data.txt" }) +
    call("Calculate:n:text", { expression: "{{results.text}} * 2" });
  const recorded = await record(project, ["run", "-"], { stdin });
  assert.deepEqual([recorded.code, recorded.stdout], [0, "42\n"]);
  await assertReplayed(project, ["run", "-"], { ...recorded, files: [RECORD] });
});

const step = (id: string, kind: string): string => `      - { id: ${id}, ${kind} }\n`;

/** It asks, looks up, calls, runs a document, waits, and fails at last. */
const agentAt = (port: number): string =>
  `version: "0.1"\nstructure:\n  id: all\n  action:\n    id: main\n    chain:\n` + [
    step("ask", 'message: { message: "Your name?", hold: true }'),
    step(
      "who",
      "extractor: { values: [ { description: a name, target: { slot: { name: name } } } ], success: { action: continue }, fail: { action: end } }",
    ),
    step("visits", "counter: { slot: { name: visits, destination: global } }"),
    step("look", "retriever: { query: { name: name }, target: { slot: { name: found } }, limit: 1 }"),
    step("doc", "run: { file: plan.md, input: { who: Ana }, target: { slot: { name: doc } } }"),
    step(
      "calc",
      'gadget: { name: Calculate, input: { expression: "6 * 7" }, target: { slot: { name: calc } } }',
    ),
    step("now", "gadget: { name: Now, input: {}, target: { slot: { name: now } } }"),
    step(
      "api",
      `api-call: { url: "http://127.0.0.1:${port}/x", method: GET, headers: [ { key: Authorization, value: "Bearer \${env.ORRERY_TEST_TOKEN}" } ], ` +
        'response-path: "$.n", target: { slot: { name: n } }, success: { action: continue }, fail: { action: end } }',
    ),
    step("tool", "llm: { prompts: [ { user: what is 1 + 1 } ], tools: [Calculate] }"),
    step(
      "both",
      'message: { message: "{{doc}}|{{calc}}|{{n}}|{{found}}|{{now}}|{{global.visits}}", hold: true }',
    ),
    step("talk", "llm: { prompts: [ { system: Be kind. } ], memory: [ { selector: all } ], hold: true }"),
    step("fails", "llm: { prompts: [ { user: fail } ] }"),
  ].join("");

Deno.test("a conversation: its replay is its recording, byte for byte, without network, files and clock", async () => {
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => Response.json({ n: 6 }),
  );
  const { port } = server.addr;
  await using project = await testProject({
    "all.agent.yml": agentAt(port),
    "plan.md": "---\ninputs:\n  - name: who\n---\n# A\n\n@llm\nprompt: Greet {{ inputs.who }}\n",
    "docs.collection.yml":
      'version: "0.1"\ndocuments: [ { id: r, file: r.md, metadata: { name: Rivers } } ]\n',
    "r.md": "# Rivers\n\nAna is a river, too.\n",
    "s.yml":
      '- { when: "Greet", text: document, repeat: true }\n- { when: "1 \\\\+ 1", calls: [ { name: Calculate, input: { expression: 1 + 1 } } ] }\n' +
      '- { when: "^2|result", text: two }\n- { when: "^fail", error: { status: 400, message: "too strange" } }\n' +
      '- { when: "river", chunks: ["A ", "river."], delayMs: 5 }\n- { when: "", object: { name: Ana }, repeat: true }\n',
  });
  const args = [
    ...["run", "all.agent.yml", "-m", "script/s.yml", "--collection=docs.collection.yml"],
    ...["--say=I am Ana", "--say=What of the river?", "--say=fail", "--ephemeral"],
    ...[`--allow-net=127.0.0.1:${port}`, "--allow-env=ORRERY_TEST_TOKEN"],
  ];
  const env = { ORRERY_TEST_TOKEN: "very-secret-token" };
  const live = await project.run([...args, "--jsonl", "--record", RECORD, "-q"], { env });
  const kinds = new Set(
    live.stdout.trim().split("\n").map((line) => JSON.parse(line)).map(({ kind, type }) => kind ?? type),
  );
  for (const kind of ["model", "http", "read", "call-result", "hold", "slot-set", "conversation"]) {
    assert.ok(kinds.has(kind), `${kind}: ${live.stderr}`);
  }
  assert.equal(live.code, 7, live.stderr);
  assert.match(live.stderr, /step "fails": .*too strange/);
  const record = await project.read(RECORD);
  assert.doesNotMatch(record, /very-secret/);
  const own = live.stdout.trim().split("\n").map((line) => JSON.parse(line)).filter(({ type, step }) =>
    type === "message" && !step.includes("/")
  );
  const messages = own.map(({ text }) => text);
  assert.equal(messages.length, 4);
  assert.match(messages[2], /^document\|42\|6\|.*Ana is a river.*\|\d{4}-.*\|1$/s);
  const want = { code: 7, stdout: `${messages.join("\n\n")}\n`, events: live.stdout };
  await server.shutdown();
  for (const gone of ["plan.md", "r.md", "docs.collection.yml", "s.yml", "all.agent.yml"]) {
    await Deno.remove(join(project.folder, gone));
  }
  for (const args of [["run", "all.agent.yml"], ["run"]]) {
    await assertReplayed(project, args, { ...want, files: ["."] }); // where a document in it looks for settings
  }
  assert.deepEqual([...Deno.readDirSync(project.folder)].map(({ name }) => name), [RECORD]);

  await project.write("all.agent.yml", agentAt(port).replace("Your name?", "Who are you?"));
  const other = await project.run(["run", "all.agent.yml", "--replay", RECORD]);
  assert.equal(other.code, 1);
  assert.match(
    other.stderr,
    /"all\.agent\.yml" is not what was recorded: line 7 was .*Your name\?.* and is .*Who are you\?/,
  );
  const cut = record.trimEnd().split("\n").filter((line) => !line.includes("/http"));
  await project.write(RECORD, `${cut.join("\n")}\n`);
  await Deno.remove(join(project.folder, "all.agent.yml"));
  const torn = await project.run(["run", "all.agent.yml", "--replay", RECORD]);
  assert.deepEqual([torn.code, torn.stdout], [1, "Your name?\n"], torn.stderr);
  assert.match(torn.stderr, /The record has no step "main\/api\/http"/);
});

Deno.test("a conversation that may make so many steps ends at the same one in its replay", async () => {
  const steps = step("n", "counter: { slot: { name: n } }") + step("again", "flow: { action: repeat }");
  const [head = ""] = agentAt(0).split(step("ask", "").slice(0, 17));
  await using project = await testProject({
    "round.agent.yml": head + steps,
    "orrery.yaml": "limits: { steps: 9 }\n",
  });
  const live = await project.run(["run", "round.agent.yml", "--jsonl", "--record", RECORD, "-q"]);
  assert.match(live.stdout, /"status":"failed".* 9 steps/, live.stderr);
  await Deno.remove(join(project.folder, "orrery.yaml"));
  await Deno.remove(join(project.folder, ".orrery"), { recursive: true });
  await assertReplayed(project, ["run", "round.agent.yml"], {
    ...{ code: live.code, stdout: "", events: live.stdout },
    files: [RECORD],
  });
});

/** A project whose user has set a provider up. */
async function withProvider(replies: readonly ProviderReply[]) {
  let asked = 0;
  const provider = providerServer(() => replies[asked++ % replies.length] ?? { status: 500 });
  const project = await testProject({ "data.txt": "21" });
  await Deno.mkdir(join(project.env.XDG_CONFIG_HOME ?? "", "orrery"), { recursive: true });
  await Deno.writeTextFile(
    join(project.env.XDG_CONFIG_HOME ?? "", "orrery", "config.yaml"),
    JSON.stringify({ models: provider.settings }),
  );
  return {
    provider,
    project,
    env: { OPENAI_API_KEY: TEST_KEY, ANTHROPIC_API_KEY: TEST_KEY, GOOGLE_GENERATIVE_AI_API_KEY: TEST_KEY },
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

const BLOCKS: readonly ProviderReply[] = [
  {
    parts: [{ text: ["I lo", "ok.\n", ...call("ReadFile:a", { path: "data.txt" }).match(/.{1,9}/gs) ?? []] }],
    chunkBytes: 50,
    delayMs: 1,
  },
  { status: 429, retryAfter: "0" },
  { parts: [{ text: call("Calculate", { expression: "21 * 2" }) }], keepAlive: true },
  { parts: [{ text: ["It is ", "42."] }] },
];
const NATIVE: readonly ProviderReply[] = [
  {
    parts: [{ reasoning: ["Hm", "."], signature: "signed" }, { text: "I look." }, {
      call: { name: "ReadFile", arguments: ['{"path":', '"data.txt"}'] },
    }, { call: { name: "Wait", arguments: '{"seconds":0.01}' } }],
    delayMs: 1,
  },
  { parts: [{ text: "Half" }], breakAfterBytes: 500 },
  { parts: [{ call: { name: "Calculate", arguments: '{"expression":"21 * 2"}' } }] },
  { parts: [{ text: ["It is ", "42."] }] },
];

for (
  const { name, model, replies, more } of [
    { name: "in blocks", model: "chat/test", replies: BLOCKS, more: [] },
    { name: "in native calls", model: "anthropic/test", replies: NATIVE, more: ["--tools-mode", "native"] },
    {
      name: "in native calls of a compatible provider",
      model: "chat/test",
      replies: [NATIVE[0], NATIVE[2], NATIVE[3]] as ProviderReply[],
      more: ["--tools-mode", "native"],
    },
  ]
) {
  Deno.test(`a question with gadgets ${name}: its replay is its recording, byte for byte`, async () => {
    await using at = await withProvider(replies);
    const { project, env } = at;
    const tools = ["--tools", "ReadFile,Calculate,Wait", ...more];
    const args = ["ask", "What is", "twice the number?", "-m", model, ...tools];
    const live = await project.run([...args, "--jsonl", "--record", RECORD, "-q"], { env });
    const end = JSON.parse(live.stdout.trim().split("\n").at(-1) ?? "");
    const want = { code: live.code, stdout: end.value ?? "", events: live.stdout };
    if (name !== "in native calls") assert.equal(end.value, "It is 42.", live.stderr);
    const asked = at.provider.requests.length;
    await at.provider[Symbol.asyncDispose]();
    await assertReplayed(project, args, { ...want, files: [RECORD] });
    await assertReplayed(project, ["ask"], { ...want, files: [RECORD] });
    assert.equal(at.provider.requests.length, asked, "no model was asked");
  });
}

Deno.test("a question with a pipe: the record is of both, and another pipe is a difference", async () => {
  await using project = await testProject({ "answer.yml": "- { chunks: [Fi, ne.], repeat: true }\n" });
  const args = ["ask", "Sum up", "-m", "script/answer.yml"];
  const recorded = await record(project, args, { stdin: "a\nb\n" });
  assert.equal(recorded.stdout, "Fine.");
  await assertReplayed(project, ["ask"], { ...recorded, files: [RECORD] });
  const same = await sealed(project, [...args, "--replay", RECORD, "-q"], {
    files: [RECORD],
    stdin: "a\nb\n",
  });
  assert.deepEqual([same.code, same.stdout], [0, "Fine."], same.stderr);
  const other = await sealed(project, [...args, "--replay", RECORD, "-q"], {
    files: [RECORD],
    stdin: "a\nc\n",
  });
  assert.deepEqual([other.code, other.stdout], [1, ""]);
  assert.match(
    other.stderr,
    /^error: Step "turn\[1\]\/model" is not the recorded one: at "\/input\/messages\/\d\/content" the record has ".*b.*", the run now has ".*c.*"\n$/,
  );
});

Deno.test("another prompt, system text, model or file ends the replay with the difference, exit code 1", async () => {
  await using project = await testProject({
    "answer.yml": "- { text: Fine., repeat: true }\n",
    "work.calls": call("Calculate:n", { expression: "6 * 7" }),
  });
  await record(project, ["ask", "Go there", "--system", "Be brief", "-m", "script/answer.yml"]);
  const replay = (...args: string[]) =>
    sealed(project, ["ask", ...args, "--replay", RECORD, "-q"], { files: [RECORD] });
  for (
    const [args, says] of [
      [["Go home"], 'the record has "Go there", the run now has "Go home"'],
      [["--system", "Be long"], 'the record has "Be brief", the run now has "Be long"'],
      [["-m", "openai/gpt-5"], 'the record has "script/answer.yml", the run now has "openai/gpt-5"'],
    ] as const
  ) {
    const { code, stdout, stderr } = await replay(...args);
    assert.deepEqual([code, stdout], [1, ""], args.join(" "));
    assert.ok(stderr.startsWith('error: Step "turn[1]/model" is not the recorded one: at "/'), stderr);
    assert.ok(stderr.includes(says), stderr);
  }
  await record(project, ["run", "work.calls"]);
  await project.write("work.calls", call("Calculate:n", { expression: "6 * 8" }));
  const other = await sealed(project, ["run", "work.calls", "--replay", RECORD], {
    files: [RECORD, "work.calls"],
  });
  assert.deepEqual(other, {
    code: 1,
    stdout: "",
    stderr: 'error: "work.calls" is not what was recorded: line 3 was "6 * 7" and is "6 * 8"\n',
  });
});

Deno.test("a record that is damaged is an error with its place", async () => {
  await using project = await testProject({ "work.calls": call("Calculate:n", { expression: "6 * 7" }) });
  await record(project, ["run", "work.calls"]);
  const whole = await project.read(RECORD);
  const lines = whole.split("\n");
  const damaged = async (text: string) => {
    await project.write(RECORD, text);
    const { code, stdout, stderr } = await sealed(project, ["run", "work.calls", "--replay", RECORD, "-q"], {
      files: [RECORD, "work.calls"],
    });
    assert.equal(stdout, "");
    return `${code} ${stderr.split("\n")[0]}`;
  };
  const [first = "", second = ""] = lines;
  assert.equal(
    await damaged(`${first}\n${second.slice(0, 1)}#${second.slice(1)}\n`),
    "2 run.jsonl:2:2: error: This is not JSON",
  );
  assert.match(
    await damaged(whole.slice(0, first.length + 20)),
    /^2 run\.jsonl:2:\d+: error: This is not JSON/,
  );
  assert.equal(await damaged(""), "2 run.jsonl:1:1: error: The record is empty");
  assert.match(await damaged(`${second}\n`), /^2 run\.jsonl:1:\d+: error: /);
  assert.match(await damaged(`${first}\n{"type":"tep"}\n`), /^2 run\.jsonl:2:\d+: error: /);
  assert.match(
    await damaged(`${first.replace('"version":1', '"version":2')}\n`),
    /^2 run\.jsonl:1:\d+: error: /,
  );
  assert.match(await damaged(lines.slice(0, -3).join("\n") + "\n"), /^1 error: The record /);
  const missing = await sealed(project, ["run", "work.calls", "--replay", "no.jsonl"], {
    files: ["no.jsonl"],
  });
  assert.deepEqual([missing.code, missing.stdout], [2, ""]);
  assert.match(missing.stderr, /^error: Cannot read "no\.jsonl": no such file/);
});
