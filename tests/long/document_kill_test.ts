// A document whose process is killed, interrupted or stopped by its budget, and gone on with; and its record, replayed (turn.md 3).
// `deno task soak` kills at every event and at random ones.

import assert from "node:assert/strict";
import { join } from "node:path";
import { surviveAll, uninterrupted } from "../_killable.ts";
import type { Kill } from "../_killable.ts";
import { DOCUMENT_EFFECTS, KILLABLE_DOCUMENT, killableDocument } from "../_killable_document.ts";
import { readUntil, testProject } from "../_project.ts";
import type { TestProject } from "../_project.ts";
import { PROJECT_ROOT, runProgram } from "../_run.ts";
import { isThorough } from "../_thorough.ts";

const NO_SIGNALS = "not run here: Windows sends no signals, and the commands are those of a POSIX shell";
const isWindows = Deno.build.os === "windows";

/** In an import, a command, an answer with tools, a callee, a loop, a generated operation, and behind all of them. */
const KILLS: readonly (readonly Kill[])[] = [
  [{ events: 1, afterMs: 0 }, { events: 7, afterMs: 0 }, { events: 23, afterMs: 6 }, {
    events: 40,
    afterMs: 0,
  }],
  [{ events: 12, afterMs: 7 }, { events: 30, afterMs: 0 }, { events: 47, afterMs: 3 }],
  [{ events: 54, afterMs: 0 }, { events: 67, afterMs: 2 }, { events: 92, afterMs: 0 }],
  [{ events: 104, afterMs: 9 }, { events: 120, afterMs: 3 }, { events: 129, afterMs: 0 }],
];

Deno.test("a document that is killed ends as if it were not, with the same result documents", async () => {
  if (isWindows) return console.log(NO_SIGNALS);
  await using project = await killableDocument();
  const want = await uninterrupted(project, KILLABLE_DOCUMENT);
  assert.equal(want.code, 0);
  const effects = (await project.read("effects.txt")).trim().split("\n");
  assert.deepEqual(effects, [...DOCUMENT_EFFECTS, ...DOCUMENT_EFFECTS]);
  let count = 0;
  const tried = isThorough ? KILLS : KILLS.slice(1, 2);
  for (const kills of tried) {
    count += await surviveAll(project, { work: KILLABLE_DOCUMENT, want, kills });
  }
  assert.ok(count >= 2 * tried.length, `only ${count} kills met a run`);
});

const SLOW_SHELL = `# A

@shell
prompt: echo one >> effects.txt; sleep 0.4; echo two >> effects.txt; echo out
use-header: none

@shell
prompt: echo after >> effects.txt
use-header: none
`;

/** Kills or stops it in the middle of its first command, and waits until that has ended. */
async function stoppedInShell(signal: Deno.Signal): Promise<
  { readonly project: TestProject; readonly id: string; readonly code: number; readonly stderr: string }
> {
  const project = await testProject({ "main.md": SLOW_SHELL, "effects.txt": "" });
  const child = project.start(["run", "main.md", "--allow-run", "--jsonl"]);
  await child.stdin.close();
  const reader = child.stdout.getReader();
  await readUntil(reader, '"key":"op[3]/shell"');
  while (await project.read("effects.txt") === "") await new Promise((resolve) => setTimeout(resolve, 10));
  child.kill(signal);
  const [{ code }, stderr] = await Promise.all([child.status, new Response(child.stderr).text()]);
  await reader.cancel();
  await new Promise((resolve) => setTimeout(resolve, 500));
  return { project, id: await project.newest(), code, stderr };
}

Deno.test("a command that was under way is not run again unasked; --rerun does it again, --skip takes it as done", async () => {
  if (isWindows) return console.log(NO_SIGNALS);
  for (
    const [flag, effects, result] of [
      ["--rerun", "one\ntwo\none\ntwo\nafter\n", "\nout\n"],
      ["--skip", "one\ntwo\nafter\n", ""],
    ] as const
  ) {
    const { project, id } = await stoppedInShell("SIGKILL");
    await using _project = project;
    const before = (await project.read("effects.txt")).trim().split("\n");
    const asked = await project.run(["resume", id]);
    assert.deepEqual([asked.code, asked.stdout], [1, ""], asked.stderr);
    assert.match(asked.stderr, new RegExp(`orrery resume ${id} --rerun 'op\\[3\\]/shell'`));
    assert.deepEqual((await project.read("effects.txt")).trim().split("\n"), before, "nothing ran unasked");
    const end = await project.run(["resume", id, flag, "op[3]/shell", "-q"]);
    assert.equal(end.code, 0, end.stderr);
    const lost = before.includes("two") ? "" : "two\n";
    assert.equal(await project.read("effects.txt"), effects.replace(lost, "") || effects);
    assert.equal(
      await project.read("main.ctx"),
      SLOW_SHELL.replace("use-header: none\n", `use-header: none\n${result}`),
    );
  }
});

Deno.test("Ctrl-C in the middle of a command: its children are gone, exit code 130, and the user decides about it", async () => {
  if (isWindows) return console.log(NO_SIGNALS);
  const { project, id, code, stderr } = await stoppedInShell("SIGINT");
  await using _project = project;
  assert.equal(code, 130, stderr);
  assert.match(stderr, new RegExp(`stopped; to go on: orrery resume ${id}\n$`));
  assert.equal(await project.read("effects.txt"), "one\n", "the command was ended");
  const asked = await project.run(["resume", id]);
  assert.deepEqual([asked.code, asked.stdout], [1, ""], asked.stderr);
  const end = await project.run(["resume", id, "--rerun", "all", "-q"]);
  assert.equal(end.code, 0, end.stderr);
  assert.equal(await project.read("effects.txt"), "one\none\ntwo\nafter\n");
});

Deno.test("Ctrl-C in the middle of an answer: the run goes on with the same question", async () => {
  if (isWindows) return console.log(NO_SIGNALS);
  await using project = await testProject({
    "main.md":
      "# A\n\n@shell\nprompt: echo once >> effects.txt; echo x\n\n@llm\nprompt: Go\n\n@llm\nprompt: On\n",
    "orrery.yaml": "models: { default: script/r.yaml }\n",
    "r.yaml":
      '- { when: "^Go", chunks: [a, b, c], delayMs: 150, repeat: true }\n- { when: "^On", text: end, repeat: true }\n',
  });
  const child = project.start(["run", "main.md", "--allow-run", "--jsonl"]);
  await child.stdin.close();
  const reader = child.stdout.getReader();
  await readUntil(reader, '"text":"a"');
  child.kill("SIGINT");
  const [{ code }, stderr] = await Promise.all([child.status, new Response(child.stderr).text()]);
  await reader.cancel();
  assert.equal(code, 130, stderr);
  const end = await project.run(["resume", await project.newest(), "-q"]);
  assert.deepEqual([end.code, end.stdout], [0, "end\n"], end.stderr);
  assert.equal(await project.read("effects.txt"), "once\n");
  const resumed = await project.read("main.ctx");
  await project.run(["run", "main.md", "--allow-run", "-q"]);
  assert.equal(resumed, await project.read("main.ctx"));
});

Deno.test("a budget that is reached in the middle keeps the document so far; what was done is not done again", async () => {
  if (isWindows) return console.log(NO_SIGNALS);
  await using project = await killableDocument();
  const first = await project.run([...KILLABLE_DOCUMENT.args, "--budget", "turns=2"]);
  assert.deepEqual([first.code, first.stdout], [6, ""], first.stderr);
  assert.match(first.stderr, /error: The run has made 2 model calls, its budget is 2\n/);
  assert.match(first.stderr, /\n2 answers; 5 calls: 5 ok, /);
  const kept = await project.read("main.ctx");
  assert.match(kept, /# Part output\npart is done/);
  assert.match(kept, /# Safe tool response block\ntwo\(\)/);
  assert.doesNotMatch(kept, /# Report\n/);
  const effects = await project.read("effects.txt");
  const again = await project.run(["resume", await project.newest(), "-q"]);
  assert.deepEqual([again.code, again.stdout], [6, ""], again.stderr);
  assert.deepEqual([await project.read("main.ctx"), await project.read("effects.txt")], [kept, effects]);
  const more = await project.run(["resume", await project.newest(), "--budget", "turns=50", "-q"]);
  await using other = await killableDocument();
  const want = await uninterrupted(other, KILLABLE_DOCUMENT);
  assert.deepEqual([more.code, more.stdout], [want.code, want.stdout], more.stderr);
});

Deno.test("a resumed document is the one that began: what its files say by then does not count", async () => {
  if (isWindows) return console.log(NO_SIGNALS);
  await using project = await killableDocument();
  const { args } = KILLABLE_DOCUMENT;
  const want = await uninterrupted(project, KILLABLE_DOCUMENT);
  const child = project.start([...args, "--jsonl"]);
  await child.stdin.close();
  const reader = child.stdout.getReader();
  await readUntil(reader, '"type":"jump"');
  child.kill("SIGKILL");
  await Promise.all([child.status, child.stderr.cancel(), reader.cancel()]);
  for (const file of ["main.md", "parts/part.md", "callee.md", "sub.md"]) {
    await project.write(file, "# Another\n");
  }
  const end = await project.run(["resume", await project.newest(), "--rerun", "all", "-q"]);
  assert.deepEqual([end.code, end.stdout], [0, want.stdout], end.stderr);
  assert.equal(await project.read("main.ctx"), want.files[0]);
});

Deno.test("a document with a key in it goes on as it was, from its file: the journal has no keys", async () => {
  if (isWindows) return console.log(NO_SIGNALS);
  const key = "sk-planted-openai-0001";
  const env = { OPENAI_API_KEY: key };
  const text = `# A\n\nMy ${key}.\n\n@shell\nprompt: sleep 0.3\nuse-header: none\n\n` +
    `@shell\nprompt: echo ${key} | wc -c\nuse-header: none\n`;
  for (const isChanged of [false, true]) {
    await using project = await testProject({ "main.md": text });
    const child = project.start(["run", "main.md", "--allow-run", "--jsonl"], { env });
    await child.stdin.close();
    const reader = child.stdout.getReader();
    await readUntil(reader, '"op[5]/shell"');
    child.kill("SIGKILL");
    await Promise.all([child.status, child.stderr.cancel(), reader.cancel()]);
    if (isChanged) await project.write("main.md", `${text}\n# More\n`);
    const end = await project.run(["resume", await project.newest(), "--rerun", "all"], { env });
    assert.equal(end.code, isChanged ? 2 : 0, end.stderr);
    if (isChanged) {
      assert.match(
        end.stderr,
        /main\.md has changed since the run began, and what it had of secrets is not kept: begin anew/,
      );
    } else assert.equal(await project.read("main.ctx"), `${text}\n${key.length + 1}\n`);
  }
});

/** `orrery` with no permission but to read these files; the YAML library asks for variables, which count as not set. */
function sealed(project: TestProject, args: readonly string[], files: readonly string[]) {
  const read = [PROJECT_ROOT, ...files.map((file) => join(project.folder, file))].join(",");
  const main = join(PROJECT_ROOT, "main.ts");
  return runProgram(
    [Deno.execPath(), "run", "--no-prompt", "--quiet", "--ignore-env", `--allow-read=${read}`, main, ...args],
    { cwd: project.folder, env: project.env },
  );
}

Deno.test("a document: its replay is its recording, byte for byte, and touches nothing", async () => {
  if (isWindows) return console.log(NO_SIGNALS);
  await using project = await killableDocument();
  const { args } = KILLABLE_DOCUMENT;
  const live = await project.run([...args, "--jsonl", "--record", "run.jsonl", "-q"]);
  assert.equal(live.code, 0, live.stderr);
  const { stdout } = await project.run([...args, "-q"]);
  const results = await Promise.all((KILLABLE_DOCUMENT.files ?? []).map((file) => project.read(file)));
  const effects = await project.read("effects.txt");
  for (
    const file of [
      ...KILLABLE_DOCUMENT.files ?? [],
      ".orrery",
      "parts",
      "callee.md",
      "sub.md",
      "replies.yaml",
    ]
  ) {
    await Deno.remove(join(project.folder, file), { recursive: true });
  }
  for (const files of [["run.jsonl", "main.md"], ["run.jsonl"]]) {
    const events = await sealed(project, ["run", "main.md", "--replay", "run.jsonl", "--jsonl", "-q"], files);
    assert.equal(events.stdout, live.stdout, events.stderr);
    assert.equal(events.code, 0, events.stderr);
  }
  const plain = await sealed(project, ["run", "main.md", "--replay", "run.jsonl", "-q"], ["run.jsonl"]);
  assert.deepEqual([plain.code, plain.stdout], [0, stdout], plain.stderr);
  const shown = await sealed(
    project,
    ["run", "main.md", "--replay", "run.jsonl", "--out", "-", "-q"],
    ["run.jsonl"],
  );
  assert.equal(shown.stdout, results[0], "the result document comes out of the record too");
  assert.equal(await project.read("effects.txt"), effects);
  const left = [...Deno.readDirSync(project.folder)].map(({ name }) => name);
  assert.ok(!left.some((name) => name.endsWith(".ctx") || name === ".orrery"), left.join(" "));
});

Deno.test("a document that is not the recorded one ends the replay with the difference", async () => {
  if (isWindows) return console.log(NO_SIGNALS);
  await using project = await killableDocument();
  await project.run([...KILLABLE_DOCUMENT.args, "--record", "run.jsonl", "-q"]);
  const before = await project.read("effects.txt");
  await project.write("main.md", (await project.read("main.md")).replace("sleep 0.01", "sleep 0.02"));
  const changed = await project.run(["run", "main.md", "--replay", "run.jsonl"]);
  assert.equal(changed.code, 1, changed.stderr);
  assert.match(changed.stderr, /main\.md/);
  assert.match(changed.stderr, /sleep 0\.02/);
  // The same with a record that says something else of a step.
  await project.write("main.md", (await project.read("main.md")).replace("sleep 0.02", "sleep 0.01"));
  const record = await project.read("run.jsonl");
  await project.write("other.jsonl", record.replace('"script":"sleep 0.01', '"script":"sleep 0.03'));
  const other = await project.run(["run", "main.md", "--replay", "other.jsonl", "-q"]);
  assert.equal(other.code, 1, other.stderr);
  assert.match(other.stderr, /op\[12\]\/shell/);
  assert.match(other.stderr, /sleep 0\.03/);
  assert.equal(await project.read("effects.txt"), before);
});

Deno.test("an interrupted and a failed document are replayed as they were", async () => {
  if (isWindows) return console.log(NO_SIGNALS);
  await using project = await testProject({
    "main.md":
      "# A\n\n@shell\nprompt: echo once >> effects.txt; exit 3\non-error: continue\n\n@llm\nprompt: Go\non-error: continue\n\n@llm\nprompt: On\n",
    "orrery.yaml": "models: { default: script/r.yaml }\n",
    "r.yaml":
      '- { when: "^Go", error: { status: 400, message: no } }\n- { when: "^On", chunks: [a, b, c], delayMs: 200, repeat: true }\n',
  });
  const args = ["run", "main.md", "--allow-run", "--jsonl", "--record", "run.jsonl", "-q"];
  const child = project.start(args);
  await child.stdin.close();
  const reader = child.stdout.getReader();
  let told = await readUntil(reader, '"text":"a"');
  child.kill("SIGINT");
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    told += new TextDecoder().decode(read.value);
  }
  const { code } = await child.status;
  await child.stderr.cancel();
  assert.equal(code, 130);
  const replay = await project.run(["run", "main.md", "--replay", "run.jsonl", "--jsonl", "-q"]);
  assert.equal(replay.stdout, told, replay.stderr);
});
