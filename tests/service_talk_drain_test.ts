// A conversation under way when its process is told to end: the step that is being made may end, no other one begins, and whoever goes on
// with it hears the rest, each thing once.

import assert from "node:assert/strict";
import { openJournal } from "../mod.ts";
import type { Frame, RunHandle } from "../lib/service/service.ts";
import { framesOf, serviceOf } from "./_service.ts";
import type { TestService } from "./_service.ts";

const wait = (id: string, seconds: number): string =>
  `{ id: ${id}, gadget: { name: Wait, input: { seconds: ${seconds} }, target: { slot: { name: ${id} } } } }`;
const say = (id: string, text: string): string => `{ id: ${id}, message: { message: "${text}" } }`;

const agent = (...steps: readonly string[]): string =>
  `version: "0.1"
structure:
  id: guide
  action:
    id: main
    chain:
      - { id: name?, message: { message: "Your name?", hold: true } }
${
    steps.map((step) => `      - ${step}\n`).join("")
  }      - { id: more?, message: { message: "More?", hold: true } }
`;

/** Whether the frame tells of this step's beginning. */
const begins = (key: string) => (frame: Frame): boolean =>
  "event" in frame && frame.event.type === "step-start" && frame.event.key.includes(key);

const saidIn = (frames: readonly Frame[]): readonly string[] =>
  frames.flatMap((frame) => "event" in frame && frame.event.type === "message" ? [frame.event.text] : []);

/** A conversation that was answered and has come to this step; `messages` is what its readers get of the turn. */
async function talking(test: TestService, step: string): Promise<{
  readonly id: string;
  /** How the turn ends. */
  readonly ended: RunHandle["ended"];
  readonly messages: Promise<readonly string[]>;
}> {
  const { talk, turn: first } = await test.service.talks.begin({ agent: "guide.agent.yml" });
  assert.equal((await first.ended).status, "held");
  const turn = await talk.say("Ann");
  const frames = framesOf(turn.read({ after: turn.before }));
  await framesOf(turn.read({ after: turn.before }), { until: begins(step) });
  return { id: talk.id, ended: turn.ended, messages: frames.then(saidIn) };
}

interface Kept {
  readonly status: string;
  /** Texts of its messages, as they were told. */
  readonly told: readonly string[];
  /** As the next turn has them. */
  readonly log: readonly string[];
  /** Gadgets that were called, and how often. */
  readonly calls: readonly string[];
  readonly turns: number;
}

function kept(test: TestService, id: string): Kept {
  using journal = openJournal(test.project.folder);
  const { summary, events, messages, steps, checkpoints } = journal.read(id);
  return {
    status: summary.status,
    told: events.flatMap((event) => event.type === "message" ? [event.text] : []),
    log: messages.map(({ text }) => text),
    calls: steps.filter(({ kind }) => kind === "gadget").map(({ attempt, status }) => `${attempt} ${status}`),
    turns: checkpoints.length,
  };
}

const WHOLE = ["Your name?", "Before.", "Between.", "Behind.", "More?"];
const LOG = ["Your name?", "Ann", "Before.", "Between.", "Behind.", "More?"];
const STEPS = [
  say("before", "Before."),
  wait("one", 1),
  say("between", "Between."),
  wait("two", 1),
  say("behind", "Behind."),
];

Deno.test("a turn whose last step is under way comes to its end", async () => {
  await using test = await serviceOf({ "guide.agent.yml": agent(wait("one", 1), say("behind", "Behind.")) });
  const { id, ended, messages } = await talking(test, "one");
  const startedAt = performance.now();
  await test.service.stop({ graceMs: 10_000 });
  assert.ok(performance.now() - startedAt < 5_000);
  assert.equal((await ended).status, "held");
  assert.deepEqual(await messages, ["Behind.", "More?"]);
  const { status, turns, log } = kept(test, id);
  assert.deepEqual({ status, turns, log }, {
    status: "held",
    turns: 2,
    log: ["Your name?", "Ann", "Behind.", "More?"],
  });
});

Deno.test("a turn with more steps stops behind the one under way, and goes on at the command line", async () => {
  await using test = await serviceOf({ "guide.agent.yml": agent(...STEPS) });
  const { id, ended, messages } = await talking(test, "one");
  const startedAt = performance.now();
  const stopped = test.service.stop({ graceMs: 10_000 });
  await assert.rejects(test.service.talks.begin({ agent: "guide.agent.yml" }), { code: "stopping" });
  await stopped;
  assert.ok(performance.now() - startedAt < 1_900, "the second step did not begin");
  const { status, reason } = await ended;
  assert.deepEqual([status, reason], ["stopped", "interrupted"]);
  const before = kept(test, id);
  assert.deepEqual([before.status, before.turns, before.calls], ["stopped", 1, ["1 finished"]]);
  assert.deepEqual(before.told, WHOLE.slice(0, 3));
  assert.deepEqual(await messages, ["Before.", "Between."]);
  const { code, stdout, stderr } = await test.project.run(["resume", id, "--json"]);
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).status, "held");
  const { status: now, told, log, calls, turns } = kept(test, id);
  assert.deepEqual({ now, told, log, calls, turns }, {
    now: "held",
    told: WHOLE,
    log: LOG,
    calls: ["1 finished", "1 finished"],
    turns: 2,
  });
});

Deno.test("a step that takes too long is left, and made again when the turn goes on", async () => {
  await using test = await serviceOf({
    "guide.agent.yml": agent(say("before", "Before."), wait("one", 1.5), say("behind", "Behind.")),
  });
  const { id, ended } = await talking(test, "one");
  await test.service.stop({ graceMs: 100 });
  assert.equal((await ended).status, "stopped");
  assert.deepEqual(kept(test, id).calls, ["1 started"]);
  const { code, stderr } = await test.project.run(["resume", id, "--json"]);
  assert.equal(code, 0, stderr);
  const { status, told, calls } = kept(test, id);
  assert.deepEqual([status, calls], ["held", ["2 finished"]]);
  assert.deepEqual(told, ["Your name?", "Before.", "Behind.", "More?"]);
});

Deno.test("side by side, what is under way in a turn ends, and what was refused has not failed", async () => {
  const branch = (id: string, first: number): string =>
    `{ id: ${id}, chain: [ ${wait(`${id}1`, first)}, ${say(`${id}2`, `${id} half.`)}, ${
      wait(`${id}3`, 0.1)
    }, ${say(`${id}4`, `${id} done.`)} ] }`;
  for (const order of [["quick", "slow"], ["slow", "quick"]]) {
    const [first = "", second = ""] = order;
    const seconds = (id: string) => id === "quick" ? 0.4 : 1;
    await using test = await serviceOf({
      "guide.agent.yml": agent(
        `{ id: both, combined: [ ${branch(first, seconds(first))}, ${branch(second, seconds(second))} ] }`,
        say("behind", "Behind."),
      ),
    });
    const { id, ended, messages } = await talking(test, first);
    await test.service.stop({ graceMs: 10_000 });
    assert.equal((await ended).status, "stopped");
    const before = kept(test, id);
    assert.deepEqual([before.status, before.turns], ["stopped", 1]);
    assert.deepEqual(before.calls, ["1 finished", "1 finished"]);
    const { code, stderr } = await test.project.run(["resume", id, "--json"]);
    assert.equal(code, 0, stderr);
    const { status, told, calls } = kept(test, id);
    assert.equal(status, "held");
    assert.deepEqual(calls, Array.from({ length: 4 }, () => "1 finished"));
    const whole = order.flatMap((branch) => [`${branch} half.`, `${branch} done.`]);
    assert.deepEqual(told, ["Your name?", ...whole, "Behind.", "More?"]);
    assert.deepEqual(before.told, told.slice(0, before.told.length));
    assert.deepEqual(await messages, before.told.slice(1), "what readers heard is what was kept");
  }
});

Deno.test("where nothing is kept a turn under way has its time", async () => {
  await using test = await serviceOf({ "guide.agent.yml": agent(...STEPS) }, { ephemeral: true });
  const { ended, messages } = await talking(test, "one");
  await test.service.stop({ graceMs: 10_000 });
  assert.equal((await ended).status, "held");
  assert.deepEqual(await messages, ["Before.", "Between.", "Behind.", "More?"]);
});
