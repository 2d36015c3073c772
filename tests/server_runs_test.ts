// Runs over HTTP, each kind of them: begun, followed, asked, stopped, gone on with, here and on the command line of the same project.

import assert from "node:assert/strict";
import { join } from "node:path";
import { openJournal } from "../mod.ts";
import {
  answer,
  asked,
  begun,
  endOf,
  ran,
  refusalOf,
  runOf,
  stop,
  type Told,
  toldIn,
  toldOf,
} from "./_http_runs.ts";
import { type Served, served } from "./_served_project.ts";
import { TOKEN } from "./_server.ts";

const SUM = "!!!GADGET_START:Calculate:sum\n!!!ARG:expression\n20 + 22\n!!!GADGET_END\n";
const pause = (seconds: number, id = "pause") =>
  `!!!GADGET_START:Wait:${id}\n!!!ARG:seconds\n${seconds}\n!!!GADGET_END\n`;
const WRITE = "!!!GADGET_START:WriteFile:write\n!!!ARG:path\nout.txt\n!!!ARG:content\nhello\n!!!GADGET_END\n";
const ASK =
  '!!!GADGET_START:AskUser:ask\n!!!ARG:question\nWhich one?\n!!!ARG:choices\n["left", "right"]\n!!!GADGET_END\n';
const SLOW = '- { chunks: ["one ", "two ", "three"], delayMs: 60, repeat: true }\n';

const FILES = {
  "orrery.yaml": `models: { default: script/echo }
limits: { tokens: 1000 }
agents:
  - { name: helper, model: script/helper.yml, system: "You help." }
  - { name: caller, model: script/caller.yml, systemPrompt: caller }
  - { name: slow, model: script/slow.yml, system: "You help." }
`,
  "sum.calls": SUM,
  "pause.calls": pause(60),
  "both.calls": SUM + pause(0.3),
  "go.calls": pause(0.3, "nap") + SUM.replace(":sum", ":sum:nap"),
  "ask.calls": ASK,
  "write.calls": WRITE,
  "two.calls": WRITE.replace(":write", ":one") +
    WRITE.replace(":write", ":two:one").replace("out.txt", "other.txt"),
  "command.calls": "!!!GADGET_START:RunCommand:c\n!!!ARG:command\ntrue\n!!!GADGET_END\n",
  "outer.calls": "!!!GADGET_START:RunFile:x\n!!!ARG:file\nplain.md\n!!!GADGET_END\n",
  "asks.calls": pause(0.2, "w") + "!!!GADGET_START:RunPrompt:p:w\n!!!ARG:path\nslow\n!!!GADGET_END\n",
  "plain.md": "# A\n\nText.\n\n@return\nblock: a\n",
  "plan.md": `---
inputs: [{ name: topic }]
---
# Plan

@llm
prompt: {block: input-parameters/topic}
use-header: "# Answer"

@return
block: answer
`,
  "slow.md":
    '---\nmodel: script/slow.yml\n---\n# A\n\n@llm\nprompt: Go\nuse-header: "# Said"\n\n@return\nblock: said\n',
  "wrong.md": "# A\n\n@llm\nprmpt: x\n",
  "notes.md": "# Summary\n\nShort.\n",
  "prompts/greet.prompt.md": "Say hello to {who}.",
  "prompts/caller.prompt.md": "---\ntools: [Calculate]\n---\nYou calculate.",
  "prompts/slow.prompt.md": "Take your time.",
  "helper.yml":
    '- { when: "^Blue[?]$", text: "Yes, blue.", repeat: true }\n- { when: ".", text: "What?", repeat: true }\n',
  "caller.yml":
    '- { when: "^Two times", calls: [{ name: Calculate, input: { expression: "2 * 3" } }] }\n- { when: "6", text: "It is six." }\n',
  "slow.yml": SLOW,
  "empty.agent.yml": "",
};

const typesOf = (told: readonly Told[]) => told.flatMap(({ type, seq }) => seq === undefined ? [] : [type]);
const seqsOf = (told: readonly Told[]) => told.flatMap(({ seq }) => seq === undefined ? [] : [seq]);
const isCall = (type: string, id?: string) => (told: Told): boolean =>
  told.type === type && (id === undefined || told.data.invocationId === id);

for (const how of ["kept", "ephemeral"]) {
  Deno.test(`${how}: calls run to their end and are read, stopped, asked and removed`, async () => {
    await using server = await served(FILES, how === "kept" ? [] : ["--ephemeral"]);
    const id = await begun(server, { file: "sum.calls" });
    const told = await toldOf(server, id);
    assert.deepEqual(typesOf(told), ["run-start", "call-open", "call-run", "call-result", "run-end"]);
    assert.ok(told.every(({ data }) => data.run === undefined || data.run === id));
    const ended = await endOf(server, id);
    assert.deepEqual([ended.status, ended.value, ended.file, ended.kind, ended.calls.length], [
      "done",
      42,
      "sum.calls",
      "calls",
      1,
    ]);
    assert.deepEqual(typesOf(await toldOf(server, id, { after: 2 })), ["call-run", "call-result", "run-end"]);
    const listed: readonly Readonly<Record<string, unknown>>[] = (await server.json("/v1/runs")).body
      .runs as never;
    assert.deepEqual(listed.map((run) => [run.id, run.status]), [[id, "done"]]);
    const { body: trace } = await server.json(`/v1/runs/${id}/trace`);
    assert.ok(Array.isArray(trace.events) && trace.events.length === 5);
    assert.equal((await server.ask(`/v1/runs/${id}`, { method: "DELETE" })).status, 204);
    assert.equal((await refusalOf(server, `/v1/runs/${id}`)).code, "404 not-found");
    assert.deepEqual((await server.json("/v1/runs")).body.runs, []);

    const paused = await begun(server, { file: "pause.calls" });
    await toldOf(server, paused, { until: isCall("call-run") });
    const removed = await server.json(`/v1/runs/${paused}`, { method: "DELETE" });
    assert.deepEqual([removed.status, removed.body.code], [409, "busy"]);
    const stopped = await stop(server, paused);
    assert.deepEqual([stopped.status, stopped.reason], ["stopped", "interrupted"]);

    const asking = await begun(server, { file: "ask.calls", ask: true });
    assert.deepEqual(await asked(server, asking), [
      { ask: "a1", kind: "question", question: "Which one?", choices: ["left", "right"] },
    ]);
    assert.match(await answer(server, asking, { ask: "a1", text: "up" }), /^400 invalid/);
    assert.equal(await answer(server, asking, { ask: "a1", text: "left" }), "200");
    const chosen = await endOf(server, asking);
    assert.deepEqual([chosen.value, chosen.asks], ["left", []]);

    const writing = await begun(server, { file: "write.calls", ask: true });
    const [question] = await asked(server, writing);
    assert.equal(question?.kind, "permission");
    assert.match(question?.subject, /^write .*out\.txt$/);
    assert.match(question?.permissions[0], /--allow-write/);
    assert.equal(await answer(server, writing, { ask: "a1", allow: true }), "200");
    assert.equal((await endOf(server, writing)).status, "done");
    const answered = (await toldOf(server, writing)).filter(({ type }) => type === "permission-answer");
    assert.deepEqual(answered.map(({ data }) => [data.allowed, data.reason]), [[true, "http"]]);
    assert.equal(await server.project.read("out.txt"), "hello");
    if (how === "ephemeral") {
      await assert.rejects(Deno.stat(join(server.project.folder, ".orrery/orrery.db")));
    }
  });
}

for (const how of ["kept", "ephemeral"]) {
  Deno.test(`${how}: who looks at a run may name it by the beginning of its id, who changes it may not`, async () => {
    await using server = await served(FILES, how === "kept" ? [] : ["--ephemeral"]);
    const id = await begun(server, { file: "pause.calls" });
    await toldOf(server, id, { until: isCall("call-run") });
    const beginning = id.slice(0, 10);
    const { body } = await server.json(`/v1/runs/${beginning}`);
    assert.deepEqual([body.id, body.status], [id, "running"]);
    assert.equal(Object(await server.json(`/v1/runs/${beginning}/trace`)).body.run.id, id);
    const told = await toldOf(server, beginning, { until: isCall("call-run") });
    assert.deepEqual(typesOf(told), ["run-start", "call-open", "call-run"]);
    for (const [path, options] of [["", { method: "DELETE" }], ["/cancel", { body: {} }]] as const) {
      const { status, body } = await server.json(`/v1/runs/${beginning}${path}`, options);
      assert.deepEqual([status, body.code], [404, "not-found"]);
    }
    assert.equal((await refusalOf(server, `/v1/runs/${id.slice(0, 3)}`)).code, "404 not-found");
    await stop(server, id);
    assert.equal((await server.json(`/v1/runs/${beginning}`)).body.status, "stopped");
    const other = await begun(server, { file: "sum.calls" });
    const same = [...id].findIndex((letter, index) => letter !== other[index]);
    const both = await server.json(`/v1/runs/${id.slice(0, same)}`);
    assert.deepEqual([both.status, Object(both.body.runs).length], [404, 2]);
    assert.match(String(both.body.detail), /^2 runs begin with ".*": .*, .*\. Give more of the id$/);
  });
}

Deno.test("a name of a question is never given again, also when the run is gone on with", async () => {
  await using server = await served(FILES);
  const isOther = ({ type, data }: Told): boolean => type === "ask" && /other/.test(data.subject ?? "");
  const id = await begun(server, { file: "two.calls", ask: true });
  await asked(server, id);
  assert.equal(await answer(server, id, { ask: "a1", allow: true }), "200");
  await toldOf(server, id, { until: isOther });
  await stop(server, id);
  assert.match(
    await answer(server, id, { ask: "a2", allow: true }),
    /^409 ended: .* is not under way: it is stopped$/,
  );
  assert.equal((await server.json(`/v1/runs/${id}/resume`, { body: { ask: true } })).status, 202);
  await toldOf(server, id, { until: isOther });
  assert.match(
    await answer(server, id, { ask: "a1", allow: true }),
    /^409 ended: .* it was allowed by http$/,
  );
  assert.match(await answer(server, id, { ask: "a2", allow: true }), /^409 ended/);
  const [ask] = (await runOf(server, id)).asks;
  assert.match(ask.ask, /^a\d{4,}$/);
  assert.equal(await answer(server, id, { ask: ask.ask, allow: false }), "200");
  await endOf(server, id);
  assert.match(await answer(server, id, { ask: ask.ask, allow: true }), /it was denied by http$/);
});

Deno.test("without somebody to ask what is not granted is refused with its flag, and a command is never asked about", async () => {
  await using server = await served(FILES);
  const { status, calls: [call] } = await ran(server, { file: "write.calls" });
  assert.deepEqual([status, call.code, call.flag], ["failed", "permission", "--allow-write=out.txt"]);
  assert.match(JSON.stringify((await ran(server, { file: "ask.calls" })).calls), /nobody is at a terminal/);
  const command = await ran(server, { file: "command.calls", ask: true });
  assert.deepEqual([command.status, command.asks, command.calls[0].code], ["failed", [], "permission"]);
});

Deno.test("what cannot be started says which field or which line is wrong, and leaves no run", async () => {
  await using server = await served(FILES);
  const refused = (body: unknown, path = "/v1/runs") => refusalOf(server, path, body);
  const codes: readonly (readonly [string, unknown, RegExp?])[] = [
    ["404 not-found", { file: "none.calls" }],
    ["404 not-found", { file: "gone.md" }],
    [
      "403 outside",
      { file: "../sum.calls" },
      /^found a path that is not one of the project, expected one below its root/,
    ],
    ["400 invalid", { file: "empty.agent.yml" }],
    ["400 invalid", { file: "sum.calls", input: { a: 1 } }],
    ["400 invalid", { file: "sum.calls", model: "nonsense" }, /model/],
    ["400 invalid", { file: "plain.md", blocks: ["notes.md"] }, /^blocks: /],
    ["403 refused", { file: "plain.md", out: "result.md" }, /^out\.file: /],
    ["400 invalid", { path: "greet", input: { whom: "Ann" } }, /prompt "greet" has no variable "whom"/],
    ["400 invalid", { path: "greet", input: { who: "x" }, model: "zzz" }, /^model: .*"zzz"/],
    ["404 not-found", { path: "gret" }, /^There is no prompt "gret"\. Did you mean "greet"\?$/],
    ["404 not-found", { path: "greet", input: { who: "x" }, profile: "help" }],
  ];
  for (const [code, body, detail = /./] of codes) {
    const found = await refused(body);
    assert.equal(found.code, code, found.detail);
    assert.match(found.detail, detail);
  }
  const missing = await refused({ path: "greet", input: {} });
  assert.match(missing.detail, /give it as input\.who$/);
  assert.doesNotMatch(missing.detail, /--/);
  const wrong = await refused({ file: "wrong.md" });
  assert.deepEqual([wrong.code, wrong.body.file, wrong.body.line, wrong.body.column], [
    "422 check",
    "wrong.md",
    4,
    1,
  ]);
  const needs = await refused({ file: "plan.md" });
  assert.match(needs.detail, /input "topic" needs a value$/m); // no flag of the command line
  assert.equal((await refused({}, "/v1/gadgets/Calculator")).code, "404 not-found");
  assert.match((await refused({ input: { expression: 5 } }, "/v1/gadgets/Calculate")).code, /^422 input/);
  // What was refused is no run, what a gadget found wrong with its input is one.
  const kept = (await server.json("/v1/runs")).body.runs as readonly { readonly status: string }[];
  assert.deepEqual(kept.map(({ status }) => status), ["failed"]);
});

Deno.test("documents and prompts run with what they are given, are kept as the command line keeps them, and write nothing unasked", async () => {
  await using server = await served(FILES, ["--allow-write=out"]);
  const plain = await ran(server, { file: "plain.md" });
  assert.deepEqual([plain.kind, plain.status, plain.value], ["document", "done", "# A\n\nText."]);
  await assert.rejects(Deno.stat(join(server.project.folder, "plain.ctx")));
  await ran(server, { file: "plain.md", out: "beside" });
  assert.match(await server.project.read("plain.ctx"), /Text\./);
  await ran(server, { file: "plain.md", out: "out/result.md", blocks: ["notes.md#summary"] });
  assert.match(await server.project.read("out/result.md"), /Short\.[^]*Text\./);
  const prompt = await ran(server, { path: "greet", input: { who: "Ann" } });
  assert.deepEqual([prompt.kind, prompt.value], ["prompt", "ECHO[Say hello to Ann.]"]);
  assert.equal((await ran(server, { path: "greet", input: { who: "Ann" }, say: "Hi" })).value, "ECHO[Hi]");
  const { stdout } = await server.project.run(["runs", "--all"]);
  assert.match(stdout, new RegExp(`${plain.id} +done +document +plain\\.md`));
  assert.match(stdout, new RegExp(`${prompt.id} +done +prompt +greet`));
  // A wish never has more than the settings allow.
  for (
    const [budget, expected] of [
      [{ tokens: 5000, cost: 1 }, { tokens: 1000, cost: 1 }],
      [{ tokens: 10 }, { tokens: 10 }],
    ]
  ) {
    const { id } = await ran(server, { file: "plain.md", budget });
    const { body: { run } } = await server.json(`/v1/runs/${id}/trace`);
    assert.deepEqual((run as { input: { budget: unknown } }).input.budget, expected);
  }
});

Deno.test("a profile answers the last of the messages, knowing those before it, and calls the tools of its prompt", async () => {
  await using server = await served(FILES);
  const said = async (profile: string, messages: readonly unknown[]) => {
    const { status, body, headers } = await server.json("/v1/chat/completions", {
      body: { model: `orrery/profile/${profile}`, messages },
    });
    assert.equal(status, 200, JSON.stringify(body));
    return { text: JSON.stringify(body.choices), id: headers.get("orrery-run") };
  };
  const { text, id } = await said("helper", [
    { role: "user", content: "Which colour?" },
    { role: "assistant", content: "Guess." },
    { role: "user", content: [{ type: "text", text: "Blue?" }] },
  ]);
  assert.match(text, /"content":"Yes, blue\."/);
  const { body: { steps } } = await server.json(`/v1/runs/${id}/trace`);
  for (const part of ["You help.", "Which colour?", "Guess.", "Blue?"]) {
    assert.ok(JSON.stringify(steps).includes(part), part);
  }
  const hello = [{ role: "user", content: "Hi" }, { role: "assistant", content: "Hello." }];
  const called = await said("caller", [...hello, { role: "user", content: "Two times three?" }]);
  assert.match(called.text, /"content":"It is six\."/);
});

Deno.test("a call file that was changed is read again", async () => {
  await using server = await served(FILES, ["--ephemeral"]);
  assert.equal((await ran(server, { file: "sum.calls" })).value, 42);
  await server.project.write("sum.calls", SUM.replace("22", "23"));
  assert.equal((await ran(server, { file: "sum.calls" })).value, 43);
});

Deno.test("one gadget, with its input as it is", async () => {
  await using server = await served({
    "gadgets/keep.js": "export default { name: 'Keep', description: 'Test.', run: (input) => input };\n",
  });
  const input = { template: "{{x}} {{results.y}}\n!!!GADGET_END", data: { x: "é" } };
  const { status, body } = await server.json("/v1/gadgets/Keep", { body: { input } });
  assert.deepEqual([status, body.result], [200, input]);
  assert.equal((await runOf(server, String(body.run))).file, "Keep");
  const unsayable = await fetch(`${server.origin}/v1/gadgets/Keep`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: '{ "input": { "__proto__": 1 } }',
  });
  assert.deepEqual([unsayable.status, (await unsayable.json()).code], [400, "invalid"]);
});

Deno.test("a run has as many steps as the journal has of it, also while it is held", async () => {
  await using server = await served({ ...FILES, "pause.calls": SUM + pause(60) });
  for (const file of ["outer.calls", "plain.md", "pause.calls"]) {
    const id = await begun(server, { file });
    if (file === "pause.calls") await toldOf(server, id, { until: isCall("call-result") });
    else await endOf(server, id);
    const { body: { summary } } = await server.json(`/v1/runs/${id}/trace`);
    const { steps } = summary as { readonly steps: number };
    assert.equal((await runOf(server, id)).steps, steps, file);
    const listed = (await server.json("/v1/runs")).body.runs as readonly { id: string; steps: number }[];
    assert.equal(listed.find((run) => run.id === id)?.steps, steps, file);
  }
});

Deno.test("no more runs than limits.runs, begun or gone on with, and those that are refused wait for nothing", async () => {
  await using server = await served({ ...FILES, "orrery.yaml": "limits: { runs: 2 }\n" });
  const start = () => server.json("/v1/runs", { body: { file: "pause.calls" } });
  const first = await begun(server, { file: "pause.calls" });
  const two = await Promise.all([start(), start()]);
  assert.deepEqual(two.map(({ status }) => status).sort(), [202, 429]);
  const refused = await start();
  assert.deepEqual([refused.status, refused.body.code, refused.headers.get("retry-after")], [
    429,
    "limit",
    "1",
  ]);
  const ids = [first, ...two.flatMap(({ status, body }) => status === 202 ? [String(body.id)] : [])];
  for (const id of ids) await stop(server, id);
  const again = await begun(server, { file: "pause.calls" });
  await stop(server, again);
  const resumed = await Promise.all(
    [...ids, again].map((id) => server.json(`/v1/runs/${id}/resume`, { body: {} })),
  );
  assert.deepEqual(resumed.map(({ status }) => status).sort(), [202, 202, 429]);
});

Deno.test("a reader that leaves does not stop the run", async () => {
  await using server = await served(FILES);
  const id = await begun(server, { file: "both.calls" });
  await toldOf(server, id, { until: () => true });
  assert.equal((await endOf(server, id)).status, "done");
});

Deno.test("a run that was stopped goes on, and its readers see each event once", async () => {
  await using server = await served(FILES);
  const id = await begun(server, { file: "both.calls" });
  const seen = await toldOf(server, id, { until: isCall("call-result") });
  assert.equal((await stop(server, id)).status, "stopped");
  const { startedAt } = await runOf(server, id);
  assert.equal((await server.json(`/v1/runs/${id}/resume`, { body: {} })).status, 202);
  const rest = await toldOf(server, id, { after: Math.max(...seqsOf(seen)) });
  const ended = await endOf(server, id);
  assert.deepEqual([ended.status, ended.value, ended.calls.length, ended.startedAt], [
    "done",
    { sum: 42, pause: 0.3 },
    2,
    startedAt,
  ]);
  assert.ok(!typesOf(rest).includes("run-start"));
  assert.equal(typesOf([...seen, ...rest]).filter((type) => type === "call-result").length, 2);
  const whole = await toldOf(server, id);
  assert.deepEqual(seqsOf(whole), [...new Set(seqsOf(whole))].sort((a, b) => a - b));
  assert.equal(typesOf(whole).filter((type) => type === "call-open").length, 2);
  assert.equal((await refusalOf(server, `/v1/runs/${id}/resume`, {})).code, "409 ended");
});

const SAID = "one two three";

/** How each kind of run is begun, and what it gives in the end. */
const KINDS: Readonly<Record<string, readonly [body: Readonly<Record<string, unknown>>, value: string]>> = {
  "calls of a file": [{ file: "go.calls" }, "42"],
  "a document": [{ file: "slow.md" }, `# Said\n${SAID}`],
  "a prompt": [{ path: "slow", model: "script/slow.yml" }, SAID],
  "a profile": [
    { model: "orrery/profile/slow", messages: [{ role: "user", content: "Go" }], stream: true },
    SAID,
  ],
};

/** Begins it, and leaves it when it tells what it does; gives its id. */
async function stopped(server: Served, body: Readonly<Record<string, unknown>>): Promise<string> {
  if (!("messages" in body)) {
    const id = await begun(server, body);
    await toldOf(server, id, { until: ({ type }) => /^(text-delta|call-run)$/.test(type) });
    assert.equal((await stop(server, id)).status, "stopped");
    return id;
  }
  // The client of a profile that goes away ends what it says.
  const response = await server.ask("/v1/chat/completions", { body });
  const id = response.headers.get("orrery-run") ?? "";
  await toldOf(server, id, { until: ({ type }) => type === "text-delta" });
  await response.body?.cancel();
  assert.equal((await endOf(server, id)).status, "stopped");
  return id;
}

Deno.test("each kind of run is stopped, and goes on here and on the command line", async () => {
  await using server = await served(FILES);
  for (const [name, [body, value]] of Object.entries(KINDS)) {
    const first = await stopped(server, body);
    const resumed = await server.json(`/v1/runs/${first}/resume`, { body: { budget: { turns: 50 } } });
    assert.deepEqual([resumed.status, resumed.body.id], [202, first], name);
    const ended = await endOf(server, first);
    assert.deepEqual([ended.status, String(ended.value)], ["done", value], name);
    const second = await stopped(server, body);
    const own = await server.project.run(["resume", second]);
    assert.deepEqual([own.code, own.stdout.trimEnd()], [0, value], own.stderr);
    assert.equal((await runOf(server, second)).status, "done");
    assert.equal((await refusalOf(server, `/v1/runs/${second}/resume`, {})).code, "409 ended");
  }
});

const DOWN = '- error: { status: 400, message: "no" }\n';

Deno.test("what the command line was stopped in goes on over HTTP, but no chat, and no prompt that has changed", async () => {
  await using server = await served({ ...FILES, "down.yml": DOWN });
  const { project } = server;
  const model = ["-m", "script/down.yml"];
  const wanted = [
    ["run", "slow.md", ...model],
    ["run", "greet", "-i", "who=Ann", ...model],
    ["ask", "Hi", ...model],
    ["ask", "Hi", "--profile", "helper", ...model],
  ];
  for (const args of wanted) {
    await project.write("down.yml", DOWN);
    assert.notEqual((await project.run(args)).code, 0);
    await project.write("down.yml", "- text: Up\n");
    const id = await project.newest();
    assert.equal((await server.json(`/v1/runs/${id}/resume`, { body: {} })).status, 202, args.join(" "));
    const { status, value } = await endOf(server, id);
    assert.deepEqual([status, String(value).endsWith("Up")], ["done", true], args.join(" "));
  }
  await project.write("down.yml", DOWN);
  await project.run(["run", "greet", "-i", "who=Ann", ...model]);
  const id = await project.newest();
  await project.write("prompts/greet.prompt.md", "Say goodbye to {who}.");
  assert.equal((await refusalOf(server, `/v1/runs/${id}/resume`, {})).code, "409 changed");
  await project.run(["chat", "-m", "script/echo", "-q"], { stdin: "one\n" });
  const chat = await refusalOf(server, `/v1/runs/${await project.newest()}/resume`, {});
  assert.match(chat.detail, /is a chat at a terminal, which goes on there: orrery resume /);
  const theirs = JSON.parse((await project.run(["run", "both.calls", "--json"])).stdout);
  assert.equal((await runOf(server, theirs.run)).status, "done");
  assert.equal((await refusalOf(server, `/v1/runs/${theirs.run}/resume`, {})).code, "409 ended");
});

Deno.test("two servers of a project: a run that was stopped here and ended there is what it has become, at once", async () => {
  await using server = await served({ ...FILES, "go.calls": pause(0.4) });
  await using other = await served(server.project);
  const id = await begun(server, { file: "go.calls" });
  await toldOf(server, id, { until: isCall("call-run") });
  await stop(server, id);
  assert.equal((await other.json(`/v1/runs/${id}/resume`, { body: {} })).status, 202);
  const under = await runOf(server, id);
  assert.deepEqual([under.status, under.owned], ["running", true]);
  assert.equal((await refusalOf(server, `/v1/runs/${id}/resume`, {})).code, "409 busy");
  assert.equal((await endOf(other, id)).status, "done");
  assert.equal((await runOf(server, id)).status, "done");
  const [listed] = (await server.json("/v1/runs")).body.runs as readonly { readonly status: string }[];
  assert.equal(listed?.status, "done");
});

Deno.test("calls that go on get the budget that is wished of them then", async () => {
  await using server = await served({ ...FILES, "orrery.yaml": "models: { default: script/slow.yml }\n" });
  const free = await stopped(server, { file: "asks.calls" });
  assert.equal((await server.json(`/v1/runs/${free}/resume`, { body: {} })).status, 202);
  assert.equal((await endOf(server, free)).status, "done");
  const bound = await stopped(server, { file: "asks.calls" });
  await server.json(`/v1/runs/${bound}/resume`, { body: { budget: { timeMs: 30 } } });
  const ended = await endOf(server, bound);
  assert.match(JSON.stringify(ended.calls), /budget|time/);
  assert.notEqual(ended.status, "done");
});

Deno.test("a long run of another process is read a part at a time from any place, until it is removed", async () => {
  await using server = await served({});
  using journal = openJournal(server.project.folder);
  const run = journal.create({ kind: "calls", input: null });
  for (let seq = 1; seq <= 3_000; seq++) {
    run.tell({ type: "warning", text: "w".repeat(200), seq, at: seq, run: run.id });
    if (seq % 7 === 0) run.commit();
  }
  run.release("stopped");
  for (const after of [0, 1_234, 2_999, 3_000, 9_999]) {
    assert.deepEqual(
      seqsOf(await toldOf(server, run.id, { after })),
      Array.from({ length: Math.max(0, 3_000 - after) }, (_, n) => after + n + 1),
    );
  }
  assert.equal((await runOf(server, run.id)).status, "stopped");
  for (const id of ["none", run.id.slice(0, 3)]) {
    assert.equal((await refusalOf(server, `/v1/runs/${id}/events`)).code, "404 not-found");
    assert.equal((await refusalOf(server, `/v1/runs/${id}`)).code, "404 not-found");
  }
  const reading = toldIn(await server.ask(`/v1/runs/${run.id}/events`));
  assert.equal((await reading.next()).value?.seq, 1);
  assert.equal((await server.ask(`/v1/runs/${run.id}`, { method: "DELETE" })).status, 204);
  let last = 1;
  for await (const { seq = 0 } of reading) {
    assert.equal(seq, last + 1);
    last = seq;
  }
});

Deno.test("runs are listed newest first, by kind, file and place", async () => {
  await using server = await served({ ...FILES, "b.calls": SUM });
  const ids: string[] = [];
  for (const file of ["sum.calls", "b.calls", "sum.calls"]) {
    const { id } = await ran(server, { file });
    ids.unshift(id);
    await new Promise((resolve) => setTimeout(resolve, 40)); // ids of one moment are in no order
  }
  const listed = async (query: string) => {
    const { runs } = (await server.json(`/v1/runs?${query}`)).body;
    return (runs as readonly { readonly id: string }[]).map(({ id }) => id);
  };
  assert.deepEqual(await listed(""), ids);
  assert.deepEqual(await listed("limit=1"), ids.slice(0, 1));
  assert.deepEqual(await listed("file=sum.calls"), [ids[0], ids[2]]);
  assert.deepEqual(await listed("kind=prompt"), []);
  assert.deepEqual(await listed(`status=done&before=${ids[0]}`), ids.slice(1));
  assert.equal((await refusalOf(server, "/v1/runs?before=nothing")).code, "404 not-found");
});

Deno.test("settings that change count from the next look on; broken ones are told once, and read when they are repaired, also in the same moment", async () => {
  await using server = await served({ ...FILES, "orrery.yaml": "limits: { runs: 1 }\n" });
  const path = join(server.project.folder, "orrery.yaml");
  const at = new Date(Date.now() - 60_000);
  /** How many runs may go on, once the settings have been looked at again. */
  const limit = async (text: string): Promise<number> => {
    Deno.writeTextFileSync(path, text);
    Deno.utimeSync(path, at, at);
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    const ids: string[] = [];
    for (;;) {
      const { status, body } = await server.json("/v1/runs", { body: { file: "pause.calls" } });
      if (status !== 202) break;
      ids.push(String(body.id));
    }
    for (const id of ids) await stop(server, id);
    return ids.length;
  };
  const [BAD, GOOD, NEW] = ["limits: { runs: x }\n", "limits: { runs: 3 }\n", "limits: { runs: 4 }\n"];
  assert.equal(await limit(GOOD), 3);
  assert.equal(await limit(BAD), 3);
  assert.equal(await limit(BAD), 3);
  assert.equal(server.told().match(/cannot be read; it stays as it was/g)?.length, 1, "it is said once");
  assert.equal(await limit(NEW), 4);
});
