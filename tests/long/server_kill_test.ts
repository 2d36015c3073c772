// What a server has accepted goes on after its process was killed, at whatever moment, and nothing that was done is done twice.

import assert from "node:assert/strict";
import { openJournal } from "../../mod.ts";
import { begun, endOf, runOf, type Told, toldIn } from "../_http_runs.ts";
import { type TestProject, testProject } from "../_project.ts";
import { type Served, served, serveProject } from "../_served_project.ts";
import { isThorough } from "../_thorough.ts";

const command = (file: string, { id, word, sleep }: { id: string; word: string; sleep: string }): string =>
  `!!!GADGET_START:RunCommand:${id}
!!!ARG:command
sh
!!!ARG:args/0
-c
!!!ARG:args/1
echo ${word} >> ${file}; ${sleep}echo ${word}
!!!GADGET_END
`;

const FILES = {
  "orrery.yaml": `models: { default: script/slow.yml }
agents:
  - { name: helper, model: script/slow.yml, system: "You help." }
grants:
  RunCommand: { run: [sh] }
  "@shell": trusted
`,
  "plan.md": `# Plan

@shell
prompt: echo one >> document.txt; echo first
use-header: "# First"

@llm
prompt: Go
use-header: "# Said"

@shell
prompt: echo two >> document.txt; echo second
use-header: "# Second"

@return
block: [first, said, second]
`,
  "prompts/slow.prompt.md": "Take your time.",
  "slow.yml": '- { chunks: ["one ", "two ", "three"], delayMs: 40, repeat: true }\n',
  "go.calls": command("calls.txt", { id: "first", word: "one", sleep: "sleep 0.4; " }) +
    command("calls.txt", { id: "second:first", word: "two", sleep: "" }),
  "guide.agent.yml": `version: "0.1"
structure:
  id: guide
  action:
    id: main
    chain:
      - { id: name?, message: { message: "Your name?", hold: true } }
      - { id: said, llm: { prompts: [ { user: "Greet." } ], store: { slot: { name: greeting } } } }
      - { id: visits, counter: { slot: { name: visits, destination: global } } }
      - { id: more?, message: { message: "More?", hold: true } }
      - { id: again, llm: { prompts: [ { user: "Again." } ] } }
      - { id: end, flow: { action: end } }
`,
  "sum.calls": "!!!GADGET_START:Calculate:sum\n!!!ARG:expression\n20 + 22\n!!!GADGET_END\n",
};

const SAID = ["Ann", "no"];
const FLAGS = ["--trust-project", "--allow-write"];

/** How each kind of run is begun; its answer tells its events. */
const KINDS: Readonly<Record<string, readonly [path: string, body: Readonly<Record<string, unknown>>]>> = {
  document: ["/v1/runs", { file: "plan.md" }],
  prompt: ["/v1/runs", { path: "slow" }],
  calls: ["/v1/runs", { file: "go.calls" }],
  ask: ["/v1/chat/completions", {
    model: "orrery/profile/helper",
    messages: [{ role: "user", content: "Go" }],
  }],
};

/** What became of a kind of run in the end. */
type Ends = Readonly<Record<string, unknown>>;

const effectsOf = async (project: TestProject, kind: string): Promise<readonly string[]> =>
  (await project.read(`${kind}.txt`).catch(() => "")).split("\n").filter((line) => line !== "");

/** Begins one of each kind, and a conversation that is answered; `onTold` hears of every event. Gives the ids as they become known. */
async function allKinds(server: Served, onTold: (told: Told) => void): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  const run = async (kind: string): Promise<void> => {
    const [path, body] = KINDS[kind] ?? assert.fail(kind);
    const response = await server.ask(path, { body: { ...body, stream: true } });
    const id = response.headers.get("orrery-run") ?? "";
    ids.set(kind, id);
    if (path === "/v1/runs") { for await (const told of toldIn(response)) onTold(told); }
    else await response.text();
  };
  const talk = async (): Promise<void> => {
    const id = await begun(server, { agent: "guide.agent.yml" }, "/v1/conversations");
    ids.set("talk", id);
    for (const text of SAID) {
      const said = await server.ask(`/v1/conversations/${id}/messages`, { body: { text, stream: true } });
      for await (const told of toldIn(said)) onTold(told);
    }
  };
  // Whoever is told nothing more, since the process is gone, has been told all there is.
  await Promise.allSettled([...Object.keys(KINDS).map(run), talk()]);
  return ids;
}

/** Everything goes on to its end: over HTTP, or on the command line. */
async function goneOn(
  project: TestProject,
  { ids, byCommand }: { readonly ids: ReadonlyMap<string, string>; readonly byCommand: boolean },
): Promise<Ends> {
  await using server = await served(project, FLAGS);
  const ends: Record<string, unknown> = {};
  for (const [kind, id] of ids) {
    if (kind === "talk") ends[kind] = await heldToItsEnd(server, id);
    else {
      const before = await effectsOf(project, kind);
      if ((await runOf(server, id)).status !== "done") await resumed(server, { id, byCommand });
      ends[kind] = (await runOf(server, id)).value;
      const effects = await effectsOf(project, kind);
      const once = kind === "document" || kind === "calls" ? 2 : 0;
      assert.equal(new Set(effects).size, once, `${kind}: ${effects}`);
      assert.ok(effects.length - once <= Math.min(1, before.length), `${kind} did it again: ${effects}`);
    }
  }
  return ends;
}

/** What may not be done twice is done again. */
async function resumed(
  server: Served,
  { id, byCommand }: { readonly id: string; readonly byCommand: boolean },
): Promise<void> {
  if (byCommand) {
    const args = ["resume", id, "--rerun", "all", "--allow-run", "--allow-write", "--json"];
    const { code, stderr } = await server.project.run(args);
    assert.equal(code, 0, stderr);
    return;
  }
  const path = `/v1/runs/${id}/resume`;
  const first = await server.json(path, { body: {} });
  if (first.status !== 202) {
    assert.deepEqual([first.status, first.body.code], [409, "unverified"], JSON.stringify(first.body));
    const { steps } = first.body;
    assert.ok(Array.isArray(steps) && steps.length === 1);
    const again = await server.json(path, { body: { rerun: ["all"] } });
    assert.equal(again.status, 202, JSON.stringify(again.body));
  }
  assert.equal((await endOf(server, id)).status, "done");
}

/** What was said, and how often the visit was counted. */
async function heldToItsEnd(server: Served, id: string): Promise<unknown> {
  const path = `/v1/conversations/${id}`;
  for (;;) {
    const { body: { status, turns, messages, slots } } = await server.json(path);
    if (status === "completed") {
      return { messages, visits: (slots as Readonly<Record<string, unknown>>)["global.visits"] };
    }
    const text = SAID[Number(turns) - 1] ?? "more";
    const answer = status === "failed"
      ? await server.json(`${path}/retry`, { body: {} })
      : await server.json(`${path}/messages`, { body: { text } });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }
}

Deno.test("killed at any moment, runs of every kind and a conversation go on here and on the command line", async () => {
  await using whole = await testProject(FILES);
  let count = 0;
  const expected = await (async () => {
    await using server = await served(whole, FLAGS);
    const ids = await allKinds(server, () => count++);
    assert.equal(ids.size, 5);
    return await goneOn(whole, { ids, byCommand: false });
  })();
  assert.deepEqual([expected.prompt, expected.ask], ["one two three", "one two three"]);
  let kills = 0;
  const step = Math.ceil(count / (isThorough ? 25 : 4));
  for (let events = 1; events < count; events += step) {
    await using project = await testProject(FILES);
    const ids = await (async () => {
      await using server = await serveProject(project, FLAGS);
      let told = 0;
      const ids = await allKinds(server, () => {
        if (++told === events) server.signal("SIGKILL");
      });
      if (told >= events) {
        kills++;
        await server.exit;
      }
      return ids;
    })();
    await new Promise((resolve) => setTimeout(resolve, 300)); // a command outlives its parent for a moment
    const ends = await goneOn(project, { ids, byCommand: kills % 2 === 0 });
    for (const [kind, end] of Object.entries(ends)) {
      assert.deepEqual(end, expected[kind], `${kind}, killed after ${events} events`);
    }
  }
  assert.ok(kills > 1, `${kills} kills`);
});

const AT_ONCE = 24;

Deno.test("killed while it accepts many at once: each run that was answered is there, and can go on", async () => {
  await using project = await testProject(FILES);
  const accepted: string[] = [];
  for (const after of isThorough ? [1, 10, 25, 60, 110, 200] : [1, 25, 110]) {
    await using server = await serveProject(project, ["--quiet"]);
    const before = accepted.length;
    let isKilled = false;
    const client = async (): Promise<void> => {
      while (!isKilled) {
        const { status, body } = await server.json("/v1/runs", { body: { file: "sum.calls" } });
        if (status !== 202) continue;
        accepted.push(String(body.id));
        if (isKilled || accepted.length - before < after) continue;
        isKilled = true;
        server.signal("SIGKILL");
      }
    };
    await Promise.allSettled(Array.from({ length: AT_ONCE }, client));
    await server.exit;
    assert.ok(isKilled, `${accepted.length - before} accepted`);
  }
  using journal = openJournal(project.folder);
  const kept = new Map(journal.list().map((run) => [run.id, run]));
  assert.deepEqual(accepted.filter((id) => !kept.has(id)), []);
  const left = [...kept.values()].filter(({ status }) => status !== "done");
  for (const run of left) assert.equal(run.owned, false);
  for (const { id } of left.slice(0, 3)) {
    const { code, stdout, stderr } = await project.run(["resume", id, "--json"]);
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).value, 42);
  }
});
