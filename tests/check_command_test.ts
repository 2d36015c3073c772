// `orrery check`: every kind of file, every format, and that nothing is run.
import assert from "node:assert/strict";
import { join } from "node:path";
import { bashCompletions } from "./_bash_completions.ts";
import { filesBelow } from "./_document_cases.ts";
import { type TestProject, testProject } from "./_project.ts";
import { atTerminal, noTerminal } from "./_pty.ts";
import { orrery, PROJECT_ROOT } from "./_run.ts";

const YAML = "models: { default: script/echo }\n";

const PLAN = `---
inputs:
  - name: topic
---

# Intro

Text.

@llm
prompt: Go on
tools: ReadFlie
block: intrp

@shell
prompt: touch ran

@import
file: gone.md
`;

const CALLS = `!!!GADGET_START:ReadFlie:a
!!!ARG:path
x
!!!GADGET_END
!!!GADGET_START:ReadFile:b
!!!ARG:path
x
!!!ARG:lines
many
!!!GADGET_END
!!!GADGET_START:Calculate:c:zz
!!!ARG:expression
{{results.zz}}
!!!GADGET_END
!!!GADGET_START:Calculate:d:e
!!!ARG:expression
1
!!!GADGET_END
!!!GADGET_START:Calculate:e:d
!!!ARG:expression
1
!!!GADGET_END
!!!GADGET_START:server__tool:f
!!!GADGET_END
!!!GADGET_START:bad header:1:2:3:4
!!!GADGET_END
`;

const FILES = {
  "orrery.yaml": YAML + 'mcpServers: { server: { command: "touch", args: ["started"] } }\n',
  "plan.md": PLAN,
  "work.calls": CALLS,
  "README.md": "# Hello\n\n```\n@llm\nprompt: quoted\n```\n",
  "notes.md": "@mention\n\n# Nothing to run\n",
  ".hidden/bad.md": "@llm\nprmpt: x\n",
  "node_modules/bad/bad.md": "@llm\nprmpt: x\n",
  "prompts/hello.prompt.md": "Hello {name\n",
  "prompts/code.ts": 'Deno.writeTextFileSync("loaded", "");\n',
  "gadgets/own.ts": 'Deno.writeTextFileSync("loaded", "");\n',
};

const PLAN_LINES = [
  'plan.md:2:1: warning: input "topic" needs a value (--input topic=...)',
  'plan.md:12:1: error: unknown tool "ReadFlie" (did you mean "ReadFile"?)',
  'plan.md:13:1: error: no block "intrp" (did you mean "intro"?)',
  "plan.md:15:1: warning: @shell needs run permission (--allow-run)",
];

async function entries(project: TestProject): Promise<readonly string[]> {
  return [...filesBelow(await Deno.realPath(project.folder)).keys()].sort();
}

Deno.test("check: all problems of all files at once, a line each; nothing is run, written, started or loaded", async () => {
  await using project = await testProject(FILES);
  const before = await entries(project);
  const { code, stdout, stderr } = await project.run(["check"]);
  assert.equal(stdout, "");
  assert.deepEqual(stderr.trimEnd().split("\n"), [
    ...PLAN_LINES,
    "orrery.yaml:2:1: warning: you have not accepted what this project says here, or not as it is now (mcpServers): " +
    "a run takes it as absent, this check as accepted",
    'work.calls:1:1: error: Unknown gadget "ReadFlie". Did you mean "ReadFile"?',
    'work.calls:8:1: error: ReadFile does not take this: lines: expected integer, found "many"',
    'work.calls:11:1: error: depends on "zz", which is never called',
    'work.calls:15:1: error: "d" is on a cycle: d -> e -> d',
    'work.calls:19:1: error: "e" is on a cycle: e -> d -> e',
    'work.calls:25:1: error: Cannot read header "bad header:1:2:3:4": found more than three parts, expected Name, Name:id or ' +
    "Name:id:dep1,dep2 (an identifier is a letter or _, then letters, digits, _, - and .)",
    'prompts/hello.prompt.md:1:7: error: prompt "hello": template 1:7: unclosed "{": write "{{" for a literal brace',
    "not looked at: 1 module of prompts or tactics, since a check does not run their code",
    "4 files, 9 errors, 3 warnings",
  ]);
  assert.equal(code, 2);
  assert.deepEqual(await entries(project), before);
});

Deno.test("check: warnings alone do not fail; with flags of a run what is missing is an error, as for the run", async () => {
  const text = "---\ninputs: [{name: topic}]\n---\n\n# A\n\n@shell\nprompt: ls\n";
  await using project = await testProject({ "orrery.yaml": YAML, "a.md": text });
  const [plain, allowed, denied, given, wrong, quiet] = await Promise.all([
    project.run(["check", "a.md"]),
    project.run(["check", "a.md", "--allow-run", "--input", "topic=x"]),
    project.run(["check", "a.md", "--deny-net"]),
    project.run(["check", "a.md", "--input", "topc=x"]),
    project.run(["check", "a.md", "--model", "zzz"]),
    project.run(["check", "a.md", "-q"]),
  ]);
  const input = 'a.md:2:1: warning: input "topic" needs a value (--input topic=...)\n';
  const shell = "@shell needs run permission (--allow-run)\n";
  assert.deepEqual(plain, {
    code: 0,
    stdout: "",
    stderr: `${input}a.md:7:1: warning: ${shell}1 file, 0 errors, 2 warnings\n`,
  });
  assert.deepEqual(allowed, { code: 0, stdout: "", stderr: "1 file, 0 errors, 0 warnings\n" });
  assert.deepEqual(denied, {
    code: 2,
    stdout: "",
    stderr: `${input}a.md:7:1: error: ${shell}1 file, 1 error, 1 warning\n`,
  });
  assert.deepEqual(given, {
    code: 2,
    stdout: "",
    stderr: 'error: a.md has no input "topc" (did you mean "topic"?)\n' +
      'error: input "topic" needs a value (--input topic=...)\n' +
      `a.md:7:1: warning: ${shell}1 file, 2 errors, 1 warning\n`,
  });
  assert.match(wrong.stderr, /^error: unknown model "zzz"/);
  assert.deepEqual([wrong.code, quiet], [2, { code: 0, stdout: "", stderr: "" }]);
});

Deno.test("check: a document that others import or run is a part of theirs; by its name it stands alone", async () => {
  await using project = await testProject({
    "orrery.yaml": YAML,
    "main.md": "# Draft\n\n@import\nfile: parts/a.md\n\n@run\nfile: parts/b.md\nprompt: x\n",
    "parts/a.md": "@return\nblock: draft\n",
    "parts/b.md": "@return\nblock: input-parameters\n",
    "ring/x.md": "@import\nfile: y.md\n",
    "ring/y.md": "@import\nfile: x.md\n",
  });
  const [all, named, folder] = await Promise.all([
    project.run(["check"]),
    project.run(["check", "parts/a.md"]),
    project.run(["check", "parts", "--prompt", "x"]),
  ]);
  assert.deepEqual(all, {
    code: 2,
    stdout: "",
    stderr: "ring/y.md:2:1: error: import cycle: ring/x.md -> ring/y.md -> ring/x.md\n" +
      "6 files, 1 error, 0 warnings\n",
  });
  assert.deepEqual(named, {
    code: 2,
    stdout: "",
    stderr: 'parts/a.md:2:1: error: no block "draft"\n1 file, 1 error, 0 warnings\n',
  });
  assert.equal(folder.stderr, 'parts/a.md:2:1: error: no block "draft"\n2 files, 1 error, 0 warnings\n');
});

Deno.test("check: documents are found by what is in them, files of nested projects belong to those", async () => {
  await using project = await testProject({
    "orrery.yaml": YAML,
    "near.md": "@lllm\nprompt: x\n",
    "front.md": "---\nlimits: {goto: 0}\n---\n\nText.\n",
    "blog.md": "---\ntitle: Hello\nlimit: 3\n---\n\nText.\n",
    "latin.md": "",
    "inner/orrery.yaml": "modles: {}\n",
    "inner/a.md": "@return\nblock: nowhere\n",
    "other/orrery.yaml": YAML,
    "other/b.md": "@import\nfile: ../near.md\n",
  });
  await Deno.writeFile(join(project.folder, "latin.md"), new Uint8Array([0x40, 0x6c, 0xe4, 0x0a]));
  const { code, stderr } = await project.run(["check"]);
  assert.equal(code, 2);
  assert.deepEqual(stderr.trimEnd().split("\n").map((line) => line.replace(project.folder, "")), [
    "front.md:2:1: error: limits.goto must be a whole number from 1",
    'inner/orrery.yaml:1:1: error: Unknown key "modles". Did you mean "models"?',
    'other/b.md:2:1: warning: "../near.md" is outside the project root; read permission for it is needed (--allow-read=near.md)',
    'near.md:1:1: error: unknown operation "@lllm" (did you mean "@llm"?)',
    "7 files, 3 errors, 1 warning",
  ]);
});

Deno.test("check: an agent is refused for the same as its run is; what a run may still be given is a warning", async () => {
  const agent = `version: "0.1"
structure:
  id: a
  constants: { name: Ann }
  action:
    id: m
    chain:
      - { id: r, run: { file: missing.md } }
      - { id: l, llm: { prompt: nothere } }
      - { id: l2, llm: { prompts: [ { user: x } ], model: nope/nope } }
      - { id: g, gadget: { name: Calculate, input: { expresion: "1", variables: { a: "{{name}}" } } } }
      - { id: s, llm: { prompts: [ { user: x } ], model: script/gone.yml } }
      - { id: d, retriever: { query: { name: q, destination: session }, target: { slot: { name: found, destination: session } } } }
      - { id: n, api-call: { url: "https://example.com/x", method: GET, headers: [ { key: K, value: "\${env.NOT_THERE}" } ], target: { slot: { name: y, destination: session } }, success: { action: continue }, fail: { action: continue } } }
      - { id: k, llm: { prompts: [ { user: x } ], model: openai/gpt-5-mini } }
`;
  await using project = await testProject({ "orrery.yaml": YAML, "a.agent.yml": agent });
  const [check, denied, run] = await Promise.all([
    project.run(["check", "a.agent.yml"]),
    project.run(["check", "a.agent.yml", "--deny-read=x"]),
    project.run(["run", "a.agent.yml"]),
  ]);
  const linesOf = (text: string, severity: string) =>
    text.split("\n").filter((line) => line.includes(`: ${severity}: `))
      .map((line) => line.replace(/^a\.agent\.yml:(\d+):.*?: structure\.action\.chain/, "$1 "));
  const errors = [
    '8 [0].run.file: Cannot look at "missing.md": no such file or folder',
    '9 [1].llm.prompt: prompt "nothere" not found. The registry is empty',
    '10 [2].llm.model: The model provider "nope" is unknown. Providers are script, replay, openai, anthropic, google, mistral, xai, groq; more can be set under models.providers',
    '11 [3].gadget.input.expression: gadget "Calculate" does not take this: missing, expected string',
    '11 [3].gadget.input.expresion: gadget "Calculate" does not take this: unknown, expected one of expression, variables. Did you mean "expression"?',
    '12 [4].llm.model: The model script/gone.yml cannot be opened: Cannot read "gone.yml": no such file',
    "13 [5].retriever: no document collection is configured: --collection FILE, or conversations.collection of orrery.yaml",
  ];
  const open = [
    "14 [6].api-call.url: needs --allow-net=example.com:443",
    "14 [6].api-call.headers[0].value: needs --allow-env=NOT_THERE",
    '15 [7].llm.model: The model openai/gpt-5-mini needs a key: set the variable OPENAI_API_KEY; models.providers.openai.apiKeyEnv can name another one. "orrery list models" shows for which providers there is a key.',
  ];
  assert.deepEqual([check.code, denied.code, run.code], [2, 2, 2]);
  assert.deepEqual(linesOf(check.stderr, "error"), errors);
  assert.deepEqual(linesOf(check.stderr, "warning"), open);
  assert.deepEqual(linesOf(denied.stderr, "error"), [...errors, ...open]);
  assert.deepEqual(linesOf(run.stderr, "error").toSorted(), [...errors, ...open].toSorted());
});

Deno.test("check: what the settings, prompts, collections and tests name and what is not there", async () => {
  await using project = await testProject({
    "orrery.yaml": `models: { default: fst, aliases: { fast: nope/x, s: script/gone.yml, t: script/bad.yml } }
grants: { Calculat: trusted, "@shell": { run: [git] } }
conversations: { collection: help.collection.yml }
agents: [ { name: a, model: nope/x, system: hi } ]
`,
    ".mcp.json": '{"mcpServers": {"a": {"comand": "x"}, "b": {"command": "x", "args": "-y"}}}\n',
    "bad.yml": "- { txt: hi }\n",
    "help.collection.yml": 'version: "0.1"\ndocuments: [ { id: x, file: none.md } ]\n',
    "prompts/p.prompt.md": "---\ntools: [Readfile, nothere]\naddons: { wbSearch: true }\n---\nx\n",
    "a.conversation-test.yml": "tests: [ { name: x, agnt: y, turns: [ { say: hi } ] } ]\n",
    "doc.md": "@llm\nprompt: x\nmodel: script/gone.yml\n",
    "sub/orrery.yaml": "",
    "sub/.mcp.json": '// note\n{"mcpServers": {}}\n',
    "typo/orrery.yaml": "",
    "typo/.mcp.json": '{\n  "mcpServer": {} }\n',
  });
  const { code, stderr } = await project.run(["check"]);
  assert.equal(code, 2);
  assert.deepEqual(stderr.trimEnd().split("\n").filter((line) => !line.includes("you have not accepted")), [
    'doc.md:3:1: error: the model script/gone.yml cannot be opened: there is no file "gone.yml"',
    'orrery.yaml:1:20: error: unknown model "fst" (did you mean "fast"?)',
    'orrery.yaml:1:42: error: unknown provider "nope"',
    'orrery.yaml:1:53: error: the model script/gone.yml cannot be opened: there is no file "gone.yml"',
    'orrery.yaml:2:11: warning: no gadget is called "Calculat". Did you mean "Calculate"?',
    'orrery.yaml:4:22: error: agent "a": unknown provider "nope"',
    '.mcp.json:1:33: error: MCP server "a": unknown key "comand". Did you mean "command"?',
    '.mcp.json:1:69: error: MCP server "b": args: expected a list of texts',
    'help.collection.yml:2:29: error: documents[0].file: Cannot look at "none.md": no such file or folder',
    'bad.yml:1:5: error: [0]: unknown key "txt" in a reply (did you mean "text"?)',
    "sub/.mcp.json:1:1: error: Cannot read sub/.mcp.json: it is not JSON",
    'typo/.mcp.json:2:16: error: Cannot read typo/.mcp.json: unknown key "mcpServer". Did you mean "mcpServers"?',
    'prompts/p.prompt.md:2:9: error: prompt "p": unknown tool "Readfile". Did you mean "ReadFile"?',
    'prompts/p.prompt.md:2:19: error: prompt "p": unknown tool "nothere"',
    'prompts/p.prompt.md:3:11: error: addon "wbSearch" is unknown (known: computerUse, webSearch)',
    "a.conversation-test.yml:1:10: error: Expected an agent: the *.agent.yml that is tested",
    'a.conversation-test.yml:1:21: error: tests/0/agnt: unknown, expected one of name, agent, user, module, session, context, collection, env, http, steps, slots-before, model, turns, slots-after, saw-prompts, saw-memory, conversations. Did you mean "agent"?',
    "9 files, 16 errors, 3 warnings",
  ]);
});

Deno.test("check: results that a call cannot name, and what only looks like one; a run says the same, and reads no result as a template", async () => {
  const calls = `!!!GADGET_START:ReadFile:page
!!!ARG:path
page.txt
!!!GADGET_END
!!!GADGET_START:Template:t:page
!!!ARG:template
Page: {{results.page}} {{n}}
!!!ARG:values/n
{{results.page}}
!!!GADGET_END
!!!GADGET_START:Template:u:t
!!!ARG:template
x
!!!ARG:values/a
one
{{results.tt}} {t} {{t}} {results.page} {y}
!!!GADGET_END
!!!GADGET_START:Template:v
!!!ARG:template
x
!!!ARG:values/a
{{results.t}}
!!!GADGET_END
!!!GADGET_START:Template:w
!!!ARG:template
{{v}}
!!!ARG:values/v
x{y} {{results.none}}
!!!GADGET_END
`;
  await using project = await testProject({ "a.calls": calls, "page.txt": "{{x}} {{results.page}} \\{{" });
  const check = await project.run(["check", "a.calls"]);
  const strange =
    'Cannot fill {{results.tt}}: this call does not depend on "tt". Did you mean "t"? If not, the header is Template:u:t,tt';
  const known =
    'Cannot fill {{results.t}}: this call does not depend on "t". Name it in the header of this call: Template:v:t';
  assert.deepEqual(check.stderr.trimEnd().split("\n"), [
    `a.calls:16:1: error: ${strange}`,
    "a.calls:16:1: warning: {t} stays as it is; the result of a call is {{results.t}}",
    "a.calls:16:1: warning: {{t}} stays as it is; the result of a call is {{results.t}}",
    "a.calls:16:1: warning: {results.page} stays as it is; the result of a call is {{results.page}}",
    `a.calls:22:1: error: ${known}`,
    'a.calls:28:1: warning: {{results.none}} stays as it is: no call has the id "none"',
    "1 file, 2 errors, 4 warnings",
  ]);
  const run = await project.run(["run", "a.calls", "--json"]);
  const told = JSON.parse(run.stdout).calls.map((
    { invocationId, result, error }: Readonly<Record<string, unknown>>,
  ) => [invocationId, result ?? error]);
  const page = "{{x}} {{results.page}} \\{{";
  assert.deepEqual(Object.fromEntries(told), {
    page,
    t: `Page: ${page} ${page}`,
    u: strange,
    v: known,
    w: "x{y} {{results.none}}",
  });
  assert.match(
    run.stderr,
    /24: Template: \{\{results\.none\}\} stays as it is: no call before has the id "none"/,
  );
  assert.equal(run.code, 1);
});

Deno.test("check: what a document likely does not mean: rounds without an end, cut values, places for values, operations that are text", async () => {
  const loop = (more: string) =>
    `# Task\n\n@llm\nprompt: Judge.\nuse-header: "# Verdict"\n${more}\n@goto\nblock: task\nif: { block: verdict, contains: again }\n`;
  await using project = await testProject({
    "orrery.yaml": `${YAML}exclude: [x #y\n]\n`,
    "self.md": "# A\n\n@run\nfile: self.md\n",
    "ring/b.md": "# A\n\n@run\nfile: c.md\n",
    "ring/c.md": "# A\n\n@run\nfile: b.md\n",
    "ends.md": "# A\n\n@run\nfile: ends.md\nif: { block: a, contains: x }\n",
    "loop.md": loop(""),
    "replaced.md": loop("mode: replace\nto: verdict\n").replace("# Task\n", "# Verdict\n\n# Task\n"),
    "cut.md":
      "---\nmodel: script/echo #2\n---\n# A\n\n@llm\nprompt: Summarise issue #42 of it\n\n@llm\nprompt: |\n  issue #42 # x\nuse-header: none # fine\n",
    "place.md":
      "---\ninputs: [ { name: topic, default: x } ]\n---\n# A\n\n@llm\nprompt: About {topic}, {{topic}} and {other}\n",
    "gone.md": "# A\n\n@llm\nprmpt: x\n\n@import\nfile: missing.md\n",
    "glued.md": "# A\n@llm\nprompt: x\n",
    "prompts/p.prompt.md": "---\ndescription: the order #5\n---\nHello {{name}}.\n",
    "prompts/h.prompt":
      "---\nmodel: script/echo\ninput: { schema: { name: string } }\n---\nHi {{name}}, {name} {x}\n",
    "twice.collection.yml": 'version: "0.1"\nversion: "0.1"\ndocments: []\n',
  });
  const { stderr } = await project.run(["check"]);
  const endless = "a document that runs itself never ends";
  const quotes = "put the whole value in quotes";
  assert.deepEqual(
    stderr.trimEnd().split("\n").toSorted(),
    [
      `cut.md:2:20: warning: " #2" is a comment and cuts the value "script/echo": ${quotes}`,
      `cut.md:7:25: warning: " #42 of it" is a comment and cuts the value "Summarise issue": ${quotes}`,
      'glued.md:2:1: warning: "@llm" is text here: an operation needs an empty line above it',
      'gone.md:4:1: error: @llm has no parameter "prmpt" (did you mean "prompt"?)',
      'gone.md:7:1: error: file not found: "missing.md"',
      'loop.md:9:1: warning: this loop goes on until its limit: no operation in it changes "verdict"; to replace a block, give the operation that writes it mode: replace and to: with the id of the block',
      `orrery.yaml:2:13: warning: " #y" is a comment and cuts the value "x": ${quotes}`,
      'place.md:7:1: warning: {topic} is sent as it is: a document has no places for values; the input is the block "topic"',
      'place.md:7:1: warning: {{topic}} is sent as it is: a document has no places for values; the input is the block "topic"',
      "prompts/h.prompt:5:14: warning: {name} is no place for a value here: the model is sent {name}; write {{name}}",
      `prompts/p.prompt.md:2:24: warning: " #5" is a comment and cuts the value "the order": ${quotes}`,
      "prompts/p.prompt.md:4:7: warning: {{name}} is no place for a value here: the model is sent {name}; write {name}",
      `ring/c.md:4:1: warning: run cycle: ring/b.md -> ring/c.md -> ring/b.md: ${endless}`,
      `self.md:4:1: warning: run cycle: self.md -> self.md: ${endless}`,
      'twice.collection.yml:2:1: error: The key "version" is written twice (first on line 1)',
      'twice.collection.yml:1:1: error: file: "documents" is required in the file',
      "14 files, 5 errors, 12 warnings",
      'twice.collection.yml:3:1: error: file: unknown key "docments" in the file (did you mean "documents"?)',
    ].toSorted(),
  );
  const run = await project.run(["run", "self.md", "--out", "none"]);
  assert.deepEqual([run.code, run.stderr.split("\n").filter((line) => line.includes(": error: "))], [1, [
    `self.md:3:1: error: @run: self.md failed: self.md:3:1: error: @run: @run is nested 16 deep (self.md -> self.md -> self.md -> ...): ${endless}`,
  ]]);
});

Deno.test("check: exclude leaves out files and folders with all below them, and the settings count as a file", async () => {
  const wrong = "@llm\nprmpt: x\n";
  await using project = await testProject({
    "orrery.yaml": `${YAML}exclude: [old, "*.draft.md", "deep/**/x.md"]\n`,
    "old/a.md": wrong,
    "old/in/b.md": wrong,
    "c.draft.md": wrong,
    "deep/in/x.md": wrong,
    "prompts/old.prompt.md": "Hello {name",
    "sub/d.md": wrong,
  });
  const told = async (...args: readonly string[]) =>
    (await project.run(["check", ...args])).stderr.trimEnd().split("\n").map((line) =>
      line.replace(/: .*/, "")
    );
  assert.deepEqual(await told(), [
    "sub/d.md:2:1",
    "prompts/old.prompt.md:1:7",
    "3 files, 2 errors, 0 warnings",
  ]);
  assert.deepEqual(await told("--exclude", "sub", "--exclude", "*.prompt.md"), [
    "1 file, 0 errors, 0 warnings",
  ]);
  assert.deepEqual((await told("old/a.md"))[0], "old/a.md:2:1", "what is named is looked at");
});

Deno.test("check: every folder of the examples is right", async () => {
  for await (const { name } of Deno.readDir(join(PROJECT_ROOT, "examples"))) {
    const { code, stderr } = await orrery(["check"], { cwd: join(PROJECT_ROOT, "examples", name) });
    assert.equal(code, 0, `${name}: ${stderr}`);
  }
});

Deno.test("check: without orrery.yaml, and from any folder, it finds the same, with the files as they are typed there", async () => {
  const broken = { "prompts/a.prompt.md": "Hello {name\n", "prompts/b.prompt": "Hello {{name\n" };
  await using project = await testProject({
    ...broken,
    "docs/a.md": "@return\nblock: nowhere\n",
    "docs/prompts/_draft/c.prompt.md": "Hello {name\n",
  });
  const lines = async (cwd: string, ...args: string[]): Promise<readonly string[]> => {
    const { stderr } = await orrery(["check", ...args], { cwd: join(project.folder, cwd), env: project.env });
    return stderr.trimEnd().split("\n").map((line) =>
      /^[^ ]+: (?:error|warning): [^:"]*|.*$/.exec(line)?.[0] ?? ""
    );
  };
  const a = "a.prompt.md:1:7: error: prompt ";
  const b = "b.prompt:2:1: error: cannot read the Handlebars of the body";
  const document = "a.md:2:1: error: no block ";
  const last = (files: number, errors: number, warnings = 0) =>
    `${files} file${files === 1 ? "" : "s"}, ${errors} error${errors === 1 ? "" : "s"}, ${warnings} warnings`;
  assert.deepEqual(await lines("."), [`docs/${document}`, `prompts/${a}`, `prompts/${b}`, last(3, 3)]);
  assert.deepEqual(await lines(".", "prompts"), [`prompts/${a}`, `prompts/${b}`, last(2, 2)]);
  assert.deepEqual(await lines(".", "prompts/a.prompt.md"), [`prompts/${a}`, last(1, 1)]);
  assert.deepEqual(await lines(".", "docs"), [`docs/${document}`, last(1, 1)]);
  const unfound = (name: string) => `${name}:1:1: warning: nothing finds this prompt`;
  assert.deepEqual(await lines("prompts"), [
    unfound("a.prompt.md"),
    "a.prompt.md:1:7: error: prompt ",
    unfound("b.prompt"),
    b,
    last(2, 2, 2),
  ]);
  assert.deepEqual(await lines("docs", "../prompts/a.prompt.md"), [
    unfound("../prompts/a.prompt.md"),
    `../prompts/${a}`,
    "1 file, 1 error, 1 warning",
  ]);
  await project.write("orrery.yaml", YAML);
  assert.deepEqual(await lines("docs"), [document, `../prompts/${a}`, `../prompts/${b}`, last(4, 3)]);
});

Deno.test("check --format json, github and sarif: complete, on stdout, with nothing on stderr", async () => {
  await using project = await testProject({
    ...FILES,
    "orrery.yaml": YAML,
    "a,b: 100%.md": "@llm\nprmpt: x\n",
  });
  const at = ["check", "plan.md", "a,b: 100%.md"];
  const [json, github, sarif, none] = await Promise.all([
    project.run([...at, "--format", "json"]),
    project.run([...at, "--format", "github"]),
    project.run([...at, "--format", "sarif"]),
    project.run(["check", "notes.md", "--format", "sarif"]),
  ]);
  assert.deepEqual([json, github, sarif].map(({ code, stderr }) => [code, stderr]), [[2, ""], [2, ""], [
    2,
    "",
  ]]);
  assert.deepEqual(JSON.parse(json.stdout), [
    {
      file: "plan.md",
      line: 2,
      column: 1,
      severity: "warning",
      code: "W109",
      message: 'input "topic" needs a value (--input topic=...)',
    },
    {
      file: "plan.md",
      line: 12,
      column: 1,
      severity: "error",
      code: "E108",
      message: 'unknown tool "ReadFlie" (did you mean "ReadFile"?)',
    },
    {
      file: "plan.md",
      line: 13,
      column: 1,
      severity: "error",
      code: "E103",
      message: 'no block "intrp" (did you mean "intro"?)',
    },
    {
      file: "plan.md",
      line: 15,
      column: 1,
      severity: "warning",
      code: "W106",
      message: "@shell needs run permission (--allow-run)",
    },
    {
      file: "a,b: 100%.md",
      line: 2,
      column: 1,
      severity: "error",
      code: "E102",
      message: '@llm has no parameter "prmpt" (did you mean "prompt"?)',
    },
  ]);
  assert.deepEqual(github.stdout.trimEnd().split("\n").slice(2), [
    '::error file=plan.md,line=13,col=1::no block "intrp" (did you mean "intro"?)',
    "::warning file=plan.md,line=15,col=1::@shell needs run permission (--allow-run)",
    '::error file=a%2Cb%3A 100%25.md,line=2,col=1::@llm has no parameter "prmpt" (did you mean "prompt"?)',
  ]);
  const log = JSON.parse(sarif.stdout);
  const [run] = log.runs;
  assert.deepEqual([log.$schema, log.version, log.runs.length], [
    "https://json.schemastore.org/sarif-2.1.0.json",
    "2.1.0",
    1,
  ]);
  assert.equal(run.tool.driver.name, "orrery");
  const { rules } = run.tool.driver;
  for (const result of run.results) {
    assert.equal(rules[result.ruleIndex].id, result.ruleId);
    assert.equal(rules[result.ruleIndex].defaultConfiguration.level, result.level);
  }
  assert.equal(new Set(rules.map(({ id }: { id: string }) => id)).size, rules.length);
  assert.deepEqual(run.results.at(-1), {
    ruleId: "E102",
    ruleIndex: 4,
    level: "error",
    message: { text: '@llm has no parameter "prmpt" (did you mean "prompt"?)' },
    locations: [{
      physicalLocation: {
        artifactLocation: { uri: "a%2Cb%3A%20100%25.md", uriBaseId: "%SRCROOT%" },
        region: { startLine: 2, startColumn: 1 },
      },
    }],
  });
  assert.deepEqual([none.code, JSON.parse(none.stdout).runs[0].results], [0, []]);
});

Deno.test("check: words that name nothing to check are told together, and nothing else is", async () => {
  await using project = await testProject({ "orrery.yaml": YAML, "a.txt": "", "a.ctx": "# A\n" });
  const [wrong, result, empty] = await Promise.all([
    project.run(["check", "a.txt", "gone.md", "a.ctx"]),
    project.run(["check", "a.ctx"]),
    project.run(["check", "."]),
  ]);
  assert.deepEqual([wrong.code, wrong.stderr], [
    2,
    'error: Cannot check "a.txt": expected a document (.md), a call file (.calls), an agent (.agent.yml, .agent.yaml), a prompt (.prompt.md, .prompt), a collection (.collection.yml), tests (.conversation-test.yml, .document-test.yml), orrery.yaml or a folder\n' +
    'error: Cannot check "gone.md": it is not there\nTry: orrery check --help\n',
  ]);
  assert.deepEqual([result.code, result.stderr], [
    2,
    'error: "a.ctx" is the result of a run: run "a.md" instead\n1 file, 1 error, 0 warnings\n',
  ]);
  assert.deepEqual([empty.code, empty.stderr], [0, "1 file, 0 errors, 0 warnings\n"]);
});

Deno.test("check: in a terminal the source line, a caret, the code and a hint stand below", async () => {
  const missing = await noTerminal();
  if (missing !== undefined) return console.log(`not run here: ${missing}`);
  await using project = await testProject({ "orrery.yaml": YAML, "a.md": "@return\nblock: x\n" });
  const { code, screen } = await atTerminal(["check", "a.md"], { cwd: project.folder, env: project.env })
    .end();
  assert.equal(code, 2);
  assert.deepEqual(screen.trimEnd().split(/\r?\n/), [
    'a.md:2:1: error: no block "x" [E103]',
    "  |",
    "2 | block: x",
    "  | ^",
    "hint: orrery show document FILE lists the ids of all blocks",
    "1 file, 1 error, 0 warnings",
  ]);
});

Deno.test("completions: run, check and graph complete documents as files; check each of its words", async () => {
  await using project = await testProject({ "plan one.md": "", "plain.calls": "" });
  const offered = await bashCompletions([
    ["orrery", "run", "plan"],
    ["orrery", "graph", "plan"],
    ["orrery", "check", "pla"],
    ["orrery", "check", "plain.calls", "--format", "text", "plan"],
    ["orrery", "check", "--format", "s"],
    ["orrery", "show", "docu"],
    ["orrery", "list", "docu"],
  ], { cwd: project.folder, env: project.env });
  if (offered === undefined) return;
  assert.deepEqual(offered.stdout.trimEnd().split("\n").map((line) => line.split("|").sort().join("|")), [
    "|plan one.md",
    "|plan one.md",
    "|plain.calls|plan one.md",
    "|plan one.md",
    "|sarif",
    "|document",
    "|documents",
  ], offered.stderr);
});
