// Prompts, tactics and profiles as the service starts them, and goes on with them.
import assert from "node:assert/strict";
import { type Json, type Message, openJournal } from "../mod.ts";
import { createSecrets } from "../lib/journal/secrets.ts";
import { continueRun } from "../lib/project/open_run.ts";
import { UsageError } from "../lib/service/exit_code.ts";
import { readyResumed } from "../lib/service/start/resume.ts";
import { ServiceError } from "../lib/service/service.ts";
import { startPrompt } from "../lib/service/start/prompt.ts";
import { startAsk } from "../lib/service/start/start.ts";
import { type TestProject, testProject } from "./_project.ts";
import { runKept, startPlace } from "./_start_place.ts";

const FILES = {
  "orrery.yaml": `models: { default: script/echo }
agents:
  - { name: helper, model: script/helper.yml, system: "You help." }
  - { name: caller, model: script/caller.yml, systemPrompt: caller }
  - { name: shaped, model: script/echo, systemPrompt: shaped }
`,
  "prompts/greet.prompt.md": "Say hello to {who}.",
  "prompts/caller.prompt.md": "---\ntools: [Calculate]\n---\nYou calculate.",
  "prompts/shaped.prompt.md": "You speak of {topic}.",
  "prompts/slow.prompt.md": "Take your time.",
  "helper.yml":
    '- { when: "^Blue[?]$", text: "Yes, blue.", repeat: true }\n- { when: ".", text: "What?", repeat: true }\n',
  "caller.yml":
    '- { when: "^Two times", calls: [{ name: Calculate, input: { expression: "2 * 3" } }] }\n- { when: "6", text: "It is six." }\n',
  "slow.yml": '- chunks: ["one ", "two ", "three"]\n  delayMs: 300\n  repeat: true\n',
};

const LIMIT_MS = 20_000;

async function started(project: TestProject, wish: Parameters<typeof startPrompt>[0]) {
  await using place = await startPlace(project.folder, { signal: AbortSignal.timeout(LIMIT_MS) });
  return await runKept(await startPrompt(wish, place), { place });
}

Deno.test("a prompt is asked with its input, and kept as the command line keeps it", async () => {
  await using project = await testProject(FILES);
  const end = await started(project, { kind: "prompt", path: "greet", input: { who: "Ann" } });
  assert.deepEqual([end.status, end.value], ["done", "ECHO[Say hello to Ann.]"]);
  const system = await started(project, { kind: "prompt", path: "greet", input: { who: "Ann" }, say: "Hi" });
  assert.deepEqual([system.status, system.value], ["done", "ECHO[Hi]"]);
  assert.match(
    (await project.run(["runs", "--all"])).stdout,
    new RegExp(`${end.id} +done +prompt +greet`),
  );
});

async function problem(work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(() => undefined, (thrown: unknown) => thrown);
  assert.ok(error instanceof Error, "nothing was thrown");
  return error;
}

Deno.test("what does not fit is told by the names of fields", async () => {
  await using project = await testProject(FILES);
  await using place = await startPlace(project.folder);
  const missing = await problem(
    startPrompt({ kind: "prompt", path: "greet", input: { whom: "Ann" } }, place),
  );
  assert.ok(missing instanceof UsageError);
  assert.match(missing.message, /prompt "greet" has no variable "whom"/);
  assert.match(missing.message, /give it as input\.who$/);
  assert.doesNotMatch(missing.message, /--/);
  const model = await problem(
    startPrompt({ kind: "prompt", path: "greet", input: { who: "x" }, model: "zzz" }, place),
  );
  assert.match(model.message, /^model: .*"zzz"/);
  const unknown = await problem(startPrompt({ kind: "prompt", path: "gret" }, place));
  assert.ok(unknown instanceof ServiceError);
  assert.deepEqual([unknown.code, unknown.message], [
    "not-found",
    'There is no prompt "gret". Did you mean "greet"?',
  ]);
  const profile = await problem(startAsk({ kind: "ask", profile: "help", messages: [HI] }, place));
  assert.ok(profile instanceof ServiceError);
  assert.equal(profile.code, "not-found");
  const silent = await problem(startAsk({ kind: "ask", profile: "helper", messages: [] }, place));
  assert.match(silent.message, /^messages: the last one has to be the user's, found no message$/);
  const unasked = await problem(startAsk({ kind: "ask", profile: "shaped", messages: [HI] }, place));
  assert.match(unasked.message, /give it as input\.topic/);
});

const HI: Message = { role: "user", content: "Hi" };

Deno.test("a profile answers the last of the messages, knowing those before it", async () => {
  await using project = await testProject(FILES);
  await using place = await startPlace(project.folder);
  const seen: Json[] = [];
  const messages: Message[] = [
    { role: "user", content: "Which colour?" },
    { role: "assistant", content: "Guess." },
    { role: "user", content: [{ type: "text", text: "Blue?" }] },
  ];
  const ready = await startAsk({ kind: "ask", profile: "helper", messages }, place);
  const end = await runKept(ready, { place });
  assert.deepEqual([end.status, end.value], ["done", "Yes, blue."]);
  using journal = openJournal(project.folder);
  for (const step of journal.read(end.id).steps) if (step.kind === "model") seen.push(step.input);
  const asked = JSON.stringify(seen);
  for (const text of ["You help.", "Which colour?", "Guess.", "Blue?"]) assert.match(asked, new RegExp(text));
  const trace = await project.run(["trace", end.id]);
  assert.equal(trace.code, 0, trace.stderr);
});

Deno.test("the tools of a profile's system prompt are called", async () => {
  await using project = await testProject(FILES);
  await using place = await startPlace(project.folder);
  const messages: Message[] = [HI, { role: "assistant", content: "Hello." }, {
    role: "user",
    content: "Two times three?",
  }];
  const end = await runKept(await startAsk({ kind: "ask", profile: "caller", messages }, place), { place });
  assert.deepEqual([end.status, end.value], ["done", "It is six."]);
});

const STOPPABLE = {
  prompt: (place: Parameters<typeof startPrompt>[1]) =>
    startPrompt({ kind: "prompt", path: "slow", model: "script/slow.yml" }, place),
  ask: (place: Parameters<typeof startPrompt>[1]) =>
    startAsk({ kind: "ask", profile: "helper", messages: [HI], model: "script/slow.yml" }, place),
};

for (const [kind, start] of Object.entries(STOPPABLE)) {
  Deno.test(`${kind}: what was stopped goes on, here and with orrery resume`, async () => {
    await using project = await testProject(FILES);
    for (const by of ["service", "command line"]) {
      const stop = new AbortController();
      await using place = await startPlace(project.folder, {
        signal: AbortSignal.any([stop.signal, AbortSignal.timeout(LIMIT_MS)]),
      });
      const stopped = await runKept(await start(place), {
        place,
        onEvent: (event) => event.type === "text-delta" && stop.abort(new Error("enough")),
      });
      assert.deepEqual([stopped.status, stopped.reason], ["stopped", "interrupted"]);
      if (by === "command line") {
        const { code, stdout, stderr } = await project.run(["resume", stopped.id]);
        assert.deepEqual([code, stdout.trimEnd()], [0, "one two three"], stderr);
      } else assert.equal(await goneOn(project, stopped.id), "one two three");
    }
  });
}

Deno.test("a question and a prompt of the command line go on in the service", async () => {
  await using project = await testProject({
    ...FILES,
    "down.yml": '- error: { status: 400, message: "no" }\n',
  });
  const wanted = [
    ["ask", "Hi", "-m", "script/down.yml"],
    ["ask", "Hi", "--profile", "helper", "-m", "script/down.yml"],
    ["run", "greet", "-i", "who=Ann", "-m", "script/down.yml"],
  ];
  for (const args of wanted) {
    await project.write("down.yml", FILES_DOWN);
    assert.equal((await project.run(args)).code, 7);
    await project.write("down.yml", "- text: Up\n");
    assert.equal(await goneOn(project, await project.newest()), "Up");
  }
});

const FILES_DOWN = '- error: { status: 400, message: "no" }\n';

Deno.test("a prompt that has changed, and a chat, do not go on here", async () => {
  await using project = await testProject({ ...FILES, "down.yml": FILES_DOWN });
  await project.run(["run", "greet", "-i", "who=Ann", "-m", "script/down.yml"]);
  const id = await project.newest();
  await project.write("prompts/greet.prompt.md", "Say goodbye to {who}.");
  const changed = await problem(goneOn(project, id));
  assert.ok(changed instanceof ServiceError);
  assert.equal(changed.code, "changed");
  await project.run(["chat", "-m", "script/echo", "-q"], { stdin: "one\n" });
  const chat = await problem(goneOn(project, await project.newest()));
  assert.match(chat.message, /is a chat at a terminal, which goes on there: orrery resume /);
});

async function goneOn(project: TestProject, id: string): Promise<Json | undefined> {
  await using place = await startPlace(project.folder, { signal: AbortSignal.timeout(LIMIT_MS) });
  const secrets = createSecrets();
  using journal = openJournal(project.folder, { secrets });
  const run = journal.open(id);
  const ready = await readyResumed({ run, secrets }, place);
  assert.equal(ready.start.kind, run.run.kind);
  let value: Json | undefined;
  for await (const event of ready.events(continueRun(run, { journal, secrets }).options)) {
    if (event.type === "run-end") value = event.value;
  }
  return value;
}
