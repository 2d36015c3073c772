// A server that is told to end: the steps that are under way may end, nothing new begins, and what is left goes on as if nothing had been.

import assert from "node:assert/strict";
import { openJournal } from "../mod.ts";
import { begun, endOf, refusalOf, type Told, toldOf } from "./_http_runs.ts";
import { type Served, served } from "./_served_project.ts";

const pause = (seconds: number, header: string) =>
  `!!!GADGET_START:Wait:${header}\n!!!ARG:seconds\n${seconds}\n!!!GADGET_END\n`;
const sum = (header: string) =>
  `!!!GADGET_START:Calculate:${header}\n!!!ARG:expression\n20 + 22\n!!!GADGET_END\n`;

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

/** A conversation that was answered and has come to this step; `messages` is what its readers get of the turn. */
async function talking(
  server: Served,
  { agent, step }: { readonly agent: string; readonly step: string },
): Promise<{ readonly id: string; readonly messages: Promise<readonly string[]> }> {
  const id = await begun(server, { agent }, "/v1/conversations");
  const first = await toldOf(server, id, { of: "conversations", until: ({ type }) => type === "run-end" });
  const after = first.at(-1)?.seq ?? 0;
  const answering = server.json(`/v1/conversations/${id}/messages`, { body: { text: "Ann" } });
  answering.catch(() => undefined); // the server may close before it is answered
  await toldOf(server, id, {
    of: "conversations",
    after,
    until: ({ type, data }) => type === "step-start" && data.key.includes(step),
  });
  const messages = toldOf(server, id, { after }).then((told) =>
    told.flatMap(({ type, data }) => type === "message" ? [data.text] : [])
  );
  return { id, messages };
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

function kept({ project }: Served, id: string): Kept {
  using journal = openJournal(project.folder);
  const { summary, events, messages, steps, checkpoints } = journal.read(id);
  return {
    status: summary.status,
    told: events.flatMap((event) => event.type === "message" ? [event.text] : []),
    log: messages.map(({ text }) => text),
    calls: steps.filter(({ kind }) => kind === "gadget").map(({ attempt, status }) => `${attempt} ${status}`),
    turns: checkpoints.length,
  };
}

async function goOn({ project }: Served, id: string): Promise<Readonly<Record<string, unknown>>> {
  const { code, stdout, stderr } = await project.run(["resume", id, "--json"]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

const ORDERS = [["quick", "slow"], ["slow", "quick"]] as const;

/** Two branches, of which one ends sooner. */
function sideBySide(order: (typeof ORDERS)[number]): string {
  const branch = (id: string): string =>
    `{ id: ${id}, chain: [ ${wait(`${id}1`, id === "quick" ? 0.7 : 1.3)}, ${say(`${id}2`, `${id} half.`)}, ${
      wait(`${id}3`, 0.1)
    }, ${say(`${id}4`, `${id} done.`)} ] }`;
  return agent(`{ id: both, combined: [ ${order.map(branch).join(", ")} ] }`, say("behind", "Behind."));
}

Deno.test("side by side, what is under way ends before runs and turns stop, and what was refused has not failed", async () => {
  await using server = await served({
    "two.calls": pause(0.7, "quick") + sum("behindQuick:quick") + pause(1.3, "slow") + sum("behindSlow:slow"),
    "last.agent.yml": agent(wait("one", 1), say("behind", "Behind.")),
    "quick.agent.yml": sideBySide(ORDERS[0]),
    "slow.agent.yml": sideBySide(ORDERS[1]),
  });
  const { project } = server;
  const running = async (): Promise<string> => {
    const id = await begun(server, { file: "two.calls" });
    const isSlow = ({ type, data }: Told) => type === "call-run" && data.invocationId === "slow";
    await toldOf(server, id, { until: isSlow });
    return id;
  };
  const [last, calls, ...talks] = await Promise.all([
    talking(server, { agent: "last.agent.yml", step: "one" }),
    running(),
    ...ORDERS.map(async (order) => ({
      order,
      ...await talking(server, { agent: `${order[0]}.agent.yml`, step: order[0] }),
    })),
  ]);
  const startedAt = performance.now();
  const stopped = server.stop();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal((await refusalOf(server, "/v1/runs", { file: "two.calls" })).code, "503 stopping");
  assert.equal(
    (await refusalOf(server, "/v1/conversations", { agent: "last.agent.yml" })).code,
    "503 stopping",
  );
  assert.equal(await stopped, 0);
  assert.ok(performance.now() - startedAt < 8_000);

  const trace = async () => JSON.parse((await project.run(["trace", calls, "--json"])).stdout);
  const before = await trace();
  assert.equal(before.summary.status, "stopped");
  const steps: readonly { readonly key: string; readonly status: string }[] = before.steps;
  assert.deepEqual(steps.map(({ key, status }) => `${key} ${status}`).sort(), [
    "call:quick finished",
    "call:slow finished",
  ]);
  assert.deepEqual((await goOn(server, calls)).value, { behindQuick: 42, behindSlow: 42 });
  const { events }: { readonly events: readonly { readonly type: string }[] } = await trace();
  const outcomes = events.map(({ type }) => type).filter((type) => /^call-(result|error|skip)$/.test(type));
  assert.deepEqual(outcomes, Array.from({ length: 4 }, () => "call-result"));

  // A turn whose last step is under way comes to its end.
  assert.deepEqual(await last.messages, ["Behind.", "More?"]);
  const { status, turns, log } = kept(server, last.id);
  assert.deepEqual({ status, turns, log }, {
    status: "held",
    turns: 2,
    log: ["Your name?", "Ann", "Behind.", "More?"],
  });

  for (const { order, id, messages } of talks) {
    const before = kept(server, id);
    assert.deepEqual([before.status, before.turns], ["stopped", 1]);
    assert.deepEqual(before.calls, ["1 finished", "1 finished"]);
    await goOn(server, id);
    const { status, told, calls } = kept(server, id);
    assert.equal(status, "held");
    assert.deepEqual(calls, Array.from({ length: 4 }, () => "1 finished"));
    const whole = order.flatMap((branch) => [`${branch} half.`, `${branch} done.`]);
    assert.deepEqual(told, ["Your name?", ...whole, "Behind.", "More?"]);
    assert.deepEqual(before.told, told.slice(0, before.told.length));
    assert.deepEqual(await messages, before.told.slice(1), "what readers heard is what was kept");
  }
});

const STEPS = [
  say("before", "Before."),
  wait("one", 0.7),
  say("between", "Between."),
  wait("two", 0.7),
  say("behind", "Behind."),
];

Deno.test("where nothing is kept a turn under way has its time", async () => {
  await using server = await served({ "guide.agent.yml": agent(...STEPS) }, ["--ephemeral"]);
  const { messages } = await talking(server, { agent: "guide.agent.yml", step: "one" });
  assert.equal(await server.stop(), 0);
  assert.deepEqual(await messages, ["Before.", "Between.", "Behind.", "More?"]);
});

Deno.test("what is asked for while it stops does not begin, and says why", async () => {
  const files = { "pause.calls": pause(60, "p"), "short.calls": pause(3, "s"), "doc.md": "# Title\n" };
  await using server = await served(files, ["--quiet"]);
  const id = await begun(server, { file: "pause.calls" });
  await server.json(`/v1/runs/${id}/cancel`, { body: {} });
  await endOf(server, id);
  const short = await begun(server, { file: "short.calls" });
  await toldOf(server, short, { until: ({ type }) => type === "call-run" });
  const stopped = server.stop();
  await new Promise((resolve) => setTimeout(resolve, 300)); // a process hears of a signal a moment later
  const wanted: readonly (readonly [string, unknown])[] = [
    ["/v1/runs", { file: "pause.calls" }],
    ["/v1/runs", { file: "doc.md" }],
    ["/v1/gadgets/Calculate", { input: { expression: "1" } }],
    [`/v1/runs/${id}/resume`, {}],
  ];
  const answers = await Promise.all(wanted.map(([path, body]) => refusalOf(server, path, body)));
  assert.deepEqual(answers.map(({ code }) => code), wanted.map(() => "503 stopping"));
  assert.equal((await server.json("/healthz")).status, 200);
  assert.equal(await stopped, 0);
  await assert.rejects(server.ask("/healthz"));
  assert.equal(server.told(), "");
  using journal = openJournal(server.project.folder);
  assert.deepEqual(journal.list().map((run) => run.id).sort(), [id, short].sort());
});
