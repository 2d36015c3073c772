// Runs that are kept: resume, trace, fork, rm, record and replay, as a user types them.

import assert from "node:assert/strict";
import { join } from "node:path";
import { readUntil, testProject } from "../_project.ts";
import type { TestProject } from "../_project.ts";
import { providerServer, TEST_KEY } from "../_provider_server.ts";
import { atTerminal, noTerminal } from "../_pty.ts";
import { until } from "../_waiting.ts";

const ONE = "!!!GADGET_START:Calculate:answer\n!!!ARG:expression\n6 * 7\n!!!GADGET_END\n";

/** A call that may not be done twice: it adds a line to a file, then waits. */
const command = (id: string, script: string) =>
  `!!!GADGET_START:RunCommand:${id}\n!!!ARG:command\nsh\n!!!ARG:args/0\n-c\n!!!ARG:args/1\n${script}\n!!!GADGET_END\n`;

const HANGING = ONE + command("slow", "echo ran >> log.txt; sleep 30") +
  "!!!GADGET_START:Template:end:answer,slow\n!!!ARG:template\nThe answer is {{n}}.\n!!!ARG:values/n\n{{results.answer}}\n!!!GADGET_END\n";

const FLAGS = ["--allow-run=sh", "--allow-read", "--allow-write"];

async function untilThere(project: TestProject, path: string): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (await project.read(path).then((text) => text !== "", () => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${path} did not come`);
}

Deno.test("a run is kept, listed, traced and removed", async () => {
  await using project = await testProject({ "one.calls": ONE });
  const nothing = await project.run(["runs"]);
  assert.deepEqual(nothing, { code: 0, stdout: "", stderr: "No run is kept in this project.\n" });
  await assert.rejects(Deno.stat(join(project.folder, ".orrery")), "looking makes no journal");
  assert.equal((await project.run(["run", "one.calls", "-q"])).stdout, "42\n");
  const id = await project.newest();
  const list = await project.run(["runs"]);
  assert.match(
    list.stdout,
    new RegExp(`^ID +STATUS +KIND +FILE +STARTED +STEPS +TOKENS\n${id} +done +calls +one\\.calls +\\d{4}-`),
  );
  const [json] = JSON.parse((await project.run(["runs", "--json"])).stdout);
  assert.deepEqual([json.id, json.status, json.kind, json.steps], [id, "done", "calls", 1]);
  const trace = await project.run(["trace", id.slice(0, 6)]);
  assert.match(trace.stdout, new RegExp(`^${id} {2}calls one\\.calls {2}done`));
  assert.match(trace.stdout, /done {4}call:answer {2}Calculate {2}[\d.]+ ms\n +42\n/);
  const whole = JSON.parse((await project.run(["trace", id, "--json"])).stdout);
  assert.equal(whole.run.files[0].text, ONE);
  assert.equal(whole.events.at(-1).type, "run-end");
  assert.equal((await project.run(["rm", id])).code, 0);
  assert.equal((await project.run(["list", "runs", "--names"])).stdout, "");
  const gone = await project.run(["rm", id]);
  assert.deepEqual([gone.code, gone.stderr], [1, `error: There is no run "${id}": none is kept here yet\n`]);
});

Deno.test("--ephemeral keeps nothing; a folder that cannot be written says so and names it", async () => {
  await using project = await testProject({ "one.calls": ONE });
  assert.equal((await project.run(["run", "one.calls", "--ephemeral", "-q"])).stdout, "42\n");
  await assert.rejects(Deno.stat(join(project.folder, ".orrery")));
  await project.write(".orrery", "a file");
  const { code, stdout, stderr } = await project.run(["run", "one.calls"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(
    stderr,
    /^error: Cannot keep runs in ".*\.orrery": it is a file, not a folder; move it away.*--ephemeral/,
  );
});

Deno.test("Ctrl-C: the run can go on, with what it was allowed; what was done is not done again", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  await using project = await testProject({ "work.calls": HANGING });
  const child = project.start(["run", "work.calls", ...FLAGS]);
  await child.stdin.close();
  await untilThere(project, "log.txt");
  child.kill("SIGINT");
  const [{ code }, stderr] = await Promise.all([
    child.status,
    new Response(child.stderr).text(),
    child.stdout.cancel(),
  ]);
  const id = await project.newest();
  assert.equal(code, 130, stderr);
  assert.match(stderr, new RegExp(`stopped; to go on: orrery resume ${id}\n$`));
  const grants = join(project.env.XDG_STATE_HOME ?? "", "orrery", "run-grants", `${id}.json`);
  const { mode } = await Deno.stat(grants);
  assert.equal((mode ?? 0) & 0o777, 0o600);

  await project.write("work.calls", "changed since: a resumed run is the program it was\n");
  const asked = await project.run(["resume"]);
  assert.equal(asked.code, 1);
  assert.match(asked.stderr, new RegExp(`^resuming ${id}: calls work\\.calls\n`));
  assert.match(
    asked.stderr,
    /One step was started and may not be done twice, and how it ended is not known\. Nothing runs/,
  );
  assert.match(asked.stderr, /call:slow: RunCommand \{.*sleep 30.*\}/);
  assert.match(asked.stderr, new RegExp(`orrery resume ${id} --rerun call:slow`));
  assert.match(asked.stderr, new RegExp(`orrery resume ${id} --skip call:slow`));
  assert.equal(await project.read("log.txt"), "ran\n");

  const wrong = await project.run(["resume", id, "--skip", "call:slwo"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /call:slwo/);
  const done = await project.run(["resume", id, "--skip", "call:slow"]);
  assert.deepEqual([done.code, done.stdout], [0, "The answer is 42.\n".trimEnd()], done.stderr);
  assert.equal(await project.read("log.txt"), "ran\n");
  await assert.rejects(Deno.stat(grants), "what it was allowed is forgotten when it is done");

  const again = await project.run(["resume", id]);
  assert.equal(again.code, 1);
  assert.match(
    again.stderr,
    new RegExp(`Run "${id}" is done, so it cannot go on: "orrery fork ${id} --from KEY"`),
  );
  const none = await project.run(["resume"]);
  assert.deepEqual([none.code, none.stderr], [
    2,
    "error: No run of this project can go on: orrery runs --all lists those there are\n",
  ]);
});

Deno.test("a run whose process was killed goes on; --rerun does again what was under way", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  const calls = command("first", "echo first >> log.txt") +
    command("second", "echo second >> log.txt; test -f go || sleep 5; echo done").replace(
      "second\n!!!ARG",
      "second:first\n!!!ARG",
    );
  await using project = await testProject({ "work.calls": calls });
  const child = project.start(["run", "work.calls", ...FLAGS]);
  await child.stdin.close();
  for (let text = ""; !text.includes("second"); text = await project.read("log.txt").catch(() => "")) {
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  child.kill("SIGKILL");
  await Promise.all([child.status, child.stderr.cancel(), child.stdout.cancel()]);
  await project.write("go", "");
  const { code, stdout, stderr } = await project.run(["resume", "--rerun", "all", "-q"]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /done/);
  assert.equal(await project.read("log.txt"), "first\nsecond\nsecond\n");
});

Deno.test("a document whose key is missing at its resume stands where it stood, and goes on with it", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  await using provider = providerServer({ parts: [{ text: ["so ", "it is"] }], delayMs: 100 });
  const settings = {
    models: { default: "openai/test", providers: { openai: provider.settings.providers.openai } },
  };
  await using project = await testProject({
    "orrery.yaml": JSON.stringify(settings),
    "a.md": "# A\n\n@llm\nprompt: Count\n",
  });
  const flags = ["--trust-project", `--allow-net=${provider.host}`];
  const env = { OPENAI_API_KEY: TEST_KEY };
  const child = project.start(["run", "a.md", ...flags], { env });
  await child.stdin.close();
  await until(() => provider.requests.length > 0);
  child.kill("SIGKILL");
  await Promise.all([child.status, child.stderr.cancel(), child.stdout.cancel()]);
  const without = await project.run(["resume", ...flags]);
  assert.equal(without.code, 2, without.stderr);
  assert.match(without.stderr, /a\.md:3:1: error: .*set the variable OPENAI_API_KEY/);
  const { code, stdout, stderr } = await project.run(["resume", ...flags, "-q"], { env });
  assert.deepEqual([code, stdout], [0, "so it is\n"], stderr);
});

Deno.test("resume asks at a terminal about what may not be done twice", async () => {
  const missing = await noTerminal();
  if (missing !== undefined) return console.log(`not run here: ${missing}`);
  await using project = await testProject({ "work.calls": HANGING });
  const child = project.start(["run", "work.calls", ...FLAGS]);
  await child.stdin.close();
  await untilThere(project, "log.txt");
  child.kill("SIGKILL");
  await Promise.all([child.status, child.stderr.cancel(), child.stdout.cancel()]);
  const { folder: cwd, env } = project;
  const answered = async (answer: string) => {
    const resumed = atTerminal(["resume"], { cwd, env });
    const asked = await resumed.until("stop here? [again/done/stop]");
    assert.match(
      asked,
      /call:slow: RunCommand \{.*"echo ran >> log\.txt; sleep 30".*\}\nwas started, and how it ended/,
    );
    await resumed.type(`${answer}\n`);
    return await resumed.end();
  };
  const stopped = await answered("stop");
  assert.equal(stopped.code, 1, stopped.screen);
  assert.match(stopped.screen, /Nothing runs until you say what to do/);
  const done = await answered("skip"); // as the flag says it
  assert.equal(done.code, 0, done.screen);
  assert.match(done.screen, /The answer is 42\.\n$/);
  assert.equal(await project.read("log.txt"), "ran\n");
});

Deno.test("an interrupted run of calls that goes on tells the result of a call, and not that it was aborted", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  const wait = (id: string, seconds: number) =>
    `!!!GADGET_START:Wait:${id}\n!!!ARG:seconds\n${seconds}\n!!!GADGET_END\n`;
  await using project = await testProject({ "work.calls": ONE + wait("pause", 1) });
  const child = project.start(["run", "work.calls", "--jsonl", "-q"]);
  await child.stdin.close();
  const reader = child.stdout.getReader();
  await readUntil(reader, '"type":"call-result"');
  child.kill("SIGINT");
  await Promise.all([child.status, child.stderr.cancel(), reader.cancel()]);
  const id = await project.newest();
  const { code, stdout, stderr } = await project.run(["resume", id, "--json"]);
  assert.equal(code, 0, stderr);
  const { status, calls } = JSON.parse(stdout);
  assert.equal(status, "done");
  assert.deepEqual(
    calls.map((call: { invocationId: string; status: string }) => [call.invocationId, call.status]),
    [["answer", "result"], ["pause", "result"]],
  );
  assert.match(stderr, /ok {4}pause {2}Wait/);
  assert.doesNotMatch(stderr, /error|[Aa]borted/);
  const trace = JSON.parse((await project.run(["trace", id, "--json"])).stdout);
  const outcomes = trace.events.filter(({ type }: { type: string }) =>
    /^call-(result|error|skip)$/.test(type)
  );
  assert.deepEqual(outcomes.map(({ type }: { type: string }) => type), ["call-result", "call-result"]);
});

Deno.test("what a run that is done gave is written once more, as it was: calls, a document, an answer that is JSON", async () => {
  await using project = await testProject({
    "orrery.yaml": "models: { default: script/s.yml }\n",
    "a.calls": "!!!GADGET_START:Json\n!!!ARG:value\n[1]\n!!!GADGET_END\n",
    "a.md": "# A {id=a}\n\n@return\nblock: a\n",
    "s.yml": '- object: "hi"\n',
    "s.json": '{"type":"string"}',
  });
  for (const args of [["run", "a.calls"], ["run", "a.md"], ["ask", "hi", "--schema", "s.json"]]) {
    const { code, stderr } = await project.run([...args, "-o", "first.txt"]);
    assert.equal(code, 0, stderr);
    const again = await project.run(["resume", await project.newest(), "-o", "again.txt"]);
    assert.deepEqual(again, { code: 0, stdout: "", stderr: "" }, args.join(" "));
    assert.equal(await project.read("again.txt"), await project.read("first.txt"), args.join(" "));
  }
});

Deno.test("two processes cannot go on with one run", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  await using project = await testProject({ "work.calls": HANGING });
  const child = project.start(["run", "work.calls", ...FLAGS]);
  await child.stdin.close();
  await untilThere(project, "log.txt");
  const id = await project.newest();
  const second = await project.run(["resume", id]);
  assert.equal(second.code, 1);
  assert.match(
    second.stderr,
    new RegExp(`^error: Run "${id}" is being run by process ${child.pid} on this host`),
  );
  const remove = await project.run(["rm", id]);
  assert.equal(remove.code, 1);
  child.kill("SIGINT");
  await Promise.all([child.status, child.stderr.cancel(), child.stdout.cancel()]);
});

Deno.test("calls from a pipe are kept as they came, and go on", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  await using project = await testProject();
  const child = project.start(["run", "-", "--jsonl", "-q"]);
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(ONE));
  const reader = child.stdout.getReader();
  await readUntil(reader, '"type":"call-result"');
  child.kill("SIGKILL");
  await Promise.all([
    child.status,
    child.stderr.cancel(),
    reader.cancel(),
    writer.close().catch(() => undefined),
  ]);
  const { code, stdout, stderr } = await project.run(["resume", "-q"]);
  assert.deepEqual([code, stdout], [0, "42\n"], stderr);
});

Deno.test("fork makes a run of what came before a step", async () => {
  await using project = await testProject({
    "two.yml":
      "- text: |\n    !!!GADGET_START:Calculate:sum\n    !!!ARG:expression\n    1 + 1\n    !!!GADGET_END\n- text: two\n",
  });
  await project.run(["ask", "x", "-m", "script/two.yml", "--tools=Calculate", "-q"]);
  const id = await project.newest();
  const missing = await project.run(["fork", id]);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, new RegExp(`orrery fork needs --from KEY: orrery trace ${id} shows the keys`));
  const wrong = await project.run(["fork", id, "--from", "turn[3]/model"]);
  assert.equal(wrong.code, 2);
  const fork = await project.run(["fork", id, "--from", "turn[2]/model"]);
  assert.equal(fork.code, 0);
  const newId = fork.stdout.trim();
  assert.equal(fork.stderr, `to go on: orrery resume ${newId}\n`);
  const resumed = await project.run(["resume", newId, "-q"]);
  assert.equal(resumed.code, 0, resumed.stderr);
});

Deno.test("record and replay: nothing is touched, and another file is a difference", async () => {
  await using project = await testProject({
    "work.calls": "!!!GADGET_START:ReadFile:text\n!!!ARG:path\ndata.txt\n!!!GADGET_END\n",
    "data.txt": "as it was\n",
  });
  const live = await project.run(["run", "work.calls", "--record", "work.jsonl", "-q"]);
  assert.deepEqual([live.code, live.stdout], [0, "as it was\n"]);
  const runs = (await project.run(["list", "runs", "--names"])).stdout;
  await project.write("data.txt", "as it is\n");
  const replay = await project.run(["run", "work.calls", "--replay", "work.jsonl", "-q"]);
  assert.deepEqual([replay.code, replay.stdout], [0, "as it was\n"], replay.stderr);
  assert.equal((await project.run(["list", "runs", "--names"])).stdout, runs);

  await project.write("work.calls", "!!!GADGET_START:ReadFile:text\n!!!ARG:path\nother.txt\n!!!GADGET_END\n");
  const other = await project.run(["run", "work.calls", "--replay", "work.jsonl", "-q"]);
  assert.deepEqual([other.code, other.stdout], [1, ""]);
  assert.equal(
    other.stderr,
    'error: "work.calls" is not what was recorded: line 3 was "data.txt" and is "other.txt"\n',
  );
  await Deno.remove(join(project.folder, "work.calls"));
  assert.equal(
    (await project.run(["run", "work.calls", "--replay", "work.jsonl", "-q"])).stdout,
    "as it was\n",
  );
  assert.equal(
    (await project.run(["run", "--replay", "work.jsonl", "-q"])).stdout,
    "as it was\n",
    "it knows its file",
  );
  const kind = await project.run(["ask", "x", "--replay", "work.jsonl"]);
  assert.equal(kind.code, 2);
  assert.match(
    kind.stderr,
    /"work\.jsonl" is the record of another kind of run \(calls\): orrery run work\.calls --replay work\.jsonl/,
  );
});

Deno.test("a record that could not be finished stays beside its place, and is named", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  await using project = await testProject({ "work.calls": HANGING });
  const child = project.start(["run", "work.calls", "--record", "work.jsonl", ...FLAGS]);
  await child.stdin.close();
  await untilThere(project, "log.txt");
  child.kill("SIGINT");
  child.kill("SIGINT");
  const [, stderr] = await Promise.all([
    child.status,
    new Response(child.stderr).text(),
    child.stdout.cancel(),
  ]);
  if (stderr.includes("the record so far")) {
    assert.match(stderr, /the record so far: .*work\.jsonl\.partial\n/);
    assert.match(await project.read("work.jsonl.partial"), /^\{"type":"run","version":1/);
  } else assert.match(await project.read("work.jsonl"), /"run\/abort"/);
});
