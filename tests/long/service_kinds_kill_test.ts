// What the service has started goes on after its process was killed, at whatever moment, and nothing that was done is done twice.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { type Json, openJournal } from "../../mod.ts";
import { createSecrets } from "../../lib/journal/secrets.ts";
import { continueRun } from "../../lib/project/open_run.ts";
import { ServiceError } from "../../lib/service/service.ts";
import { settleRun } from "../../lib/service/start/settle.ts";
import { readyResumed } from "../../lib/service/start/resume.ts";
import { openTalks } from "../../lib/service/talks/talks.ts";
import { type TestProject, testProject } from "../_project.ts";
import { KILLED_GRANTS, KILLED_KINDS, SAID } from "../_service_kind_child.ts";
import { runKept, startPlace } from "../_start_place.ts";
import { talkHost } from "../_talk_host.ts";
import { isThorough } from "../_thorough.ts";

const FILES = {
  "orrery.yaml":
    'models: { default: script/slow.yml }\nagents:\n  - { name: helper, model: script/slow.yml, system: "You help." }\n',
  "plan.md": `# Plan

@shell
prompt: echo one >> effects.txt; echo first
use-header: "# First"

@llm
prompt: Go
use-header: "# Said"

@shell
prompt: echo two >> effects.txt; echo second
use-header: "# Second"

@return
block: [first, said, second]
`,
  "prompts/slow.prompt.md": "Take your time.",
  "slow.yml": '- { chunks: ["one ", "two ", "three"], delayMs: 40, repeat: true }\n',
  "go.calls": `!!!GADGET_START:RunCommand:first
!!!ARG:command
sh
!!!ARG:args/0
-c
!!!ARG:args/1
echo one >> effects.txt; sleep 0.4; echo first
!!!GADGET_END
!!!GADGET_START:RunCommand:second:first
!!!ARG:command
sh
!!!ARG:args/0
-c
!!!ARG:args/1
echo two >> effects.txt; echo second
!!!GADGET_END
`,
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
};

const LIMIT_MS = 60_000;
const CHILD = fileURLToPath(new URL("../_service_kind_child.ts", import.meta.url));

/** Starts it in another process, which is killed when it has told so many events, or ends before; gives its id, and whether it was killed. */
async function killedAfter(
  events: number,
  { kind, project }: { readonly kind: string; readonly project: TestProject },
): Promise<{ readonly id: string; readonly isKilled: boolean }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", CHILD, kind, project.folder],
    env: { ...project.env },
    stdout: "piped",
    stderr: "inherit",
    signal: AbortSignal.timeout(LIMIT_MS),
  }).spawn();
  const decoder = new TextDecoder();
  let seen = "";
  for await (const chunk of child.stdout) {
    seen += decoder.decode(chunk, { stream: true });
    if (seen.split("\n").length - 2 >= events) {
      try {
        child.kill("SIGKILL");
      } catch { /* it has ended */ }
    }
  }
  const { success } = await child.status;
  return { id: seen.split("\n", 1)[0] ?? "", isKilled: !success };
}

/** Goes on in this process; what may not be done twice is done again. */
async function goneOn(project: TestProject, id: string): Promise<Json | undefined> {
  await using place = await startPlace(project.folder, {
    grants: KILLED_GRANTS,
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  const secrets = createSecrets();
  using journal = openJournal(project.folder, { secrets });
  const run = journal.open(id);
  const { steps } = journal.read(id);
  try {
    await settleRun(run, { steps });
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === "unverified", String(error));
    const { steps: left } = error.details;
    assert.ok(Array.isArray(left) && left.length === 1);
    await settleRun(run, { steps, rerun: ["all"] });
  }
  const ready = await readyResumed({ run, secrets }, place);
  let value: Json | undefined;
  for await (const event of ready.events(continueRun(run, { journal, secrets }).options)) {
    if (event.type === "run-end") value = event.value;
  }
  return value;
}

function endOf(project: TestProject, id: string): string {
  using journal = openJournal(project.folder);
  return journal.read(id).summary.status;
}

const effectsOf = async (project: TestProject) =>
  (await project.read("effects.txt").catch(() => "")).split("\n").filter((line) => line !== "");

for (const [kind, start] of Object.entries(KILLED_KINDS)) {
  Deno.test(`${kind}: killed at any moment, it goes on here and on the command line`, async () => {
    await using whole = await testProject(FILES);
    await using place = await startPlace(whole.folder, { grants: KILLED_GRANTS });
    const types: string[] = [];
    const { value, status } = await runKept(await start(place), {
      place,
      onEvent: ({ type }) => types.push(type),
    });
    assert.equal(status, "done");
    let kills = 0;
    for (let events = 1; events < types.length; events += isThorough ? 2 : 9) {
      await using project = await testProject(FILES);
      const { id, isKilled } = await killedAfter(events, { kind, project });
      if (!isKilled || endOf(project, id) === "done") break; // it was faster
      await new Promise((resolve) => setTimeout(resolve, 300)); // a command outlives its parent for a moment
      const before = await effectsOf(project);
      const byCommand = events % 2 === 0;
      if (byCommand) {
        const args = ["resume", id, "--rerun", "all", "--allow-run", "--allow-write", "--json"];
        const { stdout, stderr } = await project.run(args);
        assert.deepEqual(JSON.parse(stdout || "{}").value, value, stderr);
      } else assert.deepEqual(await goneOn(project, id), value, `killed after ${events} events`);
      const effects = await effectsOf(project);
      assert.deepEqual(new Set(effects), new Set(await effectsOf(whole)));
      kills++;
      assert.ok(effects.length - (await effectsOf(whole)).length <= Math.min(1, before.length));
    }
    assert.ok(kills > 0, "every run was faster than its end");
  });
}

Deno.test("a conversation: killed at any moment, it goes on and has the same to say", async () => {
  await using whole = await testProject(FILES);
  const expected = await heldToItsEnd(whole, undefined);
  for (let events = 1;; events += isThorough ? 2 : 12) {
    await using project = await testProject(FILES);
    const { id, isKilled } = await killedAfter(events, { kind: "talk", project });
    if (id === "") continue; // before its first turn
    assert.deepEqual(await heldToItsEnd(project, id), expected, `killed after ${events} events`);
    if (!isKilled) break;
  }
});

/** What was said, and how often the visit was counted. */
async function heldToItsEnd(project: TestProject, id: string | undefined): Promise<unknown> {
  await using host = talkHost(project.folder);
  const talks = openTalks(host);
  const { talk } = id === undefined
    ? await talks.begin({ agent: "guide.agent.yml" }).then(async (begun) => {
      await begun.turn.ended;
      return begun;
    })
    : { talk: await talks.open(id) };
  for (;;) {
    const { status, turns, messages, slots } = await talk.state();
    if (status === "completed") return { messages, visits: slots["global.visits"] };
    const text = SAID[turns - 1];
    const turn = status === "failed" ? await talk.retry() : await talk.say(text ?? "more");
    await turn.ended;
  }
}
