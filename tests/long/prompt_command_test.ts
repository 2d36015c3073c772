// `orrery list prompts`, `list profiles`, `show prompt`, `show profile`, and the types of prompts that are written.
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type AnyPrompt, discoverPrompts } from "../../mod.ts";
import { bashCompletions } from "../_bash_completions.ts";
import { type TestProject, testProject } from "../_project.ts";
import { orrery, runProgram } from "../_run.ts";

const RESEARCH = fileURLToPath(new URL("../../examples/research/", import.meta.url));
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));

/** One prompt of every kind, and of every way to be wrong. */
const FILES = {
  "orrery.yaml": [
    "agents:",
    "  - { name: helper, model: script/echo, systemPrompt: greet, limits: { maxWait: 5 }, modelArgs: { apiKey: hush-hush-key } }",
    "  - { name: plain, model: fast, system: You help. }",
    "",
  ].join("\n"),
  "prompts/greet.prompt.md": `---
description: Says hello
tools: [ReadFile, "./_lib/tools.ts#lookUp", Nope, far__away]
tags: { xmlTags: [why], requiredXmlTags: [answer], requiredMdTags: [ts], signalTags: [DONE] }
mcp: [{ label: docs, url: "https://me:hush-password@example.com/?api_key=hush-key" }]
addons: { webSearch: true }
handler: { onException: "No: {error_message}" }
---
Hello {name}, from {place.city:>{width}}. {{Raw}} "quoted" */ PartsOf<
`,
  "prompts/a/base.ts": `import { definePrompt, tags } from "orrery";
import "./../_lib/loaded.ts";

export const task = definePrompt({
  path: "deep/task",
  template: "Do {what}",
  parser: tags({ requiredXmlTags: ["n"] }).refine(({ xmlTags }) => ({ n: Number(xmlTags.n[0]) })),
  tools: ["ReadFile"],
  handler: { onInterrupt: () => null },
});
export default definePrompt({ template: "default {x}" });
const odd = definePrompt({ path: "odd path", template: "no variables" });
export { odd as "odd name" };
`,
  "prompts/child.prompt.md": "---\nextends: a/base/deep/task\n---\n",
  "prompts/grandchild.prompt.md": "---\nextends: child\ntools: []\n---\nOther {thing}\n",
  "prompts/form.prompt.md": `---
format:
  type: object
  required: [verdict]
  properties:
    verdict: { enum: [good, bad] }
    score: { type: number, default: 1 }
---
Judge {it}
`,
  "prompts/zod.prompt.md": "---\nformat: ./_lib/tools.ts#Answer\n---\nJudge {it}\n",
  "prompts/dot.prompt": `---
model: script/echo
input:
  schema: { name: string, "age?": number, city: string }
  default: { city: Bern }
output:
  schema: { greeting: string }
---
Hello {{name}} from {{city}}
`,
  "prompts/dotchild.prompt.md": "---\nextends: dot\n---\nBye {{name}}\n",
  "prompts/_lib/tools.ts": `import { defineGadget } from "orrery";
import { z } from "zod";
export const lookUp = defineGadget({ name: "look_up", description: "Looks up", input: z.object({ q: z.string() }) });
export const Answer = z.object({ n: z.coerce.number(), tags: z.array(z.string()).default([]) });
`,
  "prompts/_lib/loaded.ts": 'Deno.writeTextFileSync(new URL("../../loaded.txt", import.meta.url), "");\n',
  "tactics/errand.ts": `import { defineTactic } from "orrery";
export const errand = defineTactic({ name: "errand", agents: ["helper", "missing"], call: () => 1 });
`,
};

/** A tactic of the example, whose prompts come with their types. */
const TACTIC = `import { defineTactic } from "orrery";
import { typedPrompts } from "./example.ts";
export const short = defineTactic({
  name: "short",
  agents: ["researcher"],
  async call(question: string, { agents, prompts }): Promise<number> {
    const task = typedPrompts(prompts).get("research/agent/task").link({ save_note: ({ title }) => title });
    const { parsed } = await agents.researcher.open({ date: "today" }).ask(task, { question });
    return parsed.confidence;
  },
});
`;

const TRUST = "--trust-code";

async function isThere(project: TestProject, path: string): Promise<boolean> {
  return await Deno.stat(join(project.folder, path)).then(() => true, () => false);
}

Deno.test("list prompts: path, answer, tools, variables and file; problems with their line", async () => {
  await using project = await testProject({
    ...FILES,
    "prompts/broken.prompt.md": "---\ntoools: []\n---\nHello {name",
  });
  const [page, data, names, all, everything] = await Promise.all([
    project.run(["list", "prompts", TRUST]),
    project.run(["list", "prompts", TRUST, "--json"]),
    project.run(["list", "prompts", TRUST, "--names"]),
    project.run(["list", TRUST]),
    project.run(["list", TRUST, "--json"]),
  ]);
  assert.equal(
    page.stdout,
    `PATH              ANSWER  TOOLS                               VARIABLES           FILE
a/base            text    -                                   x                   prompts/a/base.ts
a/base/deep/task  tags    ReadFile                            what                prompts/a/base.ts
a/base/odd path   text    -                                   -                   prompts/a/base.ts
child             tags    ReadFile                            what                prompts/child.prompt.md
dot               JSON    -                                   name, age, city     prompts/dot.prompt
dotchild          JSON    -                                   -                   prompts/dotchild.prompt.md
form              JSON    -                                   it                  prompts/form.prompt.md
grandchild        tags    -                                   thing               prompts/grandchild.prompt.md
greet             tags    ReadFile, look_up, Nope, far__away  name, place, width  prompts/greet.prompt.md
zod               JSON    -                                   it                  prompts/zod.prompt.md

TACTIC  AGENTS           FILE
errand  helper, missing  tactics/errand.ts
`,
  );
  assert.equal(
    page.stderr,
    'prompts/broken.prompt.md:2: unknown key "toools". Did you mean "tools"?\n' +
      'prompts/broken.prompt.md:4: prompt "broken": template 1:7: unclosed "{": write "{{" for a literal brace\n',
  );
  assert.equal(page.code, 0);
  const json = JSON.parse(data.stdout);
  assert.deepEqual(json.prompts[1], {
    path: "a/base/deep/task",
    answer: "tags",
    tools: ["ReadFile"],
    variables: ["what"],
    file: "prompts/a/base.ts",
    export: "task",
  });
  assert.equal(json.prompts[8].description, "Says hello");
  assert.deepEqual(json.tactics, [{
    name: "errand",
    agents: ["helper", "missing"],
    file: "tactics/errand.ts",
    line: 2,
  }]);
  assert.deepEqual([json.notLoaded, json.problems.length, json.problems[0].line], [[], 2, 2]);
  // A path with a blank is two words to a shell.
  assert.deepEqual(names.stdout.trimEnd().split("\n"), [
    "a/base",
    "a/base/deep/task",
    "child",
    "dot",
    "dotchild",
    "form",
    "grandchild",
    "greet",
    "zod",
    "errand",
  ]);
  const heads = all.stdout.split("\n").filter((line) => /^[A-Z]+ +[A-Z]+ +[A-Z]/.test(line)).map((line) =>
    line.split(" ", 1)[0]
  );
  assert.deepEqual(heads, ["NAME", "PATH", "TACTIC", "PROFILE"]);
  assert.match(all.stderr, /^prompts\/broken\.prompt\.md:2: /m);
  assert.deepEqual(Object.keys(JSON.parse(everything.stdout)), [
    "gadgets",
    "prompts",
    "tactics",
    "notLoaded",
    "problems",
    "profiles",
  ]);
});

Deno.test("list: a project without prompts has gadgets only, and says where prompts would be", async () => {
  await using project = await testProject({ "orrery.yaml": "" });
  const [all, prompts, profiles] = await Promise.all([
    project.run(["list"]),
    project.run(["list", "prompts"]),
    project.run(["list", "profiles"]),
  ]);
  assert.doesNotMatch(all.stdout, /^(PATH|TACTIC|PROFILE)|\n\n/m);
  assert.equal(all.stderr, "");
  assert.deepEqual([prompts.stdout, prompts.code, profiles.stdout, profiles.code], ["", 0, "", 0]);
  assert.match(prompts.stderr, /^The project has no prompts: .* in prompts\/, .*\n$/);
  assert.match(profiles.stderr, /^The project has no profiles: .*\n$/);
});

Deno.test("modules are code: without trust they are listed as not loaded, and nothing of them runs", async () => {
  await using project = await testProject(FILES);
  const runs = await Promise.all([
    project.run(["list", "prompts"]),
    project.run(["list", "prompts", "--json"]),
    project.run(["list"]),
    project.run(["list", "profiles"]),
    project.run(["list", "prompts", "--names"]),
    project.run(["show", "prompt", "dot"]),
    project.run(["show", "prompt", "a/base/deep/task"]),
    project.run(["list", "prompts", "--write-types"]),
  ]);
  assert.deepEqual([await isThere(project, "loaded.txt"), await isThere(project, "prompts.gen.ts")], [
    false,
    false,
  ]);
  const [page, data, all, profiles, names, dot, missing, types] = runs;
  assert.match(page.stdout, /^a\/base\/… +not loaded +\? +\? +prompts\/a\/base\.ts$/m);
  assert.match(page.stdout, /^… +not loaded +tactics\/errand\.ts$/m);
  assert.match(
    page.stderr,
    /^2 modules are not loaded: code of the project; --trust-code loads them$/m,
  );
  assert.match(
    page.stderr,
    /^prompts\/zod\.prompt\.md:2: format: cannot load \.\/_lib\/tools\.ts: this module .* was not loaded: --trust-code loads it$/m,
  );
  assert.deepEqual(JSON.parse(data.stdout).notLoaded, ["prompts/a/base.ts", "tactics/errand.ts"]);
  assert.match(all.stderr, /--trust-code loads them/);
  // The system prompt of a profile may be in a module: that it was not found says nothing.
  assert.match(profiles.stdout, /^helper +script\/echo +greet +maxWait 5$/m);
  assert.equal(profiles.stderr, "");
  assert.deepEqual(names.stdout, "dot\ndotchild\nform\n");
  assert.equal(dot.code, 0);
  assert.equal(missing.code, 2);
  assert.match(
    missing.stderr,
    /^error: prompts\/a\/base\.ts:1: this module .* was not loaded: --trust-code loads it$/m,
  );
  assert.equal(types.code, 2);
  assert.match(
    types.stderr,
    /^error: prompts\.gen\.ts is not written, since prompts would be missing in it:\n(error: prompts\/.*\n)+error: 1 module is not loaded: .*; --trust-code loads it\n/,
  );
});

Deno.test("an acceptance names no code, so it loads none: a flag does, each time", async () => {
  await using project = await testProject({ ...FILES, "orrery.yaml": "grants: { tool: trusted }\n" });
  for (const flag of ["--trust-project", "--quiet", "--trust-code", "--quiet"]) {
    const args = flag === "--quiet" ? ["list", "prompts"] : ["list", "prompts", flag];
    const { stdout } = await project.run(args);
    assert.match(
      stdout,
      flag === "--trust-code" ? /^a\/base\/deep\/task +tags/m : /^a\/base\/… +not loaded/m,
    );
  }
});

Deno.test("a project with .mcp.json: who accepts it accepts it for prompts and for gadgets, asked once", async () => {
  const module = FILES["prompts/a/base.ts"];
  const settings = {
    ".mcp.json": '{ "mcpServers": { "none": { "command": "none" } } }',
    "orrery.yaml": "grants: { tool: trusted }\n",
  };
  const files = { ...settings, "prompts/a/base.ts": module, "prompts/_lib/loaded.ts": "" };
  const ask = ["run", "a/base", "--input", "x=1", "--model", "script/echo", "--quiet", "--trust-code"];
  for (const [first, second] of [[ask, ["list", "gadgets"]], [["list", "gadgets"], ask]] as const) {
    await using project = await testProject(files);
    assert.equal((await project.run(ask.slice(0, -1))).code, 2);
    await project.run([...first, "--trust-project"]);
    const { code, stderr } = await project.run(second);
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /accept/);
    const kept = await Deno.readTextFile(join(project.env.XDG_STATE_HOME ?? "", "orrery/trusted.json"));
    assert.equal(kept.match(/[0-9a-f]{64}/g)?.length, 1, kept);
  }
});

Deno.test("a prompt that cannot be had ends a command as wrong usage does", async () => {
  await using project = await testProject();
  const { code, stdout, stderr } = await project.run(["show", "prompt", "a"]);
  const said = 'error: There is no prompt "a": the project has no prompts\nTry: orrery show --help\n';
  assert.deepEqual([code, stdout, stderr], [2, "", said]);
});

Deno.test("list profiles, show profile: model, system, limits; what may be secret is hidden", async () => {
  await using project = await testProject({
    ...FILES,
    "orrery.yaml": `${FILES["orrery.yaml"]}  - agents/lost.yaml\n`,
    "agents/lost.yaml": "name: lost\nmodel: fast\nsystemPrompt: nowhere\n",
  });
  const [page, data, names, helper, plain, wrong] = await Promise.all([
    project.run(["list", "profiles", TRUST]),
    project.run(["list", "profiles", TRUST, "--json"]),
    project.run(["list", "profiles", TRUST, "--names"]),
    project.run(["show", "profile", "helper", TRUST]),
    project.run(["show", "profile", "plain", TRUST, "--json"]),
    project.run(["show", "profile", "hepler", TRUST]),
  ]);
  assert.equal(
    page.stdout,
    `PROFILE  MODEL        SYSTEM       LIMITS
helper   script/echo  greet        maxWait 5
plain    fast         "You help."  default
`,
  );
  assert.match(page.stderr, /^agents\/lost\.yaml:3: agent "lost": prompt "nowhere" not found\. /);
  const [first] = JSON.parse(data.stdout).profiles;
  assert.deepEqual([first.limits.maxWait, first.limits.interruptSteps, first.modelArgs], [5, 5, {
    apiKey: "(hidden)",
  }]);
  assert.equal(names.stdout, "helper\nplain\n");
  assert.match(
    helper.stdout,
    /^helper\n\nModel: script\/echo\n\nSystem prompt: greet {2}\(prompts\/greet\.prompt\.md\)\n\nLimits:\n/,
  );
  assert.match(helper.stdout, /^ {2}maxWait +5$/m);
  assert.match(helper.stdout, /^ {2}parallelTools +8 +default$/m);
  assert.match(helper.stdout, /^Tactics that it works for: errand$/m);
  assert.equal(JSON.parse(plain.stdout).system, "You help.");
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /^error: There is no profile "hepler"\. Did you mean "helper"\?$/m);
  for (const { stdout, stderr } of [page, data, helper]) assert.doesNotMatch(stdout + stderr, /hush/);
});

Deno.test("show prompt: template, contract, tools and the rest on one page", async () => {
  await using project = await testProject(FILES);
  const { stdout, stderr, code } = await project.run(["show", "prompt", "/greet/", TRUST]);
  assert.deepEqual([stderr, code], ["", 0]);
  assert.match(
    stdout,
    /^greet {2}\(prompts\/greet\.prompt\.md:1\)\n\nTemplate:\n {2}Hello \{name\}, from \{place\.city:>\{width\}\}\. \{\{Raw\}\}/,
  );
  assert.match(stdout, /^Variables: name, place, width; without a value: name, place, width$/m);
  assert.match(
    stdout,
    /^Answer: text with\n {2}<why>\.\.\.<\/why> +optional\n {2}<answer>\.\.\.<\/answer> +required\n {2}```ts \.\.\. ``` +required\n {2}<DONE> +signal: there or not\n\n/m,
  );
  assert.match(stdout, /^ {2}ReadFile +catalogue +Returns the text of a file/m);
  assert.match(stdout, /^ {2}look_up +not linked +Looks up$/m);
  assert.match(stdout, /^ {2}Nope +not in the catalogue$/m);
  assert.match(stdout, /^ {2}far__away +MCP server, not started here$/m);
  assert.match(
    stdout,
    /^ {2}\{"label":"docs","url":"https:\/\/\(hidden\)@example\.com\/\?api_key=\(hidden\)"\}$/m,
  );
  assert.match(stdout, /^Addons: \{"webSearch":true\}$/m);
  assert.match(
    stdout,
    /^ {2}onException +No: \{error_message\}\n {2}onInterrupt +\{call_results\} \(default\)$/m,
  );
  assert.match(stdout, /^Hashes: prompt [0-9a-f]{12}, contract [0-9a-f]{12}$/m);
  assert.doesNotMatch(stdout, /hush/);
});

Deno.test("show prompt: as it is sent, when all values are there; what is wrong with them", async () => {
  await using project = await testProject({ ...FILES, "values.json": '{"name":"<b>","width":6,"more":1}' });
  const values = ["--input-json", "@values.json"];
  const place = '{"place":{"city":"Zug"}}';
  const [greet, partly, wrong, dot, dotWithout, dotWrong, task, data] = await Promise.all([
    project.run(["show", "prompt", "greet", TRUST, ...values, "--input", "-"], { stdin: place }),
    project.run(["show", "prompt", "greet", TRUST, ...values]),
    project.run(["show", "prompt", "greet", TRUST, ...values, "-i", "place=Zug"]),
    project.run(["show", "prompt", "dot", "-i", "name=Ada"]),
    project.run(["show", "prompt", "dot"]),
    project.run(["show", "prompt", "dot", "-i", "name=Ada", "-i", "nam=x"]),
    project.run(["show", "prompt", "a/base/deep/task", TRUST]),
    project.run(["show", "prompt", "form", "--json", "-i", "it=this"]),
  ]);
  assert.match(greet.stdout, /^Text:\n {2}Hello <b>, from {4}Zug\. \{Raw\} "quoted"/m);
  assert.match(greet.stdout, /^Variables: name, place, width\nNot used, there is no such variable: more$/m);
  assert.match(partly.stdout, /^Template:\n[^]*; without a value: place$/m);
  assert.deepEqual([wrong.code, wrong.stdout], [2, ""]);
  assert.match(wrong.stderr, /^error: prompt "greet": \{place\.city:>\{width\}\}: no "city" in /);
  assert.match(dot.stdout, /^Text:\n {2}Hello Ada from Bern$/m);
  assert.match(
    dotWithout.stdout,
    /^Template:\n {2}Hello \{\{name\}\}[^]*^Variables: name, age, city; without a value: name$/m,
  );
  assert.match(dotWithout.stdout, /^Answer: JSON of this schema\n {2}\{\n {4}"type": "object",$/m);
  assert.equal(dotWrong.code, 2);
  assert.match(dotWrong.stderr, /^error: - nam: is not allowed$/m);
  assert.match(task.stdout, /^a\/base\/deep\/task {2}\(prompts\/a\/base\.ts:4, export task\)$/m);
  assert.match(
    task.stdout,
    /^ {2}<n>\.\.\.<\/n> {2}required\n {2}A parser of its module goes on with what they hold\.$/m,
  );
  assert.match(task.stdout, /^ {2}onInterrupt +a function of its module$/m);
  const json = JSON.parse(data.stdout);
  assert.deepEqual(
    [json.text, json.missing, json.answer.kind, json.answer.schema.required, json.handler.onInterrupt],
    ["Judge this", [], "json", ["verdict"], { text: "{call_results}", isDefault: true }],
  );
});

Deno.test("show: a path that is none, a tactic, and words that do not go together", async () => {
  await using project = await testProject(FILES);
  const [near, tactic, noName, input, write, text] = await Promise.all([
    project.run(["show", "prompt", "a/base/deep/tusk", TRUST]),
    project.run(["show", "prompt", "errand", TRUST]),
    project.run(["show", "prompt"]),
    project.run(["show", "gadget", "ReadFile", "-i", "a=b"]),
    project.run(["list", "gadgets", "--write-types"]),
    project.run(["show", "prompt", "greet", "-i", "name"]),
  ]);
  assert.equal(near.code, 2);
  assert.match(near.stderr, /Did you mean "a\/base\/deep\/task"/);
  assert.equal(
    tactic.stdout,
    `errand  (tactics/errand.ts:2)

A tactic.

Agents:
  helper   script/echo
  missing  not configured: agents: of orrery.yaml has no such entry
`,
  );
  assert.deepEqual([noName.code, input.code, write.code, text.code], [2, 2, 2, 2]);
  assert.match(
    noName.stderr,
    /orrery show prompt needs NAME: the path of the prompt; all: orrery list prompts\n/,
  );
  assert.match(input.stderr, /--input and --input-json belong to orrery show prompt\n/);
  assert.match(write.stderr, /--write-types belongs to orrery list prompts\n/);
});

Deno.test("write-types: the types are right, and a wrong argument is an error of the compiler", async () => {
  await using project = await testProject(FILES);
  const { stdout, stderr } = await project.run(["list", "prompts", "--write-types", TRUST]);
  assert.deepEqual([stdout, stderr], ["prompts.gen.ts: written, 10 prompts\n", ""]);
  const head = `import { PromptRegistry } from "orrery";
import { typedPrompts } from "./prompts.gen.ts";
const prompts = typedPrompts(new PromptRegistry());
`;
  await project.write(
    "right.ts",
    `${head}export const texts: string[] = [
  prompts.get("greet")({ name: 1, place: { city: "Bern" }, width: 3 }),
  prompts.get("a/base/deep/task")({ what: "x" }),
  prompts.get("a/base")({ x: 1 }),
  prompts.get("a/base/odd path")(),
  prompts.get("child")({ what: "x" }),
  prompts.get("grandchild")({ thing: "x" }),
  prompts.get("dot")({ name: "Ada", age: 3 }),
  prompts.get("dotchild")({ name: "Ada" }),
];
const { xmlTags, mdTags, signalTags } = await prompts.get("greet").parse("");
export const first: string = xmlTags.answer[0];
export const block: string = mdTags.ts[0];
export const done: boolean = signalTags.DONE;
export const n: number = (await prompts.get("grandchild").parse("")).n;
export const { verdict, score } = await prompts.get("form").parse("");
export const isGood: boolean = verdict === "good" && score.toFixed() === "1";
export const list: string[] = (await prompts.get("zod").parse("")).tags;
export const greeting: string = (await prompts.get("dot").parse("")).greeting;
export const linked = prompts.get("greet").link({ look_up: ({ q }) => q.toUpperCase() });
export const tool: "ReadFile" = prompts.get("child").tools[0];
export const some: readonly string[] = prompts.keys();
`,
  );
  const wrong: readonly (readonly [code: string, reason: RegExp])[] = [
    [`prompts.get("gret");`, /'"gret"' is not assignable/],
    [`prompts.get("greet")({ nam: 1, place: 1, width: 1 });`, /'nam' does not exist/],
    [`prompts.get("a/base/deep/task")({});`, /'what' is missing/],
    [`prompts.get("grandchild")({ what: "x" });`, /'what' does not exist/],
    [`prompts.get("dot")({ name: 1 });`, /'number' is not assignable to type 'string'/],
    [`(await prompts.get("greet").parse("")).xmlTags.answr;`, /'answr' does not exist/],
    [`(await prompts.get("form").parse("")).verdict === "god";`, /no overlap/],
    [`prompts.get("greet").link({ look_down: () => 1 });`, /'look_down' does not exist/],
  ];
  await project.write("wrong.ts", head + wrong.map(([code]) => `${code}\n`).join(""));
  const example = await orrery([
    "list",
    "prompts",
    TRUST,
    `--write-types=${join(project.folder, "example.ts")}`,
  ], {
    cwd: RESEARCH,
    env: project.env,
  });
  assert.deepEqual([example.code, example.stderr], [0, ""]);
  await project.write("tactic.ts", TACTIC);
  const check = await runProgram(
    [
      Deno.execPath(),
      "check",
      "--quiet",
      "--no-lock",
      "--config",
      CONFIG,
      "prompts.gen.ts",
      "right.ts",
      "wrong.ts",
      "tactic.ts",
    ],
    { cwd: project.folder, env: { NO_COLOR: "1" }, timeoutMs: 180_000 },
  );
  const errors = check.stderr.split(/\n\n(?=TS\d+ \[ERROR\]: \S)/).filter((text) => text.includes("[ERROR]"));
  const found = errors.map((text) => /^ {4}at \S*\/(\w+\.\w+(?:\.ts)?):(\d+):/m.exec(text)?.slice(1));
  assert.deepEqual(found, wrong.map((_, index) => ["wrong.ts", `${index + 4}`]), check.stderr);
  wrong.forEach(([, reason], index) => assert.match(errors[index] ?? "", reason));
});

Deno.test("write-types: the same prompts give the same file, which is written only when it changes", async () => {
  await using project = await testProject(FILES);
  const write = (...more: string[]) => project.run(["list", "prompts", "--write-types", TRUST, ...more]);
  await write();
  const [text, { mtime, ino }] = [
    await project.read("prompts.gen.ts"),
    await Deno.stat(join(project.folder, "prompts.gen.ts")),
  ];
  assert.equal((await write()).stdout, "prompts.gen.ts: nothing has changed, 10 prompts\n");
  const after = await Deno.stat(join(project.folder, "prompts.gen.ts"));
  assert.deepEqual([after.mtime, after.ino], [mtime, ino]);
  assert.match(text, /^\/\/ Made by `orrery list prompts --write-types` .*\n\/\/ deno-fmt-ignore-file\n/);
  assert.match(
    text,
    /^import type \{ ArgsOf, InputOf, Prompt, PromptRegistry, TagResult, ToolRef \} from "orrery";$/m,
  );
  assert.match(
    text,
    /^ {2}readonly "a\/base\/deep\/task": typeof import\("\.\/prompts\/a\/base\.ts"\)\["task"\];$/m,
  );
  await project.write("prompts/new.prompt.md", "New");
  const there =
    (await project.run(["list", "prompts", "--write-types=../types/p.ts", TRUST, "--json"])).stdout;
  assert.deepEqual(JSON.parse(there).prompts, 11);
  assert.match(
    await Deno.readTextFile(join(project.folder, "../types/p.ts")),
    /typeof import\("\.\.\/project\/prompts\/a\/base\.ts"\)/,
  );
  assert.deepEqual(JSON.parse((await write("--json")).stdout), {
    file: "prompts.gen.ts",
    written: true,
    prompts: 11,
  });
  const left = [...Deno.readDirSync(project.folder)].map(({ name }) => name).filter((name) =>
    /tmp/.test(name)
  );
  assert.deepEqual(left, []);
});

Deno.test("write-types: no file of somebody else is written over, and none that lacks prompts", async () => {
  await using project = await testProject({ ...FILES, "mine.ts": "export {};\n" });
  const write = (flag: string, ...more: string[]) => project.run(["list", "prompts", flag, TRUST, ...more]);
  const [mine, kind, twice] = await Promise.all([
    write("--write-types=mine.ts"),
    write("--write-types=types.json"),
    write("--write-types", "--write-types=a.ts"),
  ]);
  assert.deepEqual([mine.code, kind.code, twice.code], [2, 2, 2]);
  assert.match(mine.stderr, /^error: mine\.ts is there, and was not made by this command: /);
  assert.match(kind.stderr, /^error: --write-types=types\.json: expected the path of a \.ts file\n/);
  assert.match(twice.stderr, /^error: --write-types is given twice\n/);
  assert.equal(await project.read("mine.ts"), "export {};\n");
  await project.write("prompts/broken.prompt.md", "Hello {name");
  const broken = await write("--write-types");
  assert.equal(broken.code, 2);
  assert.match(
    broken.stderr,
    /^error: prompts\.gen\.ts is not written, [^]*\nerror: prompts\/broken\.prompt\.md:1: .*unclosed/,
  );
  assert.equal(await isThere(project, "prompts.gen.ts"), false);
});

Deno.test("write-types: nothing is written through a link that leads out of the project", async () => {
  await using project = await testProject({ "prompts/a.prompt.md": "Hi\n" });
  const outside = join(await Deno.realPath(join(project.folder, "..")), "outside");
  await Deno.mkdir(outside);
  await Deno.symlink(join(outside, "new.ts"), join(project.folder, "prompts.gen.ts"));
  await Deno.symlink(outside, join(project.folder, "types"));
  for (
    const [flag, shown, real] of [["", "prompts.gen.ts", "new.ts"], ["=types/p.ts", "types/p.ts", "p.ts"]]
  ) {
    const { code, stderr } = await project.run(["list", "prompts", `--write-types${flag}`]);
    assert.equal(code, 2);
    assert.equal(
      stderr.split("\n", 1)[0],
      `error: ${shown} is not written: a link leads out of the project, to ${join(outside, real ?? "")}; ` +
        "remove the link, or name that file",
    );
  }
  assert.deepEqual(await Array.fromAsync(Deno.readDir(outside)), []);
  const named = await project.run(["list", "prompts", `--write-types=${join(outside, "new.ts")}`]);
  assert.equal(named.code, 0, named.stderr);
});

Deno.test("write-types: controls in the names of files are written as escapes", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows has no such names of files");
  await using project = await testProject({
    "prompts/a\n\u001b*/b\r.prompt.md": "---\nname: a\u007f\u2028\n---\nHi\n",
    "prompts/lib\n\u001b[2J\u202e.ts": "",
  });
  const { code, stderr } = await project.run(["list", "prompts", "--write-types", TRUST]);
  assert.deepEqual([code, stderr], [0, ""]);
  const text = await project.read("prompts.gen.ts");
  assert.doesNotMatch(text, /(?!\n)\p{Cc}|[\u2028\u202e]/u);
  assert.ok(text.includes("/** prompts/a\\u000a\\u001b*\\/b\\u000d.prompt.md */\n"), text);
  assert.ok(text.includes('readonly "a\\n\\u001b*/a\\u007f\\u2028": TextPrompt<'), text);
  assert.ok(
    text.includes('"prompts/lib\\n\\u001b[2J\\u202e.ts": () => import("./prompts/lib%0A%1B[2J\\u202e.ts")'),
    text,
  );
});

Deno.test("what a module of the project tells the console is not on stdout", async () => {
  await using project = await testProject({
    "prompts/a.ts": `import { definePrompt } from "orrery";
console.log("log");
console.info("info");
console.debug("debug");
console.table([1]);
export default definePrompt({ template: "Hi" });
`,
  });
  const { code, stdout, stderr } = await project.run(["list", "prompts", "--json", TRUST]);
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).prompts.length, 1);
  assert.match(stderr, /^log\ninfo\ndebug\n/);
});

Deno.test("write-types: the modules that it names are those that a compiled program loads prompts from", async () => {
  await using project = await testProject(FILES);
  await project.run(["list", "prompts", "--write-types", TRUST]);
  const root = await Deno.realPath(project.folder);
  const { modules } = await import(pathToFileURL(join(root, "prompts.gen.ts")).href);
  assert.deepEqual(Object.keys(modules), ["prompts/_lib/tools.ts", "prompts/a/base.ts", "tactics/errand.ts"]);
  const { registry, problems } = await discoverPrompts({ root, modules });
  assert.deepEqual([registry.keys().length, problems], [10, []]);
  assert.equal(registry.get<AnyPrompt>("child")({ what: "x" }), "Do x");
  assert.equal((await modules["tactics/errand.ts"]()).errand.name, "errand");
});

Deno.test("completions offer prompt paths and profiles", async () => {
  await using project = await testProject({ ...FILES, "prompts/$(touch hacked).prompt.md": "x" });
  const offered = await bashCompletions([
    ["orrery", "run", "gr"],
    ["orrery", "run", "orr"],
    ["orrery", "run", "greet", "--profile", "hel"],
    ["orrery", "show", "--json", "prompt", "do"],
    ["orrery", "show", "profile", "pl"],
    ["orrery", "show", "gadget", "ReadF"],
    ["orrery", "show", "config", ""],
    ["orrery", "list", "pr"],
    ["orrery", "show", "prompt", "$"],
  ], { cwd: project.folder, env: project.env });
  if (offered === undefined) return;
  const { stdout, stderr } = offered;
  assert.deepEqual(stdout.trimEnd().split("\n"), [
    "|",
    "orrery.yaml|",
    "helper|",
    "dot|dotchild|",
    "plain|",
    "ReadFile|",
    "|",
    "prompts|profiles|",
    "|",
  ], stderr);
  assert.equal(await isThere(project, "hacked"), false, "a name is never run");
});

Deno.test("a JSON Schema as a type", async () => {
  const types: readonly (readonly [schema: Record<string, unknown>, type: string])[] = [
    [{}, "unknown"],
    [{ type: "string" }, "string"],
    [{ type: ["integer", "null"] }, "number | null"],
    [{ const: { a: [1, "x", null] } }, '{ a: [1, "x", null] }'],
    [{ enum: ["a", 1, true] }, '"a" | 1 | true'],
    [{ type: "array" }, "unknown[]"],
    [{ type: "array", items: { type: "string" } }, "string[]"],
    [{ type: "array", items: { type: ["string", "number"] } }, "(string | number)[]"],
    [{ type: "array", prefixItems: [{ type: "string" }], items: false }, "string[]"],
    [{ type: "object" }, "Record<string, unknown>"],
    [{ type: "object", additionalProperties: false }, "Record<string, never>"],
    [{ type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
    [{ properties: { a: true } }, "{ a?: unknown }"],
    [
      {
        type: "object",
        required: ["a", "b-c", "d"],
        properties: { a: { type: "string" }, "b-c": {}, e: { default: 1 } },
      },
      '{ a: string; "b-c": unknown; e: unknown; d: unknown }',
    ],
    [
      { type: "object", properties: { a: { type: "string" } }, additionalProperties: true },
      "{ a?: string; [name: string]: unknown }",
    ],
    [
      { anyOf: [{ type: "string" }, { type: "object", properties: { a: { type: "null" } } }] },
      "string | { a?: null }",
    ],
    [{ oneOf: [{ type: "string" }, {}] }, "unknown"],
    [
      { allOf: [{ properties: { a: { const: 1 } } }, { anyOf: [{ type: "string" }, { type: "number" }] }] },
      "{ a?: 1 } & (string | number)",
    ],
    [{ $ref: "#/$defs/x", $defs: { x: { type: "boolean" } } }, "boolean"],
    [
      { $ref: "#/$defs/x", $defs: { x: { type: "array", items: { $ref: "#/$defs/x" } } } },
      "unknown[]",
    ],
  ];
  const given = {
    type: "object",
    required: ["a", "b", "c"],
    properties: { a: {}, b: { default: 1 }, c: {} },
  };
  await using project = await testProject({
    ...Object.fromEntries(types.map(([schema], n) => [
      `prompts/answer${n}.prompt.md`,
      `---\nformat: ${JSON.stringify(schema)}\n---\n`,
    ])),
    "prompts/given.prompt": `---\ninput: { schema: ${JSON.stringify(given)}, default: { c: 1 } }\n---\n`,
  });
  const { code, stderr } = await project.run(["list", "prompts", "--write-types"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const lines = (await project.read("prompts.gen.ts")).split("\n");
  const typeOf = (path: string) => lines.find((line) => line.startsWith(`  readonly "${path}": `));
  for (const [n, [schema, type]] of types.entries()) {
    const wanted = `  readonly "answer${n}": TextPrompt<"", ${type}, readonly []>;`;
    assert.equal(typeOf(`answer${n}`), wanted, JSON.stringify(schema));
  }
  assert.equal(
    typeOf("given"),
    '  readonly "given": Prompt<"", Raw, readonly [], { a: unknown; b?: unknown; c?: unknown }>;',
  );
});

Deno.test("a module is named as a URL from the file that imports it", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows has no such names of files");
  await using project = await testProject({
    "orrery.yaml": "prompts: { folders: [prompts, ..a] }\n",
    "prompts/a.ts": "",
    "prompts/50% #1?.ts": "",
    "..a/b.ts": "",
  });
  const imports = async (file: string) => {
    const { code, stderr } = await project.run(["list", "prompts", `--write-types=${file}`, TRUST]);
    assert.equal(code, 0, stderr);
    return [...(await project.read(file)).matchAll(/import\("(.*)"\)/g)].map(([, path]) => path);
  };
  assert.deepEqual(await imports("p.gen.ts"), [
    "./..a/b.ts",
    "./prompts/50%25 %231%3F.ts",
    "./prompts/a.ts",
  ]);
  assert.deepEqual(await imports("prompts/p.gen.ts"), ["../..a/b.ts", "./50%25 %231%3F.ts", "./a.ts"]);
});

Deno.test("what may be secret is hidden, and only that", async () => {
  const value = {
    apiKey: "abc",
    author: "me",
    co_authors: ["me"],
    authorName: "me",
    keywords: "a, b",
    maxTokens: 5,
    password: 1234,
    keys: ["a", { kid: "b", secret: "c" }],
    auth: { user: "me", token: "x", enabled: true },
    nested: [
      { Authorization: "x", authToken: "y" },
      "--token",
      "y",
      "--password=z",
      "-v",
      "--author",
      "me",
      "https://u:p@h/?a=1&access_token=q&author=me#f",
    ],
  };
  const profile = { name: "a", model: "script/echo", system: "x", modelArgs: value };
  await using project = await testProject({ "orrery.yaml": JSON.stringify({ agents: [profile] }) });
  const { stdout } = await project.run(["show", "profile", "a", "--json"]);
  assert.deepEqual(JSON.parse(stdout).modelArgs, {
    apiKey: "(hidden)",
    author: "me",
    co_authors: ["me"],
    authorName: "me",
    keywords: "a, b",
    maxTokens: 5,
    password: "(hidden)",
    keys: ["(hidden)", { kid: "b", secret: "(hidden)" }],
    auth: { user: "me", token: "(hidden)", enabled: true },
    nested: [
      { Authorization: "(hidden)", authToken: "(hidden)" },
      "--token",
      "(hidden)",
      "--password=(hidden)",
      "-v",
      "--author",
      "me",
      "https://(hidden)@h/?a=1&access_token=(hidden)&author=me#f",
    ],
  });
});

Deno.test("show config: what may be secret is hidden, and an author is not", async () => {
  await using project = await testProject({
    "orrery.yaml": "agentDefaults:\n  modelArgs: { author: Ada, maxTokens: 5, apiKey: hush-key }\n",
  });
  const { stdout } = await project.run(["show", "config"]);
  assert.match(stdout, /"?author"?\S*\s*"?Ada/);
  assert.match(stdout, /maxTokens\S*\s*5/);
  assert.match(stdout, /\(hidden\)/);
  assert.doesNotMatch(stdout, /hush/);
});
