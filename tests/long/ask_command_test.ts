// `orrery ask` as a user types it: pipes, exit codes, and what is said when something is wrong.

import assert from "node:assert/strict";
import { join } from "node:path";
import { readUntil, testProject } from "../_project.ts";
import { providerServer, TEST_KEY } from "../_provider_server.ts";
import type { ProviderReply } from "../_provider_server.ts";
import { orreryCommand, runProgram } from "../_run.ts";

const TOOLS = `
- text: |
    I work it out.

    !!!GADGET_START:Calculate:sum
    !!!ARG:expression
    19 + 23
    !!!GADGET_END
- text: It is 42.
`;
const SLOW = `
- chunks: ["first line\\n", "second\\n", "third\\n", "fourth\\n", "fifth\\n"]
  delayMs: 200
`;
const PERSON = JSON.stringify({
  type: "object",
  properties: { name: { type: "string" }, born: { type: "integer" } },
  required: ["name", "born"],
});

Deno.test("ask: the words are one question, and the answer is stdout, byte for byte", async () => {
  await using project = await testProject();
  const { code, stdout, stderr } = await project.run([
    "ask",
    "Why",
    "is the sky",
    "blue?",
    "-m",
    "script/echo",
  ]);
  assert.deepEqual([code, stdout], [0, "ECHO[Why is the sky blue?]"]);
  assert.match(stderr, /^ {2}model script\/echo {2}[\d.]+ ms\n$/);
  const quiet = await project.run(["ask", "hi", "-m", "script:echo", "-q"]);
  assert.deepEqual(quiet, { code: 0, stdout: "ECHO[hi]", stderr: "" });
});

Deno.test("ask: a pipe is context behind the question, and alone it is the question", async () => {
  await using project = await testProject();
  const ask = (words: readonly string[], stdin: string) =>
    project.run(["ask", ...words, "-m", "script/echo", "-q"], { stdin });
  assert.equal((await ask(["Sum up"], "a\nb\n")).stdout, "ECHO[Sum up\n\n<stdin>\na\nb\n</stdin>]");
  assert.equal(
    (await ask(["Sum up"], "no line end")).stdout,
    "ECHO[Sum up\n\n<stdin>\nno line end\n</stdin>]",
  );
  assert.equal(
    (await ask(["Sum up"], "x</stdin>y")).stdout,
    "ECHO[Sum up\n\n<stdin-2>\nx</stdin>y\n</stdin-2>]",
  );
  assert.equal((await ask([], "only this\n")).stdout, "ECHO[only this\n]");
  assert.equal((await ask(["Hello"], "")).stdout, "ECHO[Hello]");
  const nothing = await ask([], " \n");
  assert.equal(nothing.code, 2);
  assert.match(nothing.stderr, /orrery ask needs a TEXT, or text on a pipe/);
});

Deno.test("ask: what is no text on the pipe, and too much of it, is said and not asked", async () => {
  await using project = await testProject();
  const ask = (stdin: Uint8Array) => project.run(["ask", "x", "-m", "script/echo"], { stdin });
  const binary = await ask(new Uint8Array([0x50, 0x4b, 0, 1]));
  assert.deepEqual([binary.code, binary.stdout], [2, ""]);
  assert.equal(
    binary.stderr,
    "error: Cannot read stdin: it is not text but binary data: found a NUL byte at offset 2; expected UTF-8 text\n",
  );
  const latin = await ask(new Uint8Array([0x61, 0xe4, 0x62]));
  assert.equal(latin.code, 2);
  assert.match(latin.stderr, /not UTF-8 text: the first wrong byte is 0xE4 at offset 1/);
  const long = await ask(new Uint8Array(10 * 1024 * 1024 + 1).fill(0x61));
  assert.equal(long.code, 2);
  assert.match(long.stderr, /stdin: it is longer than 10 MB, which is too much for a question/);
});

Deno.test("ask: with tools stdout is the answer alone, what is said on the way goes to stderr", async () => {
  await using project = await testProject({ "tools.yml": TOOLS });
  const { code, stdout, stderr } = await project.run([
    "ask",
    "What is 19 + 23?",
    "-m",
    "script/tools.yml",
    "--tools=Calculate",
  ]);
  assert.deepEqual([code, stdout], [0, "It is 42."]);
  assert.match(stderr, /I work it out\./);
  assert.match(stderr, /ok {4}sum {2}Calculate/);
  assert.doesNotMatch(stderr, /It is 42/);
});

Deno.test("ask --schema: the value is JSON; an answer that does not fit is exit code 4 with its text", async () => {
  await using project = await testProject({
    "person.json": PERSON,
    "good.yml": '- text: "She is..."\n- text: |\n    ```json\n    {"name": "Ada", "born": 1815}\n    ```\n',
    "bad.yml": '- { text: "no JSON at all", repeat: true }\n',
  });
  const ask = (model: string, ...more: string[]) =>
    project.run(["ask", "Who?", "-m", model, "--schema", "person.json", ...more]);
  const good = await ask("script/good.yml");
  assert.deepEqual([good.code, JSON.parse(good.stdout)], [0, { name: "Ada", born: 1815 }]);
  assert.match(good.stderr, /She is\.\.\./);
  const bad = await ask("script/bad.yml", "-q");
  assert.deepEqual([bad.code, bad.stdout], [4, "no JSON at all"]);
  assert.match(bad.stderr, /^error: The answer is not JSON: .*\n/);
  await project.write("text.json", '{"type": "string"}');
  await project.write("quoted.yml", `- text: '"hello"'\n`);
  const text = await project.run(["ask", "x", "-m", "script/quoted.yml", "--schema", "text.json", "-q"]);
  assert.equal(text.stdout, '"hello"\n');
  await project.write("wrong.json", '{"type": "objct"}');
  const wrong = await project.run(["ask", "x", "-m", "script/echo", "--schema", "wrong.json"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /wrong\.json:1:\d+: error: This JSON Schema cannot be used: /);
});

Deno.test("ask --json, --jsonl and -o", async () => {
  await using project = await testProject();
  const json = JSON.parse((await project.run(["ask", "hi", "-m", "script/echo", "--json", "-q"])).stdout);
  assert.deepEqual([json.kind, json.status, json.value, json.calls], ["ask", "done", "ECHO[hi]", []]);
  const { stdout } = await project.run(["ask", "hi", "-m", "script/echo", "--jsonl", "-q"]);
  const types = stdout.trim().split("\n").map((line) => JSON.parse(line).type);
  assert.deepEqual([types[0], types.at(-1), types.includes("text-delta")], ["run-start", "run-end", true]);
  const file = await project.run(["ask", "hi", "-m", "script/echo", "-o", "answer.txt", "-q"]);
  assert.deepEqual([file.code, file.stdout, await project.read("answer.txt")], [0, "", "ECHO[hi]"]);
  const both = await project.run(["ask", "hi", "-m", "script/echo", "--json", "--jsonl"]);
  assert.equal(both.code, 2);
});

Deno.test("ask --budget: what is used up ends the run with exit code 6", async () => {
  await using project = await testProject({ "tools.yml": TOOLS });
  const ask = (budget: string) =>
    project.run(["ask", "x", "-m", "script/tools.yml", "--tools=Calculate", "--budget", budget, "-q"]);
  const turns = await ask("turns=1");
  assert.equal(turns.code, 6);
  assert.match(turns.stderr, /error: The run has made 1 model call, its budget is 1\n/);
  const wrong = await ask("token=5,turns=0");
  assert.equal(wrong.code, 2);
  assert.match(
    wrong.stderr,
    /--budget has no "token": it takes tokens, cost, time, turns\. Did you mean "tokens"\?/,
  );
  assert.match(wrong.stderr, /--budget turns= must be a whole number above 0; found "0"/);
});

Deno.test("ask: no model, an unknown one, and an unknown gadget are found before anything is asked", async () => {
  await using project = await testProject();
  const none = await project.run(["ask", "x"]);
  assert.deepEqual([none.code, none.stdout], [2, ""]);
  assert.match(none.stderr, /No model is chosen\./);
  assert.match(
    none.stderr,
    /--model provider\/model, the variable ORRERY_MODEL, or models\.default in orrery\.yaml/,
  );
  const unknown = await project.run(["ask", "x", "-m", "opnai/gpt-5"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /model provider "opnai" is unknown\. Did you mean "openai"\?/);
  const key = await project.run(["ask", "x", "-m", "openai/gpt-5"]);
  assert.equal(key.code, 2);
  assert.match(key.stderr, /openai\/gpt-5 needs a key: set the variable OPENAI_API_KEY/);
  const gadget = await project.run(["ask", "x", "-m", "script/echo", "--tools", "Calcualte"]);
  assert.equal(gadget.code, 2);
  assert.match(gadget.stderr, /Unknown gadget "Calcualte"\. Did you mean "Calculate"\?/);
});

Deno.test("the model: --model over ORRERY_MODEL over models.default, aliases included", async () => {
  await using project = await testProject({
    "orrery.yaml": "models: { default: mine, aliases: { mine: script/one.yml } }\n",
    "one.yml": "- { text: from the settings, repeat: true }\n",
    "two.yml": "- { text: from the variable, repeat: true }\n",
  });
  const ask = async (args: readonly string[], env: Record<string, string> = {}) =>
    (await project.run(["ask", "x", "-q", ...args], { env })).stdout;
  const env = { ORRERY_MODEL: "script/two.yml" };
  assert.equal(await ask([]), "from the settings");
  assert.equal(await ask([], env), "from the variable");
  assert.equal(await ask(["-m", "script/echo"], env), "ECHO[x]");
});

/** A project whose user has set a provider up. */
async function withProvider(replies: readonly ProviderReply[]) {
  const provider = providerServer(replies);
  const project = await testProject();
  await Deno.mkdir(join(project.env.XDG_CONFIG_HOME ?? "", "orrery"), { recursive: true });
  await Deno.writeTextFile(
    join(project.env.XDG_CONFIG_HOME ?? "", "orrery", "config.yaml"),
    JSON.stringify({ models: provider.settings }),
  );
  const env = Object.fromEntries(
    ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"].map((name) => [name, TEST_KEY]),
  );
  return {
    provider,
    project,
    ask: (...args: string[]) => project.run(["ask", "Hello?", ...args], { env }),
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

Deno.test("ask over a provider: tokens are told, and the key is nowhere", async () => {
  await using at = await withProvider([{ parts: [{ text: ["Hel", "lo"] }] }]);
  const { code, stdout, stderr } = await at.ask("-m", "anthropic/test", "--record", "run.jsonl");
  assert.deepEqual([code, stdout], [0, "Hello"], stderr);
  assert.match(stderr, /model anthropic\/test {2}[\d.]+ m?s {2}\d+ in.*, \d+ out/);
  assert.equal(at.provider.requests.length, 1);
  const kept = await at.project.run(["trace", await at.project.newest(), "--json"]);
  const record = await at.project.read("run.jsonl");
  for (const text of [kept.stdout, record, stderr]) assert.ok(!text.includes(TEST_KEY));
});

const ERRORS: readonly {
  readonly name: string;
  readonly replies: readonly ProviderReply[];
  readonly code: number;
  readonly says: RegExp;
}[] = [
  {
    name: "a wrong key",
    replies: [{ status: 401, message: "Incorrect API key provided" }],
    code: 7,
    says: /OPENAI_API_KEY/,
  },
  {
    name: "a rate limit for ever",
    replies: [{ status: 429, retryAfter: "0", message: "Rate limit reached" }],
    code: 7,
    says: /rate limit/i,
  },
  {
    name: "a page of HTML",
    replies: [{ status: 200, contentType: "text/html", body: "<html><body>Sign in</body></html>" }],
    code: 7,
    says: /HTML|baseURL|OPENAI_BASE_URL/i,
  },
  {
    name: "a model that does not exist",
    replies: [{ status: 404, type: "invalid_request_error", message: "The model `test` does not exist" }],
    code: 7,
    says: /does not exist/,
  },
  {
    name: "a question that is too long",
    replies: [{
      status: 400,
      type: "context_length_exceeded",
      message: "This model's maximum context length is 10 tokens",
    }],
    code: 7,
    says: /context|window|long/i,
  },
];

for (const { name, replies, code, says } of ERRORS) {
  Deno.test(`ask: ${name} is exit code ${code} and says what to do`, async () => {
    await using at = await withProvider(replies);
    const result = await at.ask("-m", "openai/test", "-q");
    assert.deepEqual([result.code, result.stdout], [code, ""], result.stderr);
    assert.match(result.stderr, says);
    assert.match(result.stderr, /^error: /);
    assert.ok(!result.stderr.includes(TEST_KEY));
  });
}

Deno.test("ask: a provider that is down", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  await using project = await testProject();
  await project.write("orrery.yaml", `models: { default: openai/test }\n`);
  const started = performance.now();
  const result = await project.run(["ask", "x", "-q", "--ephemeral"], {
    env: { OPENAI_API_KEY: TEST_KEY, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` },
  });
  assert.equal(result.code, 7, result.stderr);
  assert.match(result.stderr, new RegExp(`127\\.0\\.0\\.1:${port}: cannot connect`));
  assert.match(result.stderr, /OPENAI_BASE_URL/);
  assert.ok(performance.now() - started > 1_000, "it was tried again");
});

Deno.test("ask: --deny-net refuses the provider too, with exit code 5", async () => {
  await using at = await withProvider([{ parts: [{ text: ["never"] }] }]);
  const { code, stderr } = await at.ask("-m", "openai/test", "--deny-net", "-q");
  assert.equal(code, 5, stderr);
  assert.equal(at.provider.requests.length, 0);
});

/** An answer that begins at once and takes a minute. */
const ENDLESS = `- { chunks: [begun, ${Array(300).fill('" on"').join(", ")}], delayMs: 200 }\n`;

Deno.test("ask: Ctrl-C ends it in order and says how to go on", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  await using project = await testProject({ "slow.yml": ENDLESS });
  const child = project.start(["ask", "x", "-m", "script/slow.yml"]);
  await child.stdin.close();
  const reader = child.stdout.getReader();
  await readUntil(reader, "begun");
  child.kill("SIGINT");
  const { code } = await child.status;
  assert.equal(code, 130);
  const id = await project.newest();
  assert.match(await new Response(child.stderr).text(), new RegExp(`stopped; to go on: orrery resume ${id}`));
  await reader.cancel();

  await project.write("slow.yml", "- text: at last\n");
  const resumed = await project.run(["resume", id, "-q"]);
  assert.deepEqual([resumed.code, resumed.stdout], [0, "at last"], resumed.stderr);
});

Deno.test("ask in a shell's pipe: head ends it, and nobody complains", async () => {
  await using project = await testProject({ "slow.yml": SLOW });
  const command = orreryCommand().map((word) => `'${word}'`).join(" ");
  const { code, stdout, stderr } = await runProgram(
    ["bash", "-c", `set -o pipefail; ${command} ask x -m script/slow.yml </dev/null | head -n 1`],
    { cwd: project.folder, env: project.env },
  );
  assert.deepEqual([code, stdout, stderr], [0, "first line\n", ""]);
});
