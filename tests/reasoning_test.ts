// What a model thinks before it answers: events of its own, folded wherever a run is shown, and no part of the answer.
import assert from "node:assert/strict";
import type { RunEvent } from "../mod.ts";
import { createRows } from "../lib/render/rows.ts";
import { begun, toldIn } from "./_http_runs.ts";
import { providerProject } from "./_provider_project.ts";
import { TEST_KEY } from "./_provider_server.ts";
import { testProject } from "./_project.ts";
import { served } from "./_served_project.ts";
import { until } from "./_waiting.ts";

const THOUGHT = ["Is it ", "noon? ", "It may be."];
const REPLY = { parts: [{ reasoning: THOUGHT }, { text: ["It is ", "noon."] }] };
const ALL = THOUGHT.join("");

const thoughts = (events: readonly RunEvent[]): string =>
  events.map((event) => event.type === "reasoning-delta" ? event.text : "").join("");
const texts = (events: readonly RunEvent[]): string =>
  events.map((event) => event.type === "text-delta" ? event.text : "").join("");
const eventsIn = (jsonl: string): readonly RunEvent[] =>
  jsonl.trimEnd().split("\n").map((line) => JSON.parse(line));

for (const id of ["openai/gpt-5", "anthropic/claude-sonnet-4-5", "google/gemini-2.5-pro", "compatible/m"]) {
  Deno.test(`reasoning: ${id}: it is told as it comes, and is no part of the answer`, async () => {
    await using here = await providerProject(REPLY);
    const events = await here.events("When?", "-m", id);
    assert.equal(thoughts(events), ALL);
    assert.equal(texts(events), "It is noon.");
    const deltas = events.filter(({ type }) => type === "reasoning-delta");
    assert.ok(
      deltas.length > 1 && deltas.every((event) => "step" in event && event.step === "turn[1]/model"),
    );
    const end = events.at(-1);
    assert.ok(end?.type === "run-end" && end.value === "It is noon.");
    const { stdout, stderr } = await here.run("ask", "When?", "-m", id, "-o", "out.txt");
    assert.equal(stdout + await here.project.read("out.txt"), "It is noon.");
    assert.match(stderr, /^ {2}thought for [\d.]+ m?s, 22 characters\n {2}model /m);
    assert.doesNotMatch(stderr, /noon\?/);
  });
}

const CALL = "!!!GADGET_START:ListFolder:a\n!!!GADGET_END\n";

Deno.test("reasoning: a thought in a text is told so too, and no call in it runs", async () => {
  await using project = await testProject({
    "think.yml": `- chunks: ${JSON.stringify(["<think>Look:\n", CALL, "No.</thi", "nk>", "It is noon."])}\n`,
  });
  const { stdout } = await project.run([
    "ask",
    "When?",
    "-m",
    "script/think.yml",
    "--tools",
    "ListFolder",
    "--jsonl",
  ]);
  const events = eventsIn(stdout);
  assert.equal(thoughts(events), `Look:\n${CALL}No.`);
  assert.equal(texts(events), "It is noon.");
  assert.ok(events.every(({ type }) => type !== "call-open"));
});

Deno.test("reasoning: a secret that is thought in pieces is masked", async () => {
  await using here = await providerProject({
    parts: [{ reasoning: ["key: ", TEST_KEY.slice(0, 9), TEST_KEY.slice(9), " is it"] }, { text: "no" }],
  });
  const events = await here.events("Hello", "-m", "compatible/m");
  assert.match(thoughts(events), /^key: .+ is it$/);
  assert.ok(!JSON.stringify(events).includes(TEST_KEY.slice(0, 9)), thoughts(events));
});

Deno.test("reasoning: a record has it, and one of before is replayed without", async () => {
  await using here = await providerProject(REPLY);
  const { code, stderr } = await here.run(
    "ask",
    "When?",
    "-m",
    "compatible/m",
    "--record",
    "run.jsonl",
    "--quiet",
  );
  assert.equal(code, 0, stderr);
  const replay = async () => eventsIn((await here.run("ask", "--replay", "run.jsonl", "--jsonl")).stdout);
  const again = await replay();
  assert.equal(thoughts(again), ALL);
  assert.equal(again.at(-1)?.type === "run-end" && again.at(-1)?.seq, again.length);
  const lines = (await here.project.read("run.jsonl")).split("\n").filter((line) =>
    !line.includes("reasoning-delta")
  );
  await here.project.write("run.jsonl", lines.join("\n"));
  const before = await replay();
  assert.equal(thoughts(before), "");
  assert.ok(before.at(-1)?.type === "run-end" && texts(before) === "It is noon.");
  assert.equal(here.provider.requests.length, 1);
});

Deno.test("reasoning: what is kept is the outcome of the step; traces have it folded", async () => {
  await using here = await providerProject(REPLY);
  assert.equal((await here.run("ask", "When?", "-m", "compatible/m", "--quiet")).code, 0);
  const id = await here.project.newest();
  const trace = JSON.parse((await here.run("trace", id, "--json")).stdout);
  assert.ok(trace.events.every(({ type }: RunEvent) => type !== "reasoning-delta"));
  assert.deepEqual(trace.steps.at(-1).outcome.ok.reasoning, [{ text: ALL }]);
  assert.match((await here.run("trace", id)).stdout, /^ +thought, 22 characters$/m);
  assert.equal((await here.run("trace", id, "--html", "t.html")).code, 0);
  assert.match(
    await here.project.read("t.html"),
    /<details class="fold"><summary>thought, 22 characters<\/summary>.*Is it noon\? It may be\./,
  );
});

const PROFILE = "agents: [{ name: p, model: compatible/m, system: Be brief }]\n";

Deno.test("reasoning: a server tells it while it comes; later the outcome has it; OpenAI's clients get it apart", async () => {
  await using here = await providerProject({ ...REPLY, delayMs: 20 }, {
    files: { "orrery.yaml": `models: { default: compatible/m }\n${PROFILE}`, "prompts/p.prompt.md": "When?" },
  });
  Object.assign(here.project.env, { COMPATIBLE_KEY: TEST_KEY });
  await using server = await served(here.project, ["--quiet"]);
  const id = await begun(server, { path: "p" });
  const events = async () => {
    const told: RunEvent[] = [];
    for await (const { seq, data } of toldIn(await server.ask(`/v1/runs/${id}/events`))) {
      if (seq !== undefined) told.push(data);
    }
    return told;
  };
  assert.equal(thoughts(await events()), ALL);
  await until(async () => (await server.json(`/v1/runs/${id}`)).body.status === "done");
  const late = await events();
  assert.equal(thoughts(late), "");
  assert.deepEqual(
    late.flatMap((event) => event.type === "step-end" ? [Object(event.outcome).reasoning] : []),
    [[{ text: ALL }]],
  );
  const body = { model: "orrery/profile/p", messages: [{ role: "user", content: "When?" }] };
  const { body: answer } = await server.json("/v1/chat/completions", { body });
  assert.deepEqual(Object(answer.choices)[0].message, {
    role: "assistant",
    content: "It is noon.",
    reasoning_content: ALL,
  });
  const streamed = await (await server.ask("/v1/chat/completions", { body: { ...body, stream: true } }))
    .text();
  assert.match(streamed, /"delta":\{"reasoning_content":"Is it "\}/);
});

Deno.test("reasoning: an effort that the model does not have is a warning of the run", async () => {
  await using here = await providerProject({ parts: [{ text: "ok" }], usageAtEnd: true });
  const warned = async (...args: readonly string[]) =>
    (await here.events("Hello", ...args)).flatMap((event) => event.type === "warning" ? [event.text] : []);
  assert.match(
    (await warned("-m", "anthropic/claude-opus-4-6", "--effort", "minimal")).join(),
    /^anthropic\/claude-opus-4-6: .*"minimal".*"low"/,
  );
  assert.match(
    (await warned("-m", "mistral/mistral-large-latest", "--effort", "high")).join(),
    /^mistral\/mistral-large-latest: .*reasoning/,
  );
  assert.deepEqual(await warned("-m", "anthropic/claude-opus-4-6", "--effort", "low"), []);
});

Deno.test("reasoning: a view passes over an event that it does not know", () => {
  const rows = createRows();
  const place = { seq: 1, at: 0, run: "r" };
  rows.take({ type: "step-start", key: "turn[1]/model", kind: "model", name: "m", attempt: 1, ...place });
  assert.equal(rows.take({ type: "of-tomorrow", ...place } as unknown as RunEvent), undefined);
  assert.equal(rows.all.length, 1);
});
