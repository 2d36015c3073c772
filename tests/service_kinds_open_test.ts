// Runs of each kind in a project that is held open: begun, stopped, gone on with; and the same by the command line in the same project.
import assert from "node:assert/strict";
import { NO_GRANTS } from "../lib/project/trust/grants.ts";
import { openService } from "../lib/service/open_service.ts";
import {
  type RunHandle,
  type RunState,
  type Service,
  ServiceError,
  type StartRun,
} from "../lib/service/service.ts";
import { type TestProject, testProject } from "./_project.ts";

const SLOW = '- { chunks: ["one ", "two ", "three"], delayMs: 150, repeat: true }\n';

const FILES = {
  "orrery.yaml":
    'models: { default: script/slow.yml }\nagents:\n  - { name: helper, model: script/slow.yml, system: "You help." }\n',
  "slow.yml": SLOW,
  "plan.md": '# A\n\n@llm\nprompt: Go\nuse-header: "# Said"\n\n@return\nblock: said\n',
  "prompts/slow.prompt.md": "Take your time.",
  "go.calls":
    "!!!GADGET_START:Wait:nap\n!!!ARG:seconds\n0.4\n!!!GADGET_END\n!!!GADGET_START:Calculate:sum:nap\n!!!ARG:expression\n1 + 2\n!!!GADGET_END\n",
  "guide.agent.yml": `version: "0.1"
structure:
  id: guide
  action:
    id: main
    chain:
      - { id: colour?, gadget: { name: AskUser, input: { question: "Which colour?" }, target: { slot: { name: colour } } } }
      - { id: more?, message: { message: "{{colour}}. More?", hold: true } }
      - { id: said, llm: { prompts: [ { user: "Go." } ] } }
      - { id: end, flow: { action: end } }
`,
};

const KINDS: readonly (readonly [string, StartRun, string])[] = [
  ["calls of a file", { kind: "file", file: "go.calls" }, "3"],
  ["a document", { kind: "file", file: "plan.md" }, "# Said\none two three"],
  ["a prompt", { kind: "prompt", path: "slow" }, "one two three"],
  [
    "a profile",
    { kind: "ask", profile: "helper", messages: [{ role: "user", content: "Go" }] },
    "one two three",
  ],
];

function open(project: TestProject, ephemeral = false): Promise<Service> {
  return openService({ folder: project.folder, ephemeral, grants: NO_GRANTS, notice: () => {} });
}

/** Stops it once it has told what it is doing. */
async function stopped(run: RunHandle): Promise<RunState> {
  const reader = run.read({ after: 0 });
  for (let frames; (frames = await reader.next({ maxBytes: 65_536 })) !== undefined;) {
    if (frames.some((frame) => "event" in frame && /^(text-delta|call-run)$/.test(frame.event.type))) break;
  }
  reader.leave();
  run.cancel("enough");
  return await run.ended;
}

for (const [name, wish, value] of KINDS) {
  Deno.test(`${name}: runs, is stopped, and goes on here and on the command line`, async () => {
    await using project = await testProject(FILES);
    await using service = await open(project);
    const whole = await (await service.start(wish)).ended;
    assert.deepEqual([whole.status, String(whole.value)], ["done", value], whole.error);
    const first = await stopped(await service.start(wish));
    assert.equal(first.status, "stopped");
    const resumed = await (await service.resume(first.id, { budget: { turns: 50 } })).ended;
    assert.deepEqual([resumed.status, String(resumed.value), resumed.id], ["done", value, first.id]);
    const second = await stopped(await service.start(wish));
    const own = await project.run(["resume", second.id]);
    assert.deepEqual([own.code, own.stdout.trimEnd()], [0, value], own.stderr);
    assert.equal((await service.trace(second.id)).summary.status, "done");
    await assert.rejects(
      service.resume(second.id, {}),
      (error) => error instanceof ServiceError && error.code === "ended",
    );
  });
}

Deno.test("what the command line was stopped in goes on in the service", async () => {
  await using project = await testProject({
    ...FILES,
    "slow.yml": '- error: { status: 400, message: "no" }\n',
  });
  await using service = await open(project);
  for (
    const args of [["run", "plan.md"], ["run", "slow"], ["ask", "Go"], ["ask", "Go", "--profile", "helper"]]
  ) {
    await project.write("slow.yml", '- error: { status: 400, message: "no" }\n');
    const failed = await project.run(args);
    assert.notEqual(failed.code, 0);
    await project.write("slow.yml", SLOW);
    const { status, value } = await (await service.resume(await project.newest(), {})).ended;
    assert.deepEqual([status, String(value).endsWith("one two three")], ["done", true], args.join(" "));
  }
});

for (const isEphemeral of [false, true]) {
  Deno.test(`a conversation asks, is stopped, finished and ends${isEphemeral ? ", with nothing kept" : ""}`, async () => {
    await using project = await testProject(FILES);
    await using service = await open(project, isEphemeral);
    const { talk, turn } = await service.talks.begin({ agent: "guide.agent.yml", canAsk: true });
    const [ask] = await asked(turn);
    assert.deepEqual([ask?.kind, ask?.question], ["question", "Which colour?"]);
    assert.deepEqual((await talk.state()).asks, turn.state.asks);
    assert.equal(turn.answer(ask?.ask ?? "", { text: "Blue" }, { by: "test" }), true);
    assert.equal((await turn.ended).status, "held");
    assert.deepEqual((await talk.state({ last: 1 })).messages.map(({ text }) => text), ["Blue. More?"]);
    const said = await stopped(await talk.say("yes"));
    assert.equal(said.status, "stopped");
    assert.equal((await talk.state()).status, "failed");
    const again = isEphemeral ? await talk.retry() : await service.resume(talk.id, {});
    assert.equal((await again.ended).status, "completed");
    assert.deepEqual((await talk.state({ last: 1 })).messages.map(({ text }) => text), ["one two three"]);
    assert.equal(service.active, 0);
    if (isEphemeral) await assert.rejects(Deno.stat(`${project.folder}/.orrery/orrery.db`));
  });
}

async function asked(turn: RunHandle) {
  const reader = turn.read({ after: 0 });
  for (let frames; (frames = await reader.next({ maxBytes: 65_536 })) !== undefined;) {
    const asks = frames.flatMap((frame) => "ask" in frame ? [frame.ask] : []);
    if (asks.length === 0) continue;
    reader.leave();
    return asks;
  }
  return [];
}

Deno.test("without anybody to be asked the conversation says so before it begins, or fails its step", async () => {
  await using project = await testProject(FILES);
  await using service = await open(project);
  const { turn } = await service.talks.begin({ agent: "guide.agent.yml" });
  const { status, error } = await turn.ended;
  assert.equal(status, "failed");
  assert.match(error ?? "", /AskUser|asked|terminal/);
});
