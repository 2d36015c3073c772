// Conversations from the command line: `run --say`, `chat` through a pipe, `resume`, `show conversation`, `trace`, `fork --turn`.

import assert from "node:assert/strict";
import { readUntil, testProject } from "../_project.ts";
import type { TestProject } from "../_project.ts";

const agent = (id: string, steps: readonly string[]): string =>
  `version: "0.1"\nstructure:\n  id: ${id}\n  action:\n    id: main\n    chain:\n${
    steps.map((step) => `      - ${step}\n`).join("")
  }`;

const TALK = agent("talk", [
  '{ id: hello, message: { message: "Hello!" } }',
  '{ id: name, message: { message: "Your name?", hold: true } }',
  '{ id: nice, llm: { prompts: [ { system: "Be kind." } ], memory: [ { selector: all } ], hold: true } }',
  '{ id: bye, message: { message: "Bye." } }',
]);

const LOOP = agent("loop", [
  '{ id: ask, message: { message: "Hello!", hold: true } }',
  "{ id: count, counter: { slot: { name: n } } }",
  "{ id: all, counter: { slot: { name: n, destination: global } } }",
  "{ id: of-session, counter: { slot: { name: n, destination: session } } }",
  '{ id: answer, message: { message: "{{n}} of {{global.n}}, {{session.n}} here", hold: true } }',
  "{ id: again, flow: { goto: count } }",
]);

const SCRIPT = `- { when: "Ana", chunks: ["Nice ", "to meet you."] }
- { when: "bad", error: { status: 400, message: "too strange" } }
- { when: "key", error: { status: 401, message: "no key" } }
- { when: "", text: whatever, repeat: true }
`;

const FILES = { "talk.agent.yml": TALK, "loop.agent.yaml": LOOP, "s.yml": SCRIPT };

const MODEL = ["-m", "script/s.yml"];

async function kept(project: TestProject): Promise<readonly { id: string; status: string; kind: string }[]> {
  return JSON.parse((await project.run(["runs", "--json"])).stdout);
}

async function shown(project: TestProject, id: string) {
  const { stdout, stderr } = await project.run(["show", "conversation", id, "--json"]);
  assert.equal(stderr, "");
  return JSON.parse(stdout);
}

Deno.test("run --say: each is a message; what the agent says is on stdout, divided by empty lines", async () => {
  await using project = await testProject(FILES);
  const first = await project.run(["run", "talk.agent.yml", ...MODEL]);
  assert.deepEqual([first.code, first.stdout], [0, "Hello!\n\nYour name?\n"], first.stderr);
  assert.match(first.stderr, /^held; to go on: orrery resume \w+\n$/);
  const said = await project.run(["run", "talk.agent.yml", "--say", "Ana", ...MODEL, "-q"]);
  assert.deepEqual(said, { code: 0, stdout: "Hello!\n\nYour name?\n\nNice to meet you.\n", stderr: "" });
  const whole = await project.run([
    "run",
    "talk.agent.yml",
    "--say",
    "Ana",
    "--say=-m",
    ...MODEL,
    "--json",
    "-o",
    "out.txt",
  ]);
  assert.equal(whole.code, 0, whole.stderr);
  assert.match(whole.stderr, /completed; all of it: orrery show conversation \w+\n$/);
  const { run, ms, usage, ...report } = JSON.parse(whole.stdout);
  assert.match(run, /^\w{12}$/);
  assert.ok(ms > 0);
  assert.deepEqual(usage, { input: 0, output: 0 });
  assert.deepEqual(report, {
    kind: "conversation",
    status: "completed",
    value: "Hello!\n\nYour name?\n\nNice to meet you.\n\nBye.",
    messages: [
      { n: 1, who: "assistant", text: "Hello!", steps: ["hello"] },
      { n: 2, who: "assistant", text: "Your name?", steps: ["name"] },
      { n: 3, who: "user", text: "Ana", steps: ["name"] },
      { n: 4, who: "assistant", text: "Nice to meet you.", steps: ["nice"] },
      { n: 5, who: "user", text: "-m", steps: ["nice"] },
      { n: 6, who: "assistant", text: "Bye.", steps: ["bye"] },
    ],
    slots: {},
  });
  assert.equal(await project.read("out.txt"), `${report.value}\n`);
  const left = await project.run(["run", "talk.agent.yml", "--say=a", "--say=b", "--say=c", ...MODEL, "-q"]);
  assert.deepEqual([left.code, left.stderr], [
    1,
    "error: This conversation has ended. Start a new one.\n",
  ]);
  const empty = await project.run(["run", "talk.agent.yml", "--say= ", ...MODEL, "-q"]);
  assert.deepEqual([empty.code, empty.stderr], [2, "error: The message is empty.\n"]);
});

Deno.test("run --jsonl tells the events of all turns; every line of them has its own seq", async () => {
  await using project = await testProject(FILES);
  const { code, stdout, stderr } = await project.run(["run", "loop.agent.yaml", "--say", "a", "--jsonl"]);
  assert.equal(code, 0, stderr);
  const events = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(events.map(({ seq }) => seq), events.map((_, index) => index + 1));
  const types = events.map(({ type }) => type);
  assert.equal(types.filter((type) => type === "run-end").length, 2);
  assert.deepEqual(types.filter((type) => type === "slot-set").length, 3);
});

Deno.test("chat through a pipe: a line is a message, its end leaves the conversation held, resume goes on with it", async () => {
  await using project = await testProject(FILES);
  const first = await project.run(["chat", "talk.agent.yml", ...MODEL], { stdin: "\nAna\n" });
  assert.deepEqual([first.code, first.stdout], [0, "Hello!\nYour name?\nNice to meet you.\n"], first.stderr);
  const id = await project.newest();
  assert.match(first.stderr, new RegExp(`\\nheld; to go on: orrery resume ${id}\n$`));
  assert.deepEqual(await kept(project).then(([run]) => [run?.kind, run?.status]), ["conversation", "held"]);
  const second = await project.run(["resume", id], { stdin: "thanks\nand more\n" });
  assert.deepEqual([second.code, second.stdout], [1, "Bye.\n"]);
  assert.equal(
    second.stderr,
    "4 messages so far; the last:\n> Ana\nNice to meet you.\n" +
      `error: This conversation has ended. Start a new one.\ncompleted; all of it: orrery show conversation ${id}\n`,
  );
  const third = await project.run(["resume", id], { stdin: "x" });
  assert.equal(third.code, 1);
  assert.match(third.stderr, /This conversation has ended\. Start a new one, .* orrery fork \w+ --turn N/);
  const alone = await project.run(["chat", "talk.agent.yml", ...MODEL, "-q"]);
  assert.deepEqual(alone, { code: 0, stdout: "Hello!\nYour name?\n", stderr: "" });
});

Deno.test("a turn that fails: the person is told to try again, the operator where it was; the next message tries it again", async () => {
  await using project = await testProject(FILES);
  const chat = await project.run(["chat", "talk.agent.yml", ...MODEL], { stdin: "bad\nagain\n" });
  assert.deepEqual([chat.code, chat.stdout], [0, "Hello!\nYour name?\nwhatever\n"], chat.stderr);
  assert.match(
    chat.stderr,
    /\ntalk\.agent\.yml:9:11: error: step "nice": script\/s\.yml: too strange \(400\)\nSomething went wrong\. Send a message to try again\.\n/,
  );
  const run = await project.run(["run", "talk.agent.yml", "--say", "bad", "--say", "unsaid", ...MODEL]);
  assert.equal(run.code, 7, run.stderr);
  assert.doesNotMatch(run.stderr, /Something went wrong/);
  const id = await project.newest();
  assert.match(run.stderr, new RegExp(`\\nfailed; to try again: orrery resume ${id}\n$`));
  assert.deepEqual(await shown(project, id).then(({ status, at, turns }) => ({ status, at, turns })), {
    status: "failed",
    at: ["nice"],
    turns: 2,
  });
  await project.write(
    "s.yml",
    `- { when: "bad", error: { status: 400, message: "too strange" } }\n`.repeat(2),
  );
  const json = await project.run(["resume", id, "--json", "-q"]); // the script goes on behind what it has answered
  assert.equal(json.code, 7);
  const { status, reason, error } = JSON.parse(json.stdout);
  assert.deepEqual([status, reason], ["failed", "provider"]);
  assert.match(error, /^step "nice": /);
  await project.write("s.yml", "- text: better\n");
  const retried = await project.run(["resume", id, "-q"], { stdin: "" });
  assert.deepEqual(retried, { code: 0, stdout: "better\n", stderr: "" });
});

Deno.test("exit codes: 1 of a step, 5 of a permission, 6 of a budget", async () => {
  await using project = await testProject({
    ...FILES,
    "many.agent.yml": agent("many", ["{ id: n, counter: { slot: { name: n } } }"]),
    "two.agent.yml": agent("two", [
      "{ id: one, llm: { prompts: [ { user: hi } ] } }",
      "{ id: two, llm: { prompts: [ { user: ho } ] } }",
    ]),
  });
  await project.write(
    "orrery.yaml",
    "models: { providers: { local: { type: openai-compatible, baseURL: http://127.0.0.1:9/v1 } } }\n",
  );
  const [refused, counter, budget] = await Promise.all([
    project.run(["run", "two.agent.yml", "-m", "local/x", "--trust-project", "--deny-net"]),
    project.run(["run", "many.agent.yml", "--slot", "n=many"]),
    project.run(["run", "two.agent.yml", ...MODEL, "--budget", "turns=1"]),
  ]);
  assert.equal(refused.code, 5, refused.stderr);
  assert.match(refused.stderr, /two\.agent\.yml:7:11: error: step "one": .*--deny-net forbids it/);
  assert.equal(counter.code, 1);
  assert.match(
    counter.stderr,
    /(?:^|\n)many\.agent\.yml:7:11: error: step "n": slot "conversation\.n" holds "many", not a whole number\n/,
  );
  assert.equal(budget.code, 6, budget.stderr);
});

Deno.test("slots: of the user, of the session, given, preloaded; the session of one is not that of another", async () => {
  await using project = await testProject({
    ...FILES,
    "data.yml": "user: { title: Dr. }\nuser-config: { shop: { city: Ulm } }\n",
    "data.json": '{ "user": { "title": "Ms." } }',
    "course.module.yml":
      "module:\n  id: course\n  title: Reading\n  sessions:\n    - { id: one, title: Letters }\n    - { id: two, title: Words }\n",
    "load.agent.yml": `version: "0.1"
structure:
  id: load
  slots:
    - { name: title, source: { user: { path: title } } }
    - { name: city, source: { user-config: { key: shop, path: $.city } } }
    - { name: course, source: { module: { path: $.title, module: { selector: current } } } }
    - { name: part, source: { session: { path: $.title, session: { selector: current }, module: { selector: current } } } }
  action:
    id: main
    chain:
      - { id: say, message: { message: "{{title}}|{{city}}|{{course}}|{{part}}|{{given}}|{{global.g}}|{{session.s}}" } }
`,
  });
  const said = async (...args: string[]) => {
    const { stdout, stderr, code } = await project.run(["run", ...args, "-q"]);
    assert.equal(code, 0, stderr);
    return stdout.trim().split("\n").at(-1);
  };
  assert.equal(await said("loop.agent.yaml", "--say=a", "--say=b"), "2 of 2, 2 here");
  assert.equal(await said("loop.agent.yaml", "--say=a", "--session=other"), "1 of 3, 1 here");
  assert.equal(await said("loop.agent.yaml", "--say=a", "--user=ana"), "1 of 1, 1 here");
  assert.equal(await said("loop.agent.yaml", "--say=a", "--module=x"), "1 of 4, 1 here");
  const given = ["--slot", "given=a=b", "--slot", "global.g=1", "--slot=session.s=2"];
  assert.equal(await said("load.agent.yml", ...given), "||||a=b|1|2");
  assert.equal(
    await said("load.agent.yml", "--context=data.yml", "--module=course.module.yml", "--session=two"),
    "Dr.|Ulm|Reading|Words||1|",
  );
  assert.equal(await said("load.agent.yml", "--context", "data.json", "--user=u"), "Ms.||||||");
  const { user, module, session } = await shown(project, await project.newest());
  assert.deepEqual([user, module, session], ["u", "default", "load"]);
});

Deno.test("a collection: --collection, the settings, and a module file; a resumed conversation has the same", async () => {
  const find = agent("find", [
    '{ id: ask, message: { message: "What?", hold: true } }',
    "{ id: take, extractor: { values: [ { description: q, target: { slot: { name: q } } } ], success: { action: continue }, fail: { action: continue } } }",
    "{ id: look, retriever: { query: { name: q }, target: { slot: { name: found } }, limit: 1 } }",
    '{ id: tell, message: { message: "{{found}}", hold: true } }',
    "{ id: again, flow: { goto: take } }",
  ]);
  await using project = await testProject({
    "find.agent.yml": find,
    "q.yml": '- { when: "", object: { q: bicycle }, repeat: true }\n',
    "docs/bikes.md": "# Bikes\n\nEvery bicycle has a bell.\n",
    "docs/boats.md": "# Boats\n\nA boat has no bicycle bell.\n",
    "docs.collection.yml":
      'version: "0.1"\ndocuments:\n  - { id: bikes, file: docs/bikes.md, metadata: { name: Bikes } }\n',
    "m.module.yml":
      "module:\n  id: m\n  sessions: [ { id: s, contents: [ c ] } ]\n  contents: [ { id: c, sources: { primary: docs/boats.md } } ]\n",
  });
  const model = ["-m", "script/q.yml", "-q"];
  const none = await project.run(["run", "find.agent.yml", ...model]);
  assert.equal(none.code, 2);
  assert.match(
    none.stderr,
    /^find\.agent\.yml:9:\d+: error: .*retriever: no document collection is configured/,
  );
  const flag = await project.run([
    "run",
    "find.agent.yml",
    "--say=a",
    "--collection=docs.collection.yml",
    ...model,
  ]);
  assert.equal(
    flag.stdout,
    "What?\n\n**Source: Bikes**\n# Bikes\n\nEvery bicycle has a bell.\n",
    flag.stderr,
  );
  const resumed = await project.run(["resume", await project.newest(), "-q"], { stdin: "b\n" });
  assert.match(resumed.stdout, /^\*\*Source: Bikes\*\*/, resumed.stderr);
  const module = await project.run([
    "run",
    "find.agent.yml",
    "--say=a",
    "--module=m.module.yml",
    "--session=s",
    ...model,
  ]);
  assert.match(module.stdout, /A boat has no bicycle bell/, module.stderr);
  await project.write("orrery.yaml", "conversations: { collection: docs.collection.yml }\n");
  const settings = await project.run(["run", "find.agent.yml", "--say=a", ...model]);
  assert.match(settings.stdout, /Every bicycle has a bell/, settings.stderr);
});

Deno.test("show conversation, trace, fork --turn, rm", async () => {
  await using project = await testProject(FILES);
  await project.run(["run", "loop.agent.yaml", "--say=one", "--say=two"]);
  const id = await project.newest();
  const listed = await project.run(["list", "conversations", "--names"]);
  assert.equal(listed.stdout, `${id}\n`);
  const page = await project.run(["show", "conversation", id.slice(0, 9)]);
  assert.equal(
    page.stdout,
    `${id}  loop (loop.agent.yaml)  held at answer  3 turns
user local, module default, session loop

Hello!

> one

1 of 1, 1 here

> two

2 of 2, 2 here

Slots
  conversation.n  2
  session.n       2
  global.n        2
`,
  );
  const trace = await project.run(["trace", id]);
  assert.match(trace.stdout, new RegExp(`^${id}  conversation loop\\.agent\\.yaml  held  `));
  assert.match(
    trace.stdout,
    /\nturn 3 {2}"two"\n {2}done {2}again {2}\(main\/again\) {2}\d.*\n {2}jump {2}again -> count\n/,
  );
  assert.match(trace.stdout, /\n {2}done {2}count .*\n {8}conversation\.n = 2\n/);
  const fork = await project.run(["fork", id, "--turn", "2"]);
  const copy = fork.stdout.trim();
  assert.equal(fork.stderr, `to go on: orrery resume ${copy}\n`);
  assert.deepEqual(await shown(project, copy).then(({ turns, status }) => [turns, status]), [2, "held"]);
  const on = await project.run(["resume", copy, "-q"], { stdin: "other\n" });
  assert.equal(on.stdout, "2 of 3, 3 here\n", on.stderr);
  const anew = await project.run(["fork", id, "--turn", "0"]);
  const begun = await project.run(["resume", anew.stdout.trim(), "-q"], { stdin: "first\n" });
  assert.equal(begun.stdout, "Hello!\n1 of 4, 4 here\n", begun.stderr);
  const wrong = await project.run(["fork", id, "--turn", "7"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /has no turn 7: it has turns 1 to 3, and 0 is its beginning/);
  const key = await project.run(["fork", id, "--from", "main/count"]);
  assert.equal(key.code, 2);
  assert.match(key.stderr, /is a conversation, which goes back to an earlier turn: orrery fork \w+ --turn N/);
  assert.equal((await project.run(["rm", id])).code, 0);
  assert.equal((await kept(project)).some((run) => run.id === id), false);
  const gone = await project.run(["show", "conversation", id]);
  assert.equal(gone.code, 2);
});

Deno.test("kill -9 in the middle of a turn: resume finishes it, and nothing is said or asked twice", async () => {
  await using project = await testProject({
    "kill.agent.yml": agent("kill", [
      '{ id: hello, message: { message: "Hello!", hold: true } }',
      "{ id: first, llm: { model: script/one.yml, prompts: [ { user: one } ] } }",
      "{ id: second, llm: { model: script/two.yml, prompts: [ { user: two } ], hold: true } }",
      '{ id: bye, message: { message: "Bye." } }',
    ]),
    "one.yml": "- text: one\n",
    "two.yml": "- { chunks: [t, wo], delayMs: 600 }\n",
  });
  const chat = project.start(["chat", "kill.agent.yml"]);
  const writer = chat.stdin.getWriter();
  await writer.write(new TextEncoder().encode("go\n"));
  const reader = chat.stdout.getReader();
  assert.equal(await readUntil(reader, "one\n"), "Hello!\none\n");
  const id = await project.newest();
  const busy = await project.run(["resume", id], { stdin: "me too\n" });
  assert.equal(busy.code, 1, busy.stderr);
  assert.match(
    busy.stderr,
    /^error: The agent is still answering; try again when it is done\. .* process \d+/,
  );
  chat.kill("SIGKILL");
  await Promise.allSettled([chat.status, writer.close(), reader.cancel(), chat.stderr.cancel()]);
  assert.equal((await shown(project, id)).status, "stopped");
  await project.write("one.yml", "- text: another\n");
  const resumed = await project.run(["resume", id], { stdin: "next\n" });
  assert.deepEqual([resumed.code, resumed.stdout], [0, "two\nBye.\n"], resumed.stderr);
  assert.match(resumed.stderr, /^3 messages so far; the last:\nHello!\n> go\none\n/);
  const { messages, status } = await shown(project, id);
  assert.equal(status, "completed");
  assert.deepEqual(messages.map(({ text }: { text: string }) => text), [
    "Hello!",
    "go",
    "one",
    "two",
    "next",
    "Bye.",
  ]);
});

Deno.test("a call that may not be done twice, and whose end is not known, is done again or taken as done as the user says", async () => {
  await using project = await testProject({
    "do.agent.yml": agent("do", [
      '{ id: hello, message: { message: "Hello!", hold: true } }',
      "{ id: wait, gadget: { name: RunCommand, input: { command: sh, args: [wait.sh] }, target: { slot: { name: got } } } }",
      '{ id: bye, message: { message: "Got {{got}}." } }',
    ]),
    "wait.sh": "echo once >> done.txt\nexec sleep 5\n",
  });
  const started = async () => {
    const chat = project.start(["chat", "do.agent.yml", "--allow-run=sh"]);
    const writer = chat.stdin.getWriter();
    await writer.write(new TextEncoder().encode("go\n"));
    while (!await project.read("done.txt").then((text) => text !== "", () => false)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    chat.kill("SIGKILL");
    await Promise.allSettled([chat.status, writer.close(), chat.stdout.cancel(), chat.stderr.cancel()]);
    return await project.newest();
  };
  const id = await started();
  const asked = await project.run(["resume", id]);
  assert.deepEqual([asked.code, asked.stdout], [1, ""]);
  assert.match(asked.stderr, /One step was started and may not be done twice/);
  const [, key = ""] = /--skip (\S+) {3}takes it as done/.exec(asked.stderr) ?? [];
  const skipped = await project.run(["resume", id, "--skip", key, "-q"]);
  assert.deepEqual([skipped.code, skipped.stdout], [0, "Got .\n"], skipped.stderr);
  await project.write("done.txt", "");
  const other = await started();
  await project.write("wait.sh", "echo twice\n");
  const again = await project.run(["resume", other, "--rerun", "all", "-q"]);
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stdout, /twice/);
});

Deno.test("SIGINT: run ends with 130 and can be gone on with", async () => {
  await using project = await testProject({ ...FILES, "slow.yml": "- { chunks: [a, b], delayMs: 3000 }\n" });
  const run = project.start(["run", "talk.agent.yml", "--say=x", "-m", "script/slow.yml"]);
  const reader = run.stdout.getReader();
  await readUntil(reader, "Your name?\n");
  await new Promise((resolve) => setTimeout(resolve, 300));
  run.kill("SIGINT");
  const { code } = await run.status;
  const stderr = await new Response(run.stderr).text();
  await Promise.allSettled([reader.cancel(), run.stdin.close()]);
  assert.equal(code, 130, stderr);
  assert.match(stderr, /stopped; to go on: orrery resume \w+\n$/);
  await project.write("slow.yml", "- text: quick\n");
  const resumed = await project.run(["resume", "-q", "--json"]);
  assert.equal(resumed.code, 0, resumed.stderr);
  assert.equal(JSON.parse(resumed.stdout).value, "quick");
});

Deno.test("an agent file that has changed is used for new turns; without the step that waits, or gone, it is told", async () => {
  await using project = await testProject(FILES);
  await project.run(["run", "talk.agent.yml", ...MODEL]);
  const id = await project.newest();
  await project.write("talk.agent.yml", TALK.replace("id: name", "id: other"));
  const changed = await project.run(["resume", id], { stdin: "Ana\n" });
  assert.equal(changed.code, 2, changed.stderr);
  assert.match(
    changed.stderr,
    /error: The agent file changed and step "name" is gone; start a new conversation\.\n/,
  );
  await project.write("talk.agent.yml", "version: 1\n");
  const broken = await project.run(["resume", id], { stdin: "Ana\n" });
  assert.equal(broken.code, 2);
  assert.match(broken.stderr, /\ntalk\.agent\.yml:1:10: error: version: must be/);
  await Deno.remove(`${project.folder}/talk.agent.yml`);
  const gone = await project.run(["resume", id], { stdin: "Ana\n" });
  assert.equal(gone.code, 2);
  assert.match(
    gone.stderr,
    /^error: The agent file "talk\.agent\.yml" of conversation \w+ is gone: put it back/,
  );
  await project.write("talk.agent.yml", TALK.replace("Bye.", "Bye, then."));
  const other = await project.run(["resume", id, "-q"], { stdin: "Ana\nbye\n" });
  assert.deepEqual([other.code, other.stdout], [0, "Nice to meet you.\nBye, then.\n"], other.stderr);
});

Deno.test("what a conversation uses: documents, prompts, gadgets, a server, a variable whose value nobody sees", async () => {
  const seen: (string | null)[] = [];
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    seen.push(request.headers.get("authorization"));
    return Response.json({ items: [{ n: 6 }] });
  });
  const { port } = server.addr;
  await using project = await testProject({
    "use.agent.yml": agent("use", [
      "{ id: doc, run: { file: plan.md, input: { who: Ana }, target: { slot: { name: doc } } } }",
      "{ id: ask, llm: { prompt: greet, args: { who: Ben }, store: { slot: { name: greeting } } } }",
      '{ id: calc, gadget: { name: Calculate, input: { expression: "6 * 7" }, target: { slot: { name: calc } } } }',
      `{ id: api, api-call: { url: "http://127.0.0.1:${port}/x", method: GET, headers: [ { key: Authorization, value: "Bearer \${env.ORRERY_TEST_TOKEN}" } ], ` +
      'response-path: "$.items[0].n", target: { slot: { name: n } }, success: { action: continue }, fail: { action: end } } }',
      "{ id: tool, llm: { prompts: [ { user: what is 1 + 1 } ], tools: [Calculate] } }",
      '{ id: say, message: { message: "{{doc}}|{{calc}}|{{n}}" } }',
    ]),
    "plan.md": "---\ninputs:\n  - name: who\n---\n# A\n\n@llm\nprompt: Greet {{ inputs.who }}\n",
    "prompts/greet.prompt.md": "Say hello to {who}\n",
    "s.yml": '- { when: "Greet", text: document }\n- { when: "hello to Ben", text: hello Ben }\n' +
      '- { when: "what is", calls: [ { name: Calculate, input: { expression: 1 + 1 } } ] }\n- { when: "2", text: two }\n',
  });
  const { code, stdout, stderr } = await project.run([
    "run",
    "use.agent.yml",
    "-m",
    "script/s.yml",
    `--allow-net=127.0.0.1:${port}`,
    "--allow-env=ORRERY_TEST_TOKEN",
  ], { env: { ORRERY_TEST_TOKEN: "very-secret-token" } });
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "hello Ben\n\ntwo\n\ndocument|42|6\n");
  assert.deepEqual(seen, ["Bearer very-secret-token"]);
  const trace = await project.run(["trace", await project.newest(), "--json"]);
  assert.doesNotMatch(stderr + trace.stdout, /very-secret/);
});

Deno.test("--ephemeral keeps nothing; what is granted holds when it goes on", async () => {
  await using project = await testProject({
    ...FILES,
    "calc.agent.yml": agent("calc", [
      "{ id: ask, message: { message: What?, hold: true } }",
      "{ id: write, gadget: { name: WriteFile, input: { path: out.txt, content: hi } } }",
      "{ id: done, message: { message: written } }",
    ]),
  });
  const ephemeral = await project.run(["chat", "talk.agent.yml", "--ephemeral", ...MODEL], { stdin: "" });
  assert.deepEqual([ephemeral.code, ephemeral.stderr], [0, "held; nothing of it is kept\n"]);
  await assert.rejects(Deno.stat(`${project.folder}/.orrery`), Deno.errors.NotFound);
  await project.run(["run", "calc.agent.yml", "--allow-write=out.txt"]);
  const resumed = await project.run(["resume", "-q"], { stdin: "x\n" });
  assert.deepEqual([resumed.code, resumed.stdout], [0, "written\n"], resumed.stderr);
  assert.equal(await project.read("out.txt"), "hi");
});
