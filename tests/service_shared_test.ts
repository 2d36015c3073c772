// A run whose project others have open too: what it is, where it goes on, and what it may use up there.

import assert from "node:assert/strict";
import { openJournal } from "../mod.ts";
import { NO_GRANTS } from "../lib/project/trust/grants.ts";
import { openService } from "../lib/service/open_service.ts";
import type { Service } from "../lib/service/service.ts";
import { framesOf, serviceOf } from "./_service.ts";

/** A second process, as far as the journal is concerned. */
const another = (folder: string): Promise<Service> =>
  openService({ folder, ephemeral: false, grants: NO_GRANTS, notice: () => {} });

const SAYS = '- { chunks: ["one ", "two ", "three"], delayMs: 40, repeat: true }\n';
const BREAKS = '- { error: { status: 400, message: "too strange" }, repeat: true }\n';

Deno.test("a run that was stopped here and ended elsewhere is what it has become, at once", async () => {
  await using test = await serviceOf({
    "slow.calls": "!!!GADGET_START:Wait:w\n!!!ARG:seconds\n0.3\n!!!GADGET_END\n",
  });
  const { service, project } = test;
  const run = await service.start({ kind: "file", file: "slow.calls" });
  await framesOf(run.read({ after: 0 }), {
    until: (frame) => "event" in frame && frame.event.type === "call-run",
  });
  run.cancel();
  assert.equal((await run.ended).status, "stopped");
  await using other = await another(project.folder);
  const resumed = await other.resume(run.id, {});
  const under = await service.run(run.id);
  assert.deepEqual([under.status, under.owned], ["running", true]);
  await assert.rejects(service.resume(run.id, {}), { code: "busy" });
  assert.equal((await resumed.ended).status, "done");
  assert.equal(service.find(run.id), undefined);
  assert.deepEqual([(await service.run(run.id)).status, (await service.runs())[0]?.status], ["done", "done"]);
});

Deno.test("a conversation whose turn failed here and was tried again elsewhere is what it has become, at once", async () => {
  await using test = await serviceOf({
    "orrery.yaml": "models: { default: script/said.yml }\n",
    "said.yml": BREAKS,
    "guide.agent.yml": `version: "0.1"
structure:
  id: guide
  action:
    id: main
    chain:
      - { id: name?, message: { message: "Your name?", hold: true } }
      - { id: said, llm: { prompts: [ { user: "Greet." } ] } }
      - { id: more?, message: { message: "More?", hold: true } }
      - { id: end, flow: { action: end } }
`,
  });
  const { service, project } = test;
  const { talk, turn } = await service.talks.begin({ agent: "guide.agent.yml" });
  await turn.ended;
  const failed = await talk.say("Ann");
  assert.equal((await failed.ended).status, "failed");
  assert.equal((await talk.state()).status, "failed");
  await project.write("said.yml", SAYS);
  await using other = await another(project.folder);
  const again = await (await other.talks.open(talk.id)).retry();
  assert.equal((await again.ended).status, "held");
  assert.equal((await service.run(talk.id)).status, "held");
  assert.deepEqual((await service.runs()).map(({ status }) => status), ["held"]);
  const seqs = (await framesOf(await service.read(talk.id, { after: 0 })))
    .flatMap((frame) => "event" in frame ? [frame.event.seq] : []);
  assert.deepEqual(seqs, [...new Set(seqs)].toSorted((a, b) => a - b));
  const last = await talk.say("no");
  assert.equal(last.before, seqs.at(-1)); // what the other one has told is before
  const told = await framesOf(last.read({ after: last.before }));
  assert.ok(told.every((frame) => !("event" in frame) || frame.event.seq > last.before));
  assert.equal((await last.ended).status, "completed");
});

Deno.test("calls that go on get the budget that is wished of them then", async () => {
  await using test = await serviceOf({
    "orrery.yaml": "models: { default: script/said.yml }\n",
    "said.yml": SAYS,
    "prompts/one.prompt.md": "Tell.",
    "asks.calls": "!!!GADGET_START:Wait:w\n!!!ARG:seconds\n0.2\n!!!GADGET_END\n" +
      "!!!GADGET_START:RunPrompt:p:w\n!!!ARG:path\none\n!!!GADGET_END\n",
  });
  const { service } = test;
  const stopped = async () => {
    const run = await service.start({ kind: "file", file: "asks.calls" });
    await framesOf(run.read({ after: 0 }), {
      until: (frame) => "event" in frame && frame.event.type === "call-run",
    });
    run.cancel();
    assert.equal((await run.ended).status, "stopped");
    return run.id;
  };
  const free = await (await service.resume(await stopped(), {})).ended;
  assert.equal(free.status, "done", JSON.stringify(free));
  const bound = await (await service.resume(await stopped(), { budget: { timeMs: 30 } })).ended;
  assert.match(JSON.stringify(bound.calls), /budget|time/);
  assert.notEqual(bound.status, "done");
});

Deno.test("what cannot be begun holds nothing of the project open", async () => {
  await using test = await serviceOf({
    "sum.calls": "!!!GADGET_START:Calculate:s\n!!!ARG:expression\n1\n!!!GADGET_END\n",
  });
  const { service, project } = test;
  await assert.rejects(service.start({ kind: "file", file: "none.calls" }), { code: "not-found" });
  await project.write("orrery.yaml", "limits: { runs: 3 }\n");
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assert.equal((await (await service.start({ kind: "file", file: "sum.calls" })).ended).status, "done");
  const start = performance.now();
  await service.stop({ graceMs: 0 }); // it waits two seconds for what is still in use
  assert.ok(performance.now() - start < 1_500);
});

Deno.test("a long run of another process is read a part at a time from any place, until it is removed", async () => {
  await using test = await serviceOf({});
  const { service, project } = test;
  using journal = openJournal(project.folder);
  const run = journal.create({ kind: "calls", input: null });
  for (let seq = 1; seq <= 3_000; seq++) {
    run.tell({ type: "warning", text: "w".repeat(200), seq, at: seq, run: run.id });
    if (seq % 7 === 0) run.commit();
  }
  run.release("stopped");
  for (const after of [0, 1_234, 2_999, 3_000, 9_999]) {
    const frames = await framesOf(await service.read(run.id, { after }));
    const seqs = frames.flatMap((frame) => "event" in frame ? [frame.event.seq] : []);
    assert.deepEqual(seqs, Array.from({ length: Math.max(0, 3_000 - after) }, (_, n) => after + n + 1));
  }
  assert.equal(await service.status(run.id), "stopped");
  await assert.rejects(service.read("none", { after: 0 }), { code: "not-found" });
  await assert.rejects(service.read(run.id.slice(0, 8), { after: 0 }), { code: "not-found" });
  await assert.rejects(service.status(run.id.slice(0, 8)), { code: "not-found" });
  const reader = await service.read(run.id, { after: 0 });
  assert.ok((await reader.next({ maxBytes: 1_000 }) ?? []).length < 10);
  await service.remove(run.id);
  let left = 0;
  for (
    let part = await reader.next({ maxBytes: 10_000 });
    part;
    part = await reader.next({ maxBytes: 10_000 })
  ) {
    left += part.length;
  }
  assert.ok(left < 600, `${left} events were read before they were asked for`);
});
