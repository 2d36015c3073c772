// A document that is run again when a file changes (`--watch`): what is done again, what is not, and when it ends.
import assert from "node:assert/strict";
import { join } from "node:path";
import { systemClock } from "../mod.ts";
import { posixTest } from "./_posix_test.ts";
import { readUntil, type TestProject, testProject } from "./_project.ts";

const DOCUMENT = `# Goal

Be brief.

@shell
prompt: echo x >> commands; echo output

@llm
prompt: What is it?

@import
file: part.md

@run
file: sub.md
`;

const FILES = {
  "orrery.yaml": "models: { default: script/a.yaml }\n",
  "a.yaml":
    "- { text: First., when: What is it }\n- { text: Of sub., when: In sub }\n- { text: Again., repeat: true }\n",
  "plan.md": DOCUMENT,
  "part.md": "# Part\n\ntext\n",
  "sub.md": "@llm\nprompt: In sub\n\n@return\nblock: llm-response-block\n",
};

interface Watching {
  /** What is told up to the next wait. */
  next(): Promise<string>;
  /** Ctrl-C; the exit code. */
  stop(): Promise<number>;
}

function watching(project: TestProject, ...args: readonly string[]): Watching {
  const child = project.start(["run", "plan.md", "--watch", "--allow-run", ...args]);
  const reader = child.stderr.getReader();
  child.stdin.close().catch(() => undefined);
  const rest = child.stdout.cancel();
  return {
    next: () => readUntil(reader, "Ctrl-C ends\n"),
    async stop() {
      child.kill("SIGINT");
      const { code } = await child.status;
      await reader.cancel();
      await rest;
      return code;
    },
  };
}

/** Without the times. */
const told = (text: string): string =>
  text.replace(/ {2}[\d.]+ m?s$/gm, "").replace(/^\d answers?.*\n/gm, "");
const lines = async (project: TestProject, path: string): Promise<number> =>
  (await project.read(path).catch(() => "")).split("\n").length - 1;

posixTest(
  "--watch: an unrelated paragraph below runs nothing again; a question above does; exit 0 while it waits",
  async () => {
    await using project = await testProject(FILES);
    const watch = watching(project);
    assert.equal(
      told(await watch.next()),
      `  ok    @shell plan.md:5
  ok    @llm plan.md:8
  ok    @import plan.md:11
  ok    @llm sub.md:1
  ok    @return sub.md:4
  ok    @run plan.md:14
waiting for a change of plan.md and 2 more files; Ctrl-C ends
`,
    );
    await project.write("plan.md", `${DOCUMENT}\n# Below\n\nNothing to do with it.\n`);
    const reused = `  reused @shell plan.md:5
  reused @llm plan.md:8
  ok    @import plan.md:11
  reused @llm sub.md:1
  ok    @return sub.md:4
  reused @run plan.md:14
waiting for a change of plan.md and 2 more files; Ctrl-C ends
`;
    assert.equal(told(await watch.next()), `plan.md changed\n${reused}`);
    assert.match(
      await project.read("plan.ctx"),
      /output\n[^]*First\.[^]*Of sub\.[^]*Nothing to do with it\.\n$/,
    );
    await project.write("part.md", "# Part\n\nnew text\n");
    assert.equal(told(await watch.next()), `part.md changed\n${reused}`);
    assert.match(await project.read("plan.ctx"), /new text/);
    assert.equal(await lines(project, "commands"), 1);
    await project.write("plan.md", DOCUMENT.replace("Be brief.", "Be long."));
    const again = told(await watch.next());
    assert.match(again, /^ {2}reused @shell plan\.md:5\n {2}ok {4}@llm plan\.md:8$/m);
    assert.match(again, /^ {2}reused @llm sub\.md:1$/m);
    assert.equal(await lines(project, "commands"), 1);
    assert.equal(await watch.stop(), 0);
    const { stdout } = await project.run(["runs", "--json"]);
    assert.equal(JSON.parse(stdout).length, 4, "each is a run of its own");
  },
);

posixTest("--watch --ephemeral: the same, and a broken file tells its errors and is waited on", async () => {
  await using project = await testProject(FILES);
  const watch = watching(project, "--ephemeral");
  await watch.next();
  await project.write("plan.md", DOCUMENT.replace("prompt: What", "promt: What"));
  assert.equal(
    told(await watch.next()).split("\n")[1],
    'plan.md:9:1: error: @llm has no parameter "promt" (did you mean "prompt"?)',
  );
  await project.write("plan.md", DOCUMENT);
  assert.match(told(await watch.next()), /reused @shell plan\.md:5\n {2}reused @llm plan\.md:8\n/);
  await Deno.remove(join(project.folder, "part.md"));
  assert.match(await watch.next(), /part\.md changed\n[^]*file not found: "part\.md"/);
  await project.write("part.md", "# Part\n");
  assert.match(await watch.next(), /part\.md changed\n {2}reused @shell/);
  await project.write("plan.md", DOCUMENT.replace("part.md", "new/deep.md"));
  assert.match(await watch.next(), /file not found: "new\/deep\.md"/);
  await project.write("new/deep.md", "# Deep\n");
  assert.match(await watch.next(), /new\/deep\.md changed\n {2}reused @shell/);
  assert.equal(await lines(project, "commands"), 1);
  assert.equal(await watch.stop(), 0);
});

posixTest(
  "--watch: a command runs again when its variables change, a question when its schema or its media do",
  async () => {
    const plan = `# Value

one

@shell
prompt: echo "$V" >> commands
env: {V: {block: value}}

@llm
prompt: Ask
schema: schema.json
media: [dot.png]
`;
    await using project = await testProject({
      "orrery.yaml": "models: { default: script/a.yaml }\n",
      "a.yaml": "- { text: '{\"n\": 1}', repeat: true }\n",
      "schema.json": '{"type": "object"}',
      "dot.png": "GIF89a",
      "plan.md": plan,
    });
    const watch = watching(project);
    await watch.next();
    await project.write("plan.md", plan.replace("one", "two"));
    assert.match(told(await watch.next()), /ok {4}@shell plan\.md:5\n {2}ok {4}@llm plan\.md:9\n/);
    assert.equal(await project.read("commands"), "one\ntwo\n");
    await project.write("schema.json", '{"type": "object", "required": ["n"]}');
    assert.match(
      told(await watch.next()),
      /^schema\.json changed\n {2}reused @shell plan\.md:5\n {2}ok {4}@llm plan\.md:9\n/,
    );
    await project.write("dot.png", "GIF87a");
    assert.match(told(await watch.next()), /^dot\.png changed\n {2}reused @shell plan\.md:5\n {2}ok {4}@llm/);
    assert.equal(await watch.stop(), 0);
  },
);

posixTest("--watch: a command that failed the run is tried again; Ctrl-C while it runs is 130", async () => {
  const plan = "@shell\nprompt: echo x >> commands; test -e ready\non-error: stop\n";
  await using project = await testProject({ "plan.md": plan });
  const watch = watching(project);
  assert.match(await watch.next(), /plan\.md:1:1: error: @shell: command exited with code 1\n/);
  await project.write("ready", "");
  await project.write("plan.md", `${plan}\n# Below\n`);
  assert.match(told(await watch.next()), /^ {2}ok {4}@shell plan\.md:1$/m);
  assert.equal(await lines(project, "commands"), 2);
  await project.write("plan.md", `${plan}\n@shell\nprompt: touch begun; sleep 20\n`);
  while (await project.read("begun").catch(() => undefined) === undefined) await systemClock.sleep(20);
  assert.equal(await watch.stop(), 130);
});

posixTest(
  "--watch: what was done several times is reused in its order, what failed is done again, and its own writes are no change",
  async () => {
    const plan = `# Goal

@shell
prompt: echo x >> commands; wc -l < commands

@goto
block: goal
run-once: true

@import
file: part.md

@shell
prompt: echo more >> part.md

@llm
prompt: What is it?
save-to-file: saved.md

@import
file: saved.md

@run
file: sub.md
on-error: stop
`;
    await using project = await testProject({
      ...FILES,
      "plan.md": plan,
      "sub.md":
        "@shell\nprompt: echo x >> inner\n\n@shell\nprompt: echo x >> failing; test -e ready\non-error: stop\n",
    });
    const watch = watching(project, "--allow-write");
    // What was changed while it ran is not lost, and is told: the command that changed it is not run again.
    const [first = "", again = ""] = told(await watch.next()).split("part.md changed\n");
    assert.match(first, /sub\.md:4:1: error: @shell: command exited with code 1\n/);
    const loop = ["@shell plan\\.md:3", "@goto plan\\.md:6", "@shell plan\\.md:3"];
    assert.match(first, new RegExp(loop.map((name) => ` {2}ok {4}${name}\\n`).join("")));
    assert.match(
      again,
      /^ {2}reused @shell plan\.md:3\n {2}ok {4}@goto plan\.md:6\n {2}reused @shell plan\.md:3\n/,
    );
    assert.match(again, /^ {2}reused @shell plan\.md:13\n {2}ok {4}@llm plan\.md:16\n/m);
    assert.match(again, /^ {2}reused @shell sub\.md:1\n/m);
    assert.equal(await project.read("part.md"), "# Part\n\ntext\nmore\n");
    // What failed was done again in every run, what is above it was not.
    assert.deepEqual(
      await Promise.all(["commands", "inner", "failing"].map((path) => lines(project, path))),
      [
        2,
        1,
        2,
      ],
    );
    await project.write("ready", "");
    await project.write("plan.md", plan); // the same again is no change
    await systemClock.sleep(200);
    await project.write("part.new", "# Part\n\nanother\n");
    await Deno.rename(join(project.folder, "part.new"), join(project.folder, "part.md"));
    const third = told(await watch.next());
    assert.match(third, /^part\.md changed\n/);
    assert.match(third, /^ {2}ok {4}@shell sub\.md:4\n/m);
    const result = await project.read("plan.ctx");
    assert.match(result, /\n1\n[^]*\n2\n[^]*another[^]*First\./);
    assert.equal(await lines(project, "commands"), 2);
    assert.equal(await watch.stop(), 0);
    const { stdout } = await project.run(["trace", await project.newest(), "--json"]);
    const outputs = JSON.parse(stdout).steps.filter(({ kind }: { readonly kind: string }) =>
      kind === "shell"
    );
    assert.equal(outputs.length, 5, "the journal of each run has all of its steps");
  },
);

Deno.test("--watch goes with documents, and with runs that are not recorded", async () => {
  await using project = await testProject({ ...FILES, "a.calls": "" });
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { code, stderr } = await project.run(["run", ...args, "--watch"]);
    assert.equal(code, 2, stderr);
    return stderr.split("\n")[0] ?? "";
  };
  assert.equal(await refused("a.calls"), "error: --watch is for documents; a call file takes none");
  assert.equal(
    await refused("plan.md", "--record", "r.jsonl"),
    "error: --watch runs the document again and again; --record is for one run",
  );
  assert.equal(
    await refused("plan.md", "--replay", "r.jsonl"),
    "error: --watch runs the document again and again; --replay is for one run",
  );
});
