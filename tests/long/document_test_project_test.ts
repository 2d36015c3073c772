// `orrery test` of documents whose tools are the project's: its gadgets, prompts and servers, trusted as for `orrery run`.

import assert from "node:assert/strict";
import { isAlive, serverArgs } from "../_mcp.ts";
import { readUntil, testProject } from "../_project.ts";
import type { TestProject } from "../_project.ts";

const SHOUT = `console.log("loaded");
export default { name: "Shout", description: "Shouts.", input: { type: "object", properties: { text: { type: "string" } } },
  permissions: { env: ["WORD"] }, run: ({ text }) => ({ content: String(text).toUpperCase() }) };`;

const FILES = {
  "orrery.yaml": "models: { default: openai/gpt-5-mini }\nlimits: { goto: 2 }\n",
  "gadgets/shout.js": SHOUT,
  "prompts/colour.prompt.md": "---\ntools: [Shout, WriteFile, RunFile]\n---\nName a colour of {thing}.\n",
  "prompts/named.prompt": "---\nmodel: openai/gpt-5-mini\n---\nName {{thing}}.\n",
  "gadgets/whisper.js": SHOUT.replaceAll("Shout", "Whisper"),
  "prompts/loud.prompt.md": "---\ntools: [Whisper]\n---\nHush.\n",
  "prompts/code.ts":
    'import { definePrompt } from "orrery";\nexport default definePrompt({ template: "In code {x}" });\n',
  "tools.md": "# A\n\n@llm\nprompt: Go\ntools: [Shout, RunPrompt, WriteFile]\n",
  "part.md": "# P\n\n@llm\nprompt: Part\nmodel: openai/gpt-5\n\n@return\nblock: llm-response-block\n",
  "loop.md": "# A\n\n@goto\nblock: a\n",
};

const SHOUTS = `document: tools.md
tests:
  - name: a gadget of the project
    model:
      - calls: [{ name: Shout, input: { text: hello } }]
      - text: done
    expect:
      value: done
      blocks: { shout-tool-response-block: HELLO }
      messages:
        - [{ system: { contains: helpful } }, { user: "# A" }, { user: Go }]
        - [{ system: { contains: helpful } }, { user: "# A" }, { user: Go }, { assistant: "" }, { tool: { contains: HELLO } }]
`;

const PROMPTS = `document: tools.md
tests:
  - name: a prompt, its tools and the documents that they run
    allow: [write]
    model:
      - calls: [{ name: RunPrompt, input: { path: colour, args: { thing: sky } } }]
      - calls: [{ name: Shout, input: { text: blue } }, { name: WriteFile, input: { path: made.txt, content: x } }]
      - calls: [{ name: RunFile, input: { file: part.md } }]
      - text: of the part
      - text: Blue.
      - text: "It is blue."
    expect:
      value: It is blue.
  - name: a prompt that names a model asks the script too
    model:
      - calls: [{ name: RunPrompt, input: { path: named, args: { thing: it } } }]
      - text: named
      - text: after
    expect: { value: after }
  - name: a prompt whose tool is not trusted
    model:
      - calls: [{ name: RunPrompt, input: { path: loud } }]
      - when: "^Hush"
        calls: [{ name: Whisper, input: { text: hello } }]
      - text: refused
      - text: after
    expect:
      messages:
        - [{ system: { contains: helpful } }, { user: "# A" }, { user: Go }]
        - [{ user: Hush. }]
        - [{ user: Hush. }, { assistant: "" }, { tool: { contains: '--trust Whisper' } }]
        - - system: { contains: helpful }
          - user: "# A"
          - user: Go
          - assistant: ""
          - tool: { contains: refused }
  - name: a module of a prompt
    model:
      - calls: [{ name: RunPrompt, input: { path: code, args: { x: "1" } } }]
      - when: "In code 1"
        text: coded
      - text: after
    expect:
      messages:
        - [{ system: { contains: helpful } }, { user: "# A" }, { user: Go }]
        - [{ user: In code 1 }]
        - [{ system: { contains: helpful } }, { user: "# A" }, { user: Go }, { assistant: "" }, { tool: { contains: coded } }]
`;

async function names(project: TestProject): Promise<readonly string[]> {
  return await Array.fromAsync(Deno.readDir(project.folder), ({ name }) => name).then((all) => all.sort());
}

Deno.test("orrery test: the gadgets of the project are tools, trusted as for a run", async () => {
  await using project = await testProject({ ...FILES, "a.document-test.yml": SHOUTS });
  const untrusted = await project.run(["test", "a.document-test.yml"]);
  assert.equal(untrusted.code, 1);
  await project.write("shout.calls", "!!!GADGET_START:Shout\n!!!ARG:text\nhello\n!!!GADGET_END\n");
  const asRun = await project.run(["run", "shout.calls"]);
  assert.equal(asRun.code, 5);
  const why = / is not allowed: it wants to .*--trust Shout/.exec(asRun.stderr)?.[0] ??
    assert.fail(asRun.stderr);
  assert.ok(untrusted.stdout.includes(why), `${why}\n${untrusted.stdout}`);

  const trusted = await project.run(["test", "a.document-test.yml", "--trust", "Shout"]);
  assert.equal(trusted.code, 0, trusted.stdout + trusted.stderr);
  assert.equal(
    trusted.stdout.replace(/\d+ ms/, "N ms"),
    `ok    a.document-test.yml: a gadget of the project  N ms\n1 passed, 0 failed\n`,
  );
});

Deno.test("orrery test: a gadget of a file, and one that the project grants when it is accepted", async () => {
  const { "gadgets/shout.js": _inFolder, ...files } = FILES;
  await using project = await testProject({ ...files, "own/shout.js": SHOUT, "a.document-test.yml": SHOUTS });
  const given = ["test", "a.document-test.yml", "--gadget", "own/shout.js"];
  assert.equal((await project.run(given)).code, 1);
  assert.equal((await project.run([...given, "--trust", "Shout"])).code, 0);
  await using granted = await testProject({
    ...FILES,
    "orrery.yaml": "grants: { Shout: trusted }\n",
    "a.document-test.yml": SHOUTS,
  });
  const unaccepted = await granted.run(["test", "a.document-test.yml"]);
  assert.equal(unaccepted.code, 1);
  assert.match(unaccepted.stderr, /^warning: .*--trust-project/m);
  assert.equal((await granted.run(["test", "a.document-test.yml", "--trust-project"])).code, 0);
});

Deno.test("orrery test: RunPrompt asks the project's prompts, with its gadgets and documents; the script answers for every model", async () => {
  await using project = await testProject({ ...FILES, "a.document-test.yml": PROMPTS });
  const before = await names(project);
  const { code, stdout, stderr } = await project.run([
    "test",
    "a.document-test.yml",
    "--trust",
    "Shout",
    "--trust-code",
    "--json",
  ]);
  assert.equal(code, 0, stdout + stderr);
  assert.equal(JSON.parse(stdout).passed, 4);
  assert.deepEqual(await names(project), before, "what tools write is written in memory");
  const closed = JSON.parse(
    (await project.run(["test", "a.document-test.yml", "--json", "--trust", "Shout"])).stdout,
  );
  assert.deepEqual(closed.tests.map(({ status }: { status: string }) => status), [
    "passed",
    "passed",
    "passed",
    "failed",
  ]);
});

Deno.test("orrery test: real commands run in a copy, and the gadgets of the project with them", async () => {
  if (Deno.build.os === "windows") {
    return console.log("not run here: the commands are those of a POSIX shell");
  }
  await using project = await testProject({
    ...FILES,
    "real.md":
      "# A\n\n@shell\nprompt: echo made > made.txt; pwd\n\n@llm\nprompt: Go\ntools: [Shout, ReadFile]\n",
    "a.document-test.yml": `document: real.md
tests:
  - name: both
    allow: [run]
    model:
      - calls: [{ name: Shout, input: { text: hello } }, { name: ReadFile, input: { path: made.txt } }]
      - text: done
    expect:
      blocks:
        shout-tool-response-block: HELLO
        readfile-tool-response-block: made
`,
  });
  const before = await names(project);
  const { code, stdout, stderr } = await project.run(["test", "a.document-test.yml", "--trust", "Shout"]);
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(await names(project), before);
});

Deno.test("orrery test: what orrery.yaml says of documents holds, as for a run", async () => {
  await using project = await testProject({
    ...FILES,
    "a.document-test.yml":
      'document: loop.md\ntests:\n  - name: bounded\n    expect: { exit: 1, error: { contains: more than 2 jumps to "a" } }\n',
  });
  const { code, stdout } = await project.run(["test", "a.document-test.yml"]);
  assert.equal(code, 0, stdout);
});

Deno.test("orrery test: a project that cannot be opened is the failure of the tests that need its gadgets", async () => {
  await using project = await testProject({
    ...FILES,
    "gadgets/again.js": SHOUT,
    "plain.md": "# A\n\n@llm\nprompt: x\n",
    "a.document-test.yml":
      `${SHOUTS}  - name: needs none\n    document: plain.md\n    model: [{ text: y }]\n    expect: { value: y }\n`,
  });
  const { code, stdout } = await project.run([
    "test",
    "a.document-test.yml",
    "--trust",
    "gadgets/shout.js,gadgets/again.js",
    "--json",
  ]);
  assert.equal(code, 1);
  const { tests } = JSON.parse(stdout);
  assert.deepEqual(tests.map(({ status }: { status: string }) => status), ["failed", "passed"]);
  assert.match(JSON.stringify(tests[0].failures), /Shout/);
});

Deno.test("orrery test: servers are trusted and ended as for a run, and what they are given is not seen", async () => {
  const server = {
    command: Deno.execPath(),
    args: serverArgs("ok", "log"),
    env: { KEY: "${TOKEN}" },
  };
  await using project = await testProject({
    "server.md": "# A\n\n@llm\nprompt: Go\ntools: test__echo\n",
    ".mcp.json": JSON.stringify({ mcpServers: { test: server } }),
    "a.document-test.yml": `document: server.md
tests:
  - name: echoes
    model: [{ calls: [{ name: test__echo, input: { text: s3cret-value } }] }, { text: done }]
    expect: { blocks: { test-echo-tool-response-block: "echo: [secret TOKEN]" } }
`,
  });
  const test = (...flags: readonly string[]) =>
    project.run(["test", "a.document-test.yml", ...flags], { env: { TOKEN: "s3cret-value" } });
  const absent = await test();
  assert.equal(absent.code, 1);
  assert.match(absent.stderr, /^warning: \.mcp\.json counts as absent/m);
  const accepted = await test("--trust-project");
  assert.equal(accepted.code, 1);
  assert.match(accepted.stdout, /unknown tool "test__echo"/);
  await assert.rejects(project.read("log"), Deno.errors.NotFound);
  const trusted = await test("--trust", "test");
  assert.equal(trusted.code, 0, trusted.stdout + trusted.stderr);
  const pid = Number(/pid (\d+)/.exec(await project.read("log"))?.[1]);
  assert.ok(pid > 0, await project.read("log"));
  for (let tries = 0; tries < 200 && await isAlive(pid); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.equal(await isAlive(pid), false, "the server ends with the tests");
});

Deno.test("orrery test: Ctrl-C ends the test that is on and what it started", async () => {
  if (Deno.build.os === "windows") {
    return console.log("not run here: the commands are those of a POSIX shell");
  }
  await using project = await testProject({
    "quick.md": "# A\n",
    "slow.md": "# A\n\n@shell\nprompt: sleep 60\n",
    "a.document-test.yml":
      "tests:\n  - { name: quick, document: quick.md, expect: {} }\n  - { name: slow, document: slow.md, allow: [run], expect: {} }\n",
  });
  const child = project.start(["test", "a.document-test.yml"]);
  await child.stdin.close();
  const reader = child.stdout.getReader();
  await readUntil(reader, "quick");
  await new Promise((resolve) => setTimeout(resolve, 300));
  const begunAt = performance.now();
  child.kill("SIGINT");
  const { code } = await child.status;
  await Promise.all([reader.cancel(), child.stderr.cancel()]);
  assert.equal(code, 130);
  assert.ok(performance.now() - begunAt < 20_000);
});
