// Runs of call files in a project that is held open: started, followed, asked, cancelled, gone on with.

import assert from "node:assert/strict";
import { ServiceError } from "../lib/service/service.ts";
import type { Frame, ServiceErrorCode } from "../lib/service/service.ts";
import { framesOf, serviceOf, typesOf } from "./_service.ts";

const SUM = "!!!GADGET_START:Calculate:sum\n!!!ARG:expression\n20 + 22\n!!!GADGET_END\n";
const pause = (seconds: number, id = "pause") =>
  `!!!GADGET_START:Wait:${id}\n!!!ARG:seconds\n${seconds}\n!!!GADGET_END\n`;
const WRITE = "!!!GADGET_START:WriteFile:write\n!!!ARG:path\nout.txt\n!!!ARG:content\nhello\n!!!GADGET_END\n";
const ASK =
  '!!!GADGET_START:AskUser:ask\n!!!ARG:question\nWhich one?\n!!!ARG:choices\n["left", "right"]\n!!!GADGET_END\n';

for (const ephemeral of [true, false]) {
  const name = ephemeral ? "ephemeral" : "kept";

  Deno.test(`${name}: a call file runs to its end, and everybody can read it`, async () => {
    await using test = await serviceOf({ "sum.calls": SUM }, { ephemeral });
    const { service } = test;
    const run = await service.start({ kind: "file", file: "sum.calls" });
    assert.equal(run.kind, "calls");
    const frames = await framesOf(run.read({ after: 0 }));
    assert.deepEqual(typesOf(frames), ["run-start", "call-open", "call-run", "call-result", "run-end"]);
    assert.ok(frames.every((frame) => "event" in frame && frame.event.run === run.id));
    const ended = await run.ended;
    assert.equal(ended.status, "done");
    assert.equal(ended.value, 42);
    assert.equal(ended.file, "sum.calls");
    assert.equal(ended.calls?.length, 1);
    assert.deepEqual(await service.run(run.id), run.state);
    assert.deepEqual(typesOf(await framesOf(await service.read(run.id, { after: 2 }))), [
      "call-run",
      "call-result",
      "run-end",
    ]);
    assert.deepEqual((await service.runs()).map(({ id, status }) => [id, status]), [[run.id, "done"]]);
    assert.equal((await service.trace(run.id)).events.length, 5);
    assert.equal(service.active, 0);
    await service.remove(run.id);
    await fails(service.run(run.id), "not-found");
    assert.deepEqual(await service.runs(), []);
  });

  Deno.test(`${name}: a run that is cancelled stops`, async () => {
    await using test = await serviceOf({ "pause.calls": pause(60) }, { ephemeral });
    const run = await test.service.start({ kind: "file", file: "pause.calls" });
    await framesOf(run.read({ after: 0 }), { until: isEvent("call-run") });
    assert.equal(test.service.active, 1);
    await fails(test.service.remove(run.id), "busy");
    run.cancel("enough");
    const { status, reason } = await run.ended;
    assert.deepEqual([status, reason], ["stopped", "interrupted"]);
  });

  Deno.test(`${name}: a question waits for its answer`, async () => {
    await using test = await serviceOf({ "ask.calls": ASK }, { ephemeral });
    const run = await test.service.start({ kind: "file", file: "ask.calls", canAsk: true });
    await framesOf(run.read({ after: 0 }), { until: (frame) => "ask" in frame });
    assert.deepEqual(run.state.asks, [
      { ask: "a1", kind: "question", question: "Which one?", choices: ["left", "right"] },
    ]);
    assert.equal(run.answer("a1", { text: "up" }, { by: "http" }), false);
    assert.equal(run.answer("a1", { text: "left" }, { by: "http" }), true);
    assert.equal((await run.ended).value, "left");
    assert.deepEqual(run.state.asks, []);
  });

  Deno.test(`${name}: a permission is asked for, and whoever gives it is told`, async () => {
    await using test = await serviceOf({ "write.calls": WRITE }, { ephemeral });
    const run = await test.service.start({ kind: "file", file: "write.calls", canAsk: true });
    await framesOf(run.read({ after: 0 }), { until: (frame) => "ask" in frame });
    const [ask] = run.state.asks;
    assert.equal(ask?.kind, "permission");
    assert.match(ask?.subject ?? "", /^write .*out\.txt$/);
    assert.match(ask?.permissions?.[0] ?? "", /--allow-write/);
    assert.equal(run.answer("a1", { allow: true }, { by: "http" }), true);
    assert.equal((await run.ended).status, "done");
    const answered = (await framesOf(run.read({ after: 0 })))
      .flatMap((frame) => "event" in frame && frame.event.type === "permission-answer" ? [frame.event] : []);
    assert.deepEqual(answered.map(({ allowed, reason }) => [allowed, reason]), [[true, "http"]]);
    assert.equal(await test.project.read("out.txt"), "hello");
  });
}

Deno.test("a name of a question is never given again, also when the run is gone on with", async () => {
  const two = WRITE.replace(":write", ":one") +
    WRITE.replace(":write", ":two:one").replace("out.txt", "other.txt");
  await using test = await serviceOf({ "two.calls": two });
  const { service } = test;
  const asked = { until: (frame: Frame) => "ask" in frame && /other/.test(frame.ask.subject ?? "") };
  const run = await service.start({ kind: "file", file: "two.calls", canAsk: true });
  await framesOf(run.read({ after: 0 }), { until: (frame) => "ask" in frame });
  assert.equal(run.answer("a1", { allow: true }, { by: "http" }), true);
  await framesOf(run.read({ after: 0 }), asked);
  run.cancel();
  await run.ended;
  assert.equal(run.decided("a2"), "the run did not wait for an answer any more");
  const again = await service.resume(run.id, { canAsk: true });
  await framesOf(again.read({ after: 0 }), asked);
  for (const old of ["a1", "a2"]) assert.equal(again.answer(old, { allow: true }, { by: "http" }), false);
  assert.equal(again.decided("a1"), "it was allowed by http");
  const [ask] = again.state.asks;
  assert.match(ask?.ask ?? "", /^a\d{4,}$/);
  assert.equal(again.answer(ask?.ask ?? "", { allow: false }, { by: "http" }), true);
  await again.ended;
  assert.equal(again.decided(ask?.ask ?? ""), "it was denied by http");
});

Deno.test("without somebody to ask what is not granted is refused, with its flag", async () => {
  await using test = await serviceOf({ "write.calls": WRITE, "ask.calls": ASK });
  const run = await test.service.start({ kind: "file", file: "write.calls" });
  const { status, calls: [call] = [] } = await run.ended;
  assert.equal(status, "failed");
  assert.match(JSON.stringify(call), /"code":"permission".*--allow-write/);
  const asked = await (await test.service.start({ kind: "file", file: "ask.calls" })).ended;
  assert.match(JSON.stringify(asked.calls), /nobody is at a terminal/);
});

Deno.test("a command is never asked about", async () => {
  const command = "!!!GADGET_START:RunCommand:c\n!!!ARG:command\ntrue\n!!!GADGET_END\n";
  await using test = await serviceOf({ "command.calls": command });
  const run = await test.service.start({ kind: "file", file: "command.calls", canAsk: true });
  const { status, calls, asks } = await run.ended;
  assert.equal(status, "failed");
  assert.deepEqual(asks, []);
  assert.match(JSON.stringify(calls), /"code":"permission"/);
});

Deno.test("what cannot be started is said, and leaves no run", async () => {
  await using test = await serviceOf({ "sum.calls": SUM, "agent.agent.yml": "" });
  const { service } = test;
  await fails(service.start({ kind: "file", file: "none.calls" }), "not-found");
  await fails(service.start({ kind: "file", file: "../sum.calls" }), "outside");
  await fails(service.start({ kind: "file", file: "/etc/passwd.calls" }), "outside");
  await fails(service.start({ kind: "file", file: "agent.agent.yml" }), "invalid");
  await fails(service.start({ kind: "file", file: "sum.calls", input: { a: 1 } }), "invalid");
  await fails(service.start({ kind: "gadget", name: "Calculator", input: {} }), "not-found");
  await assert.rejects(service.start({ kind: "file", file: "sum.calls", model: "nonsense" }), /model/);
  assert.deepEqual(await service.runs(), []);
  assert.equal(service.active, 0);
});

Deno.test("a call file that was changed is read again", async () => {
  await using test = await serviceOf({ "sum.calls": SUM }, { ephemeral: true });
  const value = async () =>
    (await (await test.service.start({ kind: "file", file: "sum.calls" })).ended).value;
  assert.equal(await value(), 42);
  await test.project.write("sum.calls", SUM.replace("22", "23"));
  await pauseMs(30);
  assert.equal(await value(), 43);
});

Deno.test("one gadget, with its input as it is", async () => {
  await using test = await serviceOf({});
  const input = { template: "{{x}} {{results.y}}\n!!!GADGET_END", data: { x: "é" } };
  const run = await test.service.start({ kind: "gadget", name: "Calculate", input: { expression: "6 * 7" } });
  assert.equal((await run.ended).value, 42);
  assert.equal(run.state.file, "Calculate");
  const wrong = await (await test.service.start({ kind: "gadget", name: "Calculate", input })).ended;
  assert.equal(wrong.status, "failed");
  assert.match(JSON.stringify(wrong.calls), /"code":"input"/);
  const unsayable = { kind: "gadget", name: "Calculate", input: JSON.parse('{ "__proto__": 1 }') } as const;
  await fails(test.service.start(unsayable), "invalid");
});

Deno.test("a run has as many steps as the journal has of it, also while it is held", async () => {
  const plan = "# A\n\nText.\n\n@return\nblock: a\n";
  const outer = "!!!GADGET_START:RunFile:x\n!!!ARG:file\nplan.md\n!!!GADGET_END\n";
  await using test = await serviceOf({
    "plan.md": plan,
    "outer.calls": outer,
    "pause.calls": SUM + pause(60),
  });
  const { service } = test;
  for (const file of ["outer.calls", "plan.md", "pause.calls"]) {
    const run = await service.start({ kind: "file", file });
    if (file === "pause.calls") {
      await framesOf(run.read({ after: 0 }), {
        until: (frame) => "event" in frame && frame.event.type === "call-result",
      });
    } else await run.ended;
    const { summary: { steps } } = await service.trace(run.id);
    assert.equal(run.state.steps, steps, file);
    assert.equal((await service.run(run.id)).steps, steps, file);
    assert.equal((await service.runs()).find(({ id }) => id === run.id)?.steps, steps, file);
    run.cancel();
    await run.ended;
  }
});

Deno.test("calls run while their text still comes", async () => {
  await using test = await serviceOf({});
  const { readable, writable } = new TransformStream<string, string>();
  const writer = writable.getWriter();
  const run = await test.service.start({ kind: "calls", name: "posted.calls", text: readable });
  await writer.write(SUM);
  await framesOf(run.read({ after: 0 }), { until: isEvent("call-result") });
  assert.equal(run.state.status, "running");
  await writer.write(SUM.replaceAll("sum", "again"));
  await writer.close();
  assert.deepEqual((await run.ended).value, { sum: 42, again: 42 });
  const { run: { files } } = await test.service.trace(run.id);
  assert.equal(files?.map(({ text }) => text).join(""), SUM + SUM.replaceAll("sum", "again"));
});

Deno.test("a text that breaks off ends the run as failed", async () => {
  await using test = await serviceOf({});
  async function* broken(): AsyncGenerator<string> {
    yield SUM;
    await pauseMs(10);
    throw new Error("the connection was lost");
  }
  const run = await test.service.start({ kind: "calls", name: "posted.calls", text: broken() });
  const { status, error, value } = await run.ended;
  assert.deepEqual([status, value], ["failed", 42]);
  assert.match(error ?? "", /the connection was lost/);
});

Deno.test("no more runs than limits.runs", async () => {
  await using test = await serviceOf({ "orrery.yaml": "limits: { runs: 2 }\n", "pause.calls": pause(60) });
  const { service } = test;
  assert.equal(service.limit, 2);
  const runs = [await service.start({ kind: "file", file: "pause.calls" })];
  const two = await Promise.allSettled(
    [1, 2].map(() => service.start({ kind: "file", file: "pause.calls" })),
  );
  assert.deepEqual(two.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  await fails(service.start({ kind: "file", file: "pause.calls" }), "limit");
  for (const one of two) if (one.status === "fulfilled") runs.push(one.value);
  runs.forEach((run) => run.cancel());
  await Promise.all(runs.map(({ ended }) => ended));
  const again = await service.start({ kind: "file", file: "pause.calls" });
  again.cancel();
  await again.ended;
  const stopped = [...runs, again].map(({ id }) => service.resume(id, {}));
  const resumed = await Promise.allSettled(stopped);
  assert.deepEqual(resumed.map(({ status }) => status).sort(), ["fulfilled", "fulfilled", "rejected"]);
  assert.equal(service.active, 2);
});

Deno.test("what is being begun when it stops does not begin, and says why", async () => {
  for (const graceMs of [0, 1_000]) {
    await using test = await serviceOf({ "pause.calls": pause(60), "doc.md": "# Title\n" });
    const { service } = test;
    const stopped = await service.start({ kind: "file", file: "pause.calls" });
    stopped.cancel();
    await stopped.ended;
    const begun = [
      service.start({ kind: "file", file: "pause.calls" }),
      service.start({ kind: "file", file: "doc.md" }),
      service.start({ kind: "gadget", name: "Calculate", input: { expression: "1" } }),
      service.resume(stopped.id, {}),
    ];
    const refused = Promise.all(begun.map((work) => fails(work, "stopping")));
    await service.stop({ graceMs });
    await refused;
    assert.deepEqual(test.notices, []);
  }
});

Deno.test("a reader that leaves does not stop the run", async () => {
  await using test = await serviceOf({ "pause.calls": pause(0.2) + SUM });
  const run = await test.service.start({ kind: "file", file: "pause.calls" });
  const reader = run.read({ after: 0 });
  await reader.next({ maxBytes: 1 });
  reader.leave();
  assert.equal((await run.ended).status, "done");
});

Deno.test("a run that was cancelled goes on, and its readers see each event once", async () => {
  await using test = await serviceOf({ "both.calls": SUM + pause(0.3) });
  const { service } = test;
  const first = await service.start({ kind: "file", file: "both.calls" });
  const seen = await framesOf(first.read({ after: 0 }), { until: isEvent("call-result") });
  first.cancel();
  assert.equal((await first.ended).status, "stopped");
  const last = Math.max(...seqsOf(seen));
  const { startedAt } = await service.run(first.id);
  await pauseMs(20);
  const second = await service.resume(first.id, {});
  assert.equal(second.state.startedAt, startedAt);
  assert.equal(second.id, first.id);
  const rest = await framesOf(second.read({ after: last }));
  assert.equal((await second.ended).status, "done");
  assert.deepEqual(second.state.value, { sum: 42, pause: 0.3 });
  assert.equal(second.state.calls?.length, 2);
  assert.ok(!typesOf(rest).includes("run-start"));
  assert.equal(typesOf([...seen, ...rest]).filter((type) => type === "call-result").length, 2);
  const whole = await framesOf(await service.read(first.id, { after: 0 }));
  const seqs = seqsOf(whole);
  assert.deepEqual(seqs, [...new Set(seqs)].sort((a, b) => a - b));
  assert.equal(typesOf(whole).filter((type) => type === "call-open").length, 2);
  await fails(service.resume(first.id, {}), "ended");
});

Deno.test("a run of the service goes on at the command line, and the other way round", async () => {
  await using test = await serviceOf({ "both.calls": SUM + pause(0.3) });
  const { service, project } = test;
  const run = await service.start({ kind: "file", file: "both.calls" });
  await framesOf(run.read({ after: 0 }), { until: isEvent("call-result") });
  run.cancel();
  await run.ended;
  const { code, stdout } = await project.run(["resume", run.id, "--json"]);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout).value, { sum: 42, pause: 0.3 });
  const theirs = await project.run(["run", "both.calls", "--json"]);
  assert.equal((await service.run(JSON.parse(theirs.stdout).run)).status, "done");
  await fails(service.resume(JSON.parse(theirs.stdout).run, {}), "ended");
});

Deno.test("when it stops, steps may end, nothing new begins, and the rest can go on", async () => {
  const text = pause(0.3, "first") + pause(60, "second").replace(":second", ":second:first");
  await using test = await serviceOf({ "two.calls": text, "sum.calls": SUM });
  const { service, project } = test;
  const run = await service.start({ kind: "file", file: "two.calls" });
  await framesOf(run.read({ after: 0 }), { until: isEvent("call-run") });
  const startedAt = performance.now();
  const stopped = service.stop({ graceMs: 10_000 });
  await fails(service.start({ kind: "file", file: "sum.calls" }), "stopping");
  await stopped;
  assert.ok(performance.now() - startedAt < 5_000);
  assert.equal(run.state.status, "stopped");
  await project.write("two.calls", "");
  const trace = await project.run(["trace", run.id, "--json"]);
  const { summary, steps, events } = JSON.parse(trace.stdout);
  assert.equal(summary.status, "stopped");
  assert.deepEqual(steps.map((step: { key: string; status: string }) => [step.key, step.status]), [
    ["call:first", "finished"],
  ]);
  const kept: readonly { readonly type: string }[] = events;
  assert.deepEqual(kept.filter(({ type }) => type === "call-error" || type === "call-skip"), []);
});

Deno.test("side by side, what is under way ends before the run stops, and goes on as if nothing had been", async () => {
  const then = (id: string, after: string) => SUM.replace(":sum", `:${id}:${after}`);
  const text = pause(2, "quick") + then("behindQuick", "quick") + pause(2.5, "slow") +
    then("behindSlow", "slow");
  await using test = await serviceOf({ "two.calls": text });
  const { service, project } = test;
  const run = await service.start({ kind: "file", file: "two.calls" });
  const bothBegan = (frame: Frame) =>
    "event" in frame && frame.event.type === "call-run" && frame.event.invocationId === "slow";
  await framesOf(run.read({ after: 0 }), { until: bothBegan });
  await service.stop({ graceMs: 10_000 });
  assert.equal(run.state.status, "stopped");
  const ended = (await project.run(["trace", run.id, "--json"])).stdout;
  const { steps }: { readonly steps: readonly { readonly key: string; readonly status: string }[] } = JSON
    .parse(ended);
  assert.deepEqual(steps.map(({ key, status }) => `${key} ${status}`).sort(), [
    "call:quick finished",
    "call:slow finished",
  ]);
  const resumed = await project.run(["resume", run.id, "--json"]);
  assert.equal(resumed.code, 0, resumed.stderr);
  assert.deepEqual(JSON.parse(resumed.stdout).value, { behindQuick: 42, behindSlow: 42 });
  const whole = JSON.parse((await project.run(["trace", run.id, "--json"])).stdout);
  const events: readonly { readonly type: string }[] = whole.events;
  const outcomes = events.map(({ type }) => type).filter((type) => /^call-(result|error|skip)$/.test(type));
  assert.deepEqual(outcomes, Array.from({ length: 4 }, () => "call-result"));
});

Deno.test("what does not end in time is aborted, and can go on", async () => {
  await using test = await serviceOf({ "pause.calls": pause(60) });
  const run = await test.service.start({ kind: "file", file: "pause.calls" });
  await framesOf(run.read({ after: 0 }), { until: isEvent("call-run") });
  const startedAt = performance.now();
  await test.service.stop({ graceMs: 200 });
  assert.ok(performance.now() - startedAt < 5_000);
  assert.equal(run.state.status, "stopped");
});

Deno.test("settings that change count from the next look on; broken ones are told", async () => {
  await using test = await serviceOf({ "sum.calls": SUM });
  const { service, project } = test;
  assert.equal(service.limit, 64);
  await project.write("orrery.yaml", "limits: { runs: 3 }\n");
  await pauseMs(1_100);
  await (await service.start({ kind: "file", file: "sum.calls" })).ended;
  assert.equal(service.limit, 3);
  await project.write("orrery.yaml", "limits: { runs: many }\n");
  await pauseMs(1_100);
  assert.equal((await (await service.start({ kind: "file", file: "sum.calls" })).ended).value, 42);
  assert.equal(service.limit, 3);
  assert.match(test.notices.join("\n"), /cannot be read; it stays as it was/);
});

Deno.test("runs are listed newest first, by kind, file and place", async () => {
  await using test = await serviceOf({ "a.calls": SUM, "b.calls": SUM });
  const { service } = test;
  const ids: string[] = [];
  for (const file of ["a.calls", "b.calls", "a.calls"]) {
    const run = await service.start({ kind: "file", file });
    await run.ended;
    ids.unshift(run.id);
    await pauseMs(40); // ids of one moment are in no order
  }
  const listed = async (query: Parameters<typeof service.runs>[0]) =>
    (await service.runs(query)).map(({ id }) => id);
  assert.deepEqual(await listed({}), ids);
  assert.deepEqual(await listed({ limit: 1 }), ids.slice(0, 1));
  assert.deepEqual(await listed({ file: "a.calls" }), [ids[0], ids[2]]);
  assert.deepEqual(await listed({ kind: "prompt" }), []);
  assert.deepEqual(await listed({ status: "done", before: ids[0] ?? "" }), ids.slice(1));
  await fails(service.runs({ before: "nothing" }), "not-found");
});

function isEvent(type: string): (frame: Frame) => boolean {
  return (frame) => "event" in frame && frame.event.type === type;
}

function seqsOf(frames: readonly Frame[]): number[] {
  return frames.flatMap((frame) => "event" in frame ? [frame.event.seq] : []);
}

async function fails(work: Promise<unknown>, code: ServiceErrorCode): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.code, code, error.message);
    return true;
  });
}

function pauseMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
