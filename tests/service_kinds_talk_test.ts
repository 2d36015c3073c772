// Conversations as the service holds them.
import assert from "node:assert/strict";
import { ProblemsError, type RunEvent } from "../mod.ts";
import {
  type BeginTalk,
  type RunHandle,
  type RunReader,
  ServiceError,
  type ServiceErrorCode,
} from "../lib/service/service.ts";
import { openTalks } from "../lib/service/talks/talks.ts";
import { testProject } from "./_project.ts";
import { talkHost } from "./_talk_host.ts";

const AGENT = `version: "0.1"
structure:
  id: guide
  action:
    id: main
    chain:
      - { id: name?, message: { message: "Your name?", hold: true } }
      - { id: said, llm: { prompts: [ { user: "Greet {{topic}}." } ], store: { slot: { name: greeting } } } }
      - { id: visits, counter: { slot: { name: visits, destination: global } } }
      - { id: more?, message: { message: "More?", hold: true } }
      - { id: bye, message: { message: "Bye." } }
      - { id: end, flow: { action: end } }
`;

const FILES = {
  "orrery.yaml": "models: { default: script/echo }\n",
  "guide.agent.yml": AGENT,
  "slow.agent.yml": AGENT.replace("id: guide", "id: slow"),
  "slow.yml": '- chunks: ["one ", "two ", "three"]\n  delayMs: 300\n  repeat: true\n',
  "down.yml": '- error: { status: 400, message: "too strange" }\n',
  "broken.agent.yml": 'version: "0.1"\nstructure:\n  id: b\n  action: { id: m, mesage: { message: Hi } }\n',
};

const GUIDE: BeginTalk = { agent: "guide.agent.yml", slots: { topic: "the river" } };

const ended = async (turn: RunHandle) => (await turn.ended).status;

async function refusal(
  work: Promise<unknown>,
): Promise<{ code: ServiceErrorCode; message: string; details: unknown }> {
  const error: unknown = await work.then(() => undefined, (thrown: unknown) => thrown);
  assert.ok(error instanceof ServiceError, String(error));
  return { code: error.code, message: error.message, details: error.details };
}

for (const isEphemeral of [false, true]) {
  Deno.test(`a conversation is held over its turns to its end${isEphemeral ? ", and kept nowhere" : ""}`, async () => {
    await using project = await testProject(FILES);
    await using host = talkHost(project.folder, { isEphemeral });
    const talks = openTalks(host);
    const { talk, turn } = await talks.begin(GUIDE);
    assert.equal(await ended(turn), "held");
    const begun = await talk.state();
    assert.deepEqual([begun.status, begun.step, begun.turns, begun.agent], [
      "held",
      "name?",
      1,
      "guide.agent.yml",
    ]);
    assert.deepEqual(begun.messages, [{ n: 1, role: "assistant", text: "Your name?" }]);
    assert.equal(begun.slots["conversation.topic"], "the river");
    assert.equal(await ended(await talk.say("Ann")), "held");
    const again = await talks.open(talk.id);
    assert.deepEqual((await again.state({ last: 1 })).messages, [{ n: 4, role: "assistant", text: "More?" }]);
    assert.equal((await again.state()).slots["conversation.greeting"], "ECHO[Greet the river.]");
    assert.equal(await ended(await again.say("no")), "completed");
    const { code, details } = await refusal(talk.say("Hello?"));
    assert.deepEqual([code, details], ["ended", { reason: "ended" }]);
    assert.deepEqual((await talks.list({ agent: "guide.agent.yml" })).map(({ id, status }) => [id, status]), [
      [talk.id, "completed"],
    ]);
    assert.equal(host.held, 0);
    if (!isEphemeral) {
      const shown = await project.run(["show", "conversation", talk.id, "--json"]);
      assert.equal(JSON.parse(shown.stdout).status, "completed");
    }
  });
}

Deno.test("what cannot begin leaves nothing behind, and says where it is wrong", async () => {
  await using project = await testProject(FILES);
  await using host = talkHost(project.folder);
  const talks = openTalks(host);
  const cases: readonly [BeginTalk, ServiceErrorCode, RegExp][] = [
    [{ agent: "gone.agent.yml" }, "not-found", /^agent: there is no agent "gone\.agent\.yml"/],
    [{ agent: "../x.agent.yml" }, "outside", /^agent: /],
    [{ agent: "orrery.yaml" }, "invalid", /^agent: expected a file that ends with \.agent\.yml/],
    [{ ...GUIDE, slots: { "a b": 1 } }, "invalid", /^slots: "a b" is no name of a slot/],
    [{ ...GUIDE, message: "  " }, "invalid", /empty/],
  ];
  for (const [wish, code, message] of cases) {
    const refused = await refusal(talks.begin(wish));
    assert.equal(refused.code, code, refused.message);
    assert.match(refused.message, message);
  }
  const broken: unknown = await talks.begin({ agent: "broken.agent.yml" }).catch((error: unknown) => error);
  assert.ok(broken instanceof ProblemsError);
  assert.match(broken.problems[0]?.place ?? "", /^broken\.agent\.yml:4:/);
  assert.deepEqual([await talks.list(), host.held], [[], 0]);
  assert.equal((await refusal(talks.open("not-there"))).code, "not-found");
});

Deno.test("a turn under way is busy for another message, and can be stopped and finished", async () => {
  await using project = await testProject(FILES);
  await using host = talkHost(project.folder);
  const talks = openTalks(host);
  const { talk, turn } = await talks.begin({ ...GUIDE, agent: "slow.agent.yml", model: "script/slow.yml" });
  await turn.ended;
  const answering = await talk.say("Ann");
  assert.equal((await talk.state()).status, "running");
  const { code, details } = await refusal(talk.say("Again"));
  assert.deepEqual([code, details], ["busy", { reason: "busy" }]);
  const greeting = { n: 1, role: "assistant", text: "Your name?" };
  const sent = { n: 2, role: "user", text: "Ann", answered: false };
  assert.deepEqual((await talk.state()).messages, [greeting, sent]);
  assert.equal((await refusal(talk.back(1))).code, "busy");
  answering.cancel("enough");
  assert.equal(await ended(answering), "stopped");
  const stopped = await talk.state();
  assert.equal(stopped.status, "failed");
  assert.match(stopped.error ?? "", /interrupted: retry finishes it/);
  assert.deepEqual(stopped.messages, [greeting, sent]);
  assert.deepEqual((await talk.state({ last: 1 })).messages, [sent]);
  assert.deepEqual((await talk.state({ last: 0 })).messages, []);
  assert.deepEqual((await refusal(talk.say("Again"))).details, { reason: "interrupted" });
  assert.equal(await ended(await talk.retry()), "held");
  assert.equal((await talk.state()).slots["conversation.greeting"], "one two three");
  assert.deepEqual((await talk.state()).messages.slice(0, 2), [greeting, {
    n: 2,
    role: "user",
    text: "Ann",
  }]);
  assert.deepEqual((await refusal(talk.retry())).details, { reason: "nothing" });
});

Deno.test("turns are taken back, as a conversation of its own", async () => {
  await using project = await testProject(FILES);
  await using host = talkHost(project.folder);
  const talks = openTalks(host);
  const { talk, turn } = await talks.begin(GUIDE);
  await turn.ended;
  await ended(await talk.say("Ann"));
  const before = await talk.back(1);
  assert.notEqual(before.id, talk.id);
  assert.deepEqual([before.turns, before.step, before.messages.length], [1, "name?", 1]);
  assert.equal((await talk.state()).turns, 2);
  assert.match((await refusal(talk.back(3))).message, /^turns: 3 cannot be taken back: there are 2 turns$/);
  assert.equal(await ended(await (await talks.open(before.id)).say("Bob")), "held");
});

Deno.test("the command line goes on with a conversation of the service, and the service with one of the command line", async () => {
  await using project = await testProject(FILES);
  await using host = talkHost(project.folder);
  const talks = openTalks(host);
  const { talk, turn } = await talks.begin(GUIDE);
  await turn.ended;
  const resumed = await project.run(["resume", talk.id], { stdin: "Ann\n" });
  assert.match(resumed.stdout, /More\?/, resumed.stderr);
  assert.equal(await ended(await talk.say("no")), "completed");
  const own = await project.run(["run", "guide.agent.yml", "--slot", "topic=tea", "--say", "Ann"]);
  assert.match(own.stdout, /More\?/, own.stderr);
  const theirs = await talks.open(await project.newest());
  assert.equal(await ended(await theirs.say("no")), "completed");
  assert.equal((await theirs.state()).slots["global.visits"], 2);
});

Deno.test("a script goes on behind what it has said: in later turns, on the command line, in a conversation that was taken back", async () => {
  await using project = await testProject({
    "talker.agent.yml": `version: "0.1"
structure:
  id: talker
  action:
    id: main
    chain:
      - { id: said?, message: { message: "Well?", hold: true } }
      - { id: answer, llm: { prompts: [ { user: "Answer it." } ] } }
      - { id: inside, llm: { prompt: inside } }
      - { id: again, flow: { action: repeat } }
`,
    "prompts/inside.prompt.md": "Inside it\n", // it has a script of its own
    "talk.yml": `- { when: Inside, text: "(inside)", repeat: true }
- { text: First. }
- { error: { status: 503, message: busy, retryAfterMs: 1 } }
- { text: Second. }
- { error: { status: 400, message: too strange } }
- { text: Third. }
- { text: Fourth. }
`,
  });
  await using host = talkHost(project.folder);
  const talks = openTalks(host);
  const { talk, turn } = await talks.begin({ agent: "talker.agent.yml", model: "script/talk.yml" });
  await turn.ended;
  const said = async (): Promise<readonly string[]> =>
    (await talk.state()).messages.flatMap(({ text }) => /^[A-Z]\w+\.$/.test(text) ? [text] : []);
  for (const status of ["held", "held", "failed"]) assert.equal(await ended(await talk.say("on")), status);
  assert.deepEqual(await said(), ["First.", "Second."]);
  assert.equal(await ended(await talk.retry()), "held");
  assert.deepEqual(await said(), ["First.", "Second.", "Third."]);
  const before = await talks.open((await talk.back(2)).id);
  const resumed = await project.run(["resume", talk.id], { stdin: "on\n" });
  assert.match(resumed.stdout, /Fourth\./, resumed.stderr);
  assert.equal(await ended(await before.say("on")), "failed");
  assert.equal(await ended(await before.retry()), "held");
  assert.equal((await before.state()).messages.findLast(({ text }) => text.endsWith("."))?.text, "Third.");
});

Deno.test("an agent file that is gone, or another model that fails, is told; the turn can be tried again", async () => {
  await using project = await testProject(FILES);
  await using host = talkHost(project.folder);
  const talks = openTalks(host);
  const { talk, turn } = await talks.begin({ ...GUIDE, model: "script/down.yml" });
  await turn.ended;
  assert.equal(await ended(await talk.say("Ann")), "failed");
  const failed = await talk.state();
  assert.deepEqual([failed.status, failed.step], ["failed", "said"]);
  await project.write("down.yml", '- text: "Up."\n');
  await Deno.rename(`${project.folder}/guide.agent.yml`, `${project.folder}/away.agent.yml`);
  assert.equal((await refusal(talk.retry())).code, "gone");
  await Deno.rename(`${project.folder}/away.agent.yml`, `${project.folder}/guide.agent.yml`);
  assert.equal(await ended(await talk.retry()), "held");
  assert.equal((await talk.state()).slots["conversation.greeting"], "Up.");
});

Deno.test("whoever reads a conversation reads all of its turns, and stops at its end", async () => {
  await using project = await testProject(FILES);
  await using host = talkHost(project.folder);
  const talks = openTalks(host);
  const { talk, turn } = await talks.begin(GUIDE);
  const all = read(talk.read({ after: 0 }));
  await turn.ended;
  const late = read(talk.read({ after: 0 }));
  await ended(await talk.say("Ann"));
  const left = talk.read({ after: 0 });
  const some = read(left);
  await ended(await talk.say("no"));
  const [first, second] = await Promise.all([all, late]);
  assert.deepEqual(first.filter(({ type }) => type === "run-end").length, 3);
  assert.deepEqual(texts(second), texts(first));
  assert.deepEqual(first.map(({ seq }) => seq), first.map((_event, index) => index + 1));
  assert.deepEqual(texts(await some), texts(first));
  const waiting = openTalks(host);
  const other = await waiting.begin(GUIDE);
  await other.turn.ended;
  const reader = other.talk.read({ after: 0 });
  const rest = read(reader);
  setTimeout(() => reader.leave(), 50);
  assert.ok((await rest).length > 0);
});

Deno.test("whoever waits for the next turn of a conversation that is removed waits no longer", async () => {
  await using project = await testProject(FILES);
  await using host = talkHost(project.folder);
  const talks = openTalks(host);
  const { talk, turn } = await talks.begin(GUIDE);
  await turn.ended;
  const reader = talk.read({ after: 0 });
  const all = read(reader);
  await new Promise((resolve) => setTimeout(resolve, 50)); // it waits by then
  host.journal.remove(talk.id);
  talks.removed(talk.id);
  assert.ok((await all).length > 0);
});

Deno.test("of conversations that are not kept the oldest are forgotten, those that were removed among them", async () => {
  await using project = await testProject(FILES);
  await using host = talkHost(project.folder, { isEphemeral: true });
  const talks = openTalks(host);
  const count = async () => (await talks.list({ limit: 2_000 })).length;
  const first = await talks.begin(GUIDE);
  await first.turn.ended;
  host.journal.remove(first.talk.id);
  const { talk, turn } = await talks.begin(GUIDE);
  await turn.ended;
  for (let branch = 0; branch < 999; branch++) await talk.back(1);
  assert.equal(await count(), 1_000);
  await talk.back(1); // one too many: the oldest goes
  assert.equal(await count(), 1_000);
  assert.equal((await refusal(talks.open(talk.id))).code, "not-found");
});

Deno.test("a conversation that goes on takes no other budget", async () => {
  await using project = await testProject(FILES);
  await using host = talkHost(project.folder);
  const talks = openTalks(host);
  const { talk, turn } = await talks.begin(GUIDE);
  await turn.ended;
  const { code, details } = await refusal(talks.resume(talk.id, { budget: { tokens: 5 } }));
  assert.deepEqual([code, details], ["invalid", { field: "budget" }]);
});

Deno.test("more turns than may be are refused", async () => {
  await using project = await testProject(FILES);
  await using host = talkHost(project.folder, { limit: 0 });
  assert.equal((await refusal(openTalks(host).begin(GUIDE))).code, "limit");
});

const texts = (events: readonly RunEvent[]) =>
  events.flatMap((event) => event.type === "message" ? [event.text] : []);

async function read(reader: RunReader): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for (;;) {
    const frames = await reader.next({ maxBytes: 65_536 });
    if (frames === undefined) return events;
    for (const frame of frames) if ("event" in frame) events.push(frame.event);
  }
}
