// Conversations over HTTP: held over their turns, read, stopped, tried again, taken back; the same on the command line and in other servers.

import assert from "node:assert/strict";
import {
  answer,
  asked,
  endOf,
  refusalOf,
  type RunJson,
  stop,
  type Told,
  toldIn,
  toldOf,
} from "./_http_runs.ts";
import { type Served, served } from "./_served_project.ts";

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
  "slow.yml": '- chunks: ["one ", "two ", "three"]\n  delayMs: 100\n  repeat: true\n',
  "down.yml": '- error: { status: 400, message: "too strange" }\n',
  "broken.agent.yml": 'version: "0.1"\nstructure:\n  id: b\n  action: { id: m, mesage: { message: Hi } }\n',
  "colour.agent.yml": `version: "0.1"
structure:
  id: colour
  action:
    id: main
    chain:
      - { id: colour?, gadget: { name: AskUser, input: { question: "Which colour?" }, target: { slot: { name: colour } } } }
      - { id: more?, message: { message: "{{colour}}. More?", hold: true } }
      - { id: said, llm: { prompts: [ { user: "Go." } ] } }
      - { id: end, flow: { action: end } }
`,
};

const GUIDE = { agent: "guide.agent.yml", slots: { topic: "the river" } };

/** A conversation, or what a request of it gave. */
async function posted(server: Served, path: string, body: unknown = {}): Promise<RunJson> {
  const answer = await server.json(`/v1/conversations${path}`, { body });
  assert.ok(
    answer.status === 200 || answer.status === 201,
    `${answer.status} ${JSON.stringify(answer.body)}`,
  );
  return answer.body;
}

async function talkOf(server: Served, id: string, query = ""): Promise<RunJson> {
  return (await server.json(`/v1/conversations/${id}${query}`)).body;
}

/** Begins one with its agent's first turn. */
const begin = (server: Served, wishes: unknown = GUIDE) => posted(server, "", wishes);
const say = (server: Served, id: string, text: string) => posted(server, `/${id}/messages`, { text });
const refused = async (server: Served, path: string, body: unknown = {}) =>
  await refusalOf(server, `/v1/conversations${path}`, body);

/** Says something, and comes back when the model speaks. */
async function saying(server: Served, id: string, text: string): Promise<AsyncDisposable> {
  const response = await server.ask(`/v1/conversations/${id}/messages`, { body: { text, stream: true } });
  const told = toldIn(response);
  for (;;) {
    const { value, done } = await told.next();
    assert.ok(done !== true, "the model did not speak");
    if (value.type === "text-delta") break;
  }
  return { [Symbol.asyncDispose]: async () => void await told.return(undefined) };
}

for (const how of ["kept", "ephemeral"]) {
  Deno.test(`${how}: a conversation is held over its turns to its end, and another asks, is stopped and finished`, async () => {
    await using server = await served(FILES, how === "kept" ? [] : ["--ephemeral"]);
    const begun = await begin(server);
    const { id } = begun;
    assert.deepEqual([begun.status, begun.step, begun.turns, begun.agent], [
      "held",
      "name?",
      1,
      "guide.agent.yml",
    ]);
    assert.deepEqual(begun.messages, [{ n: 1, role: "assistant", text: "Your name?" }]);
    assert.equal(begun.slots["conversation.topic"], "the river");
    assert.equal((await say(server, id, "Ann")).status, "held");
    const again = await talkOf(server, id, "?last=1");
    assert.deepEqual(again.messages, [{ n: 4, role: "assistant", text: "More?" }]);
    assert.equal(again.slots["conversation.greeting"], "ECHO[Greet the river.]");
    assert.equal((await say(server, id, "no")).status, "completed");
    assert.equal((await refused(server, `/${id}/messages`, { text: "Hello?" })).code, "409 ended");
    const { body } = await server.json("/v1/conversations?agent=guide.agent.yml");
    assert.ok(Array.isArray(body.conversations));
    assert.deepEqual(body.conversations.map((talk) => [talk.id, talk.status]), [[id, "completed"]]);
    if (how === "kept") {
      const shown = await server.project.run(["show", "conversation", id, "--json"]);
      assert.equal(JSON.parse(shown.stdout).status, "completed");
    }

    const response = await server.ask("/v1/conversations", {
      body: { agent: "colour.agent.yml", ask: true, model: "script/slow.yml", stream: true },
    });
    const other = response.headers.get("orrery-run") ?? "";
    const turn = Array.fromAsync(toldIn(response));
    const [question] = await asked(server, other);
    assert.deepEqual([question?.kind, question?.question], ["question", "Which colour?"]);
    assert.deepEqual((await talkOf(server, other)).asks, [question]);
    assert.equal(await answer(server, other, { ask: question?.ask, text: "Blue" }), "200");
    assert.equal((await turn).at(-1)?.data.status, "held");
    const last = async () => (await talkOf(server, other, "?last=1")).messages[0].text;
    assert.equal(await last(), "Blue. More?");
    {
      await using _saying = await saying(server, other, "yes");
      assert.equal((await stop(server, other)).status, "stopped");
    }
    assert.equal((await talkOf(server, other)).status, "failed");
    if (how === "kept") {
      assert.equal((await server.json(`/v1/runs/${other}/resume`, { body: {} })).status, 202);
      await endOf(server, other);
    } else await posted(server, `/${other}/retry`);
    assert.deepEqual([(await talkOf(server, other)).status, await last()], ["completed", "one two three"]);
  });
}

Deno.test("without anybody to be asked a conversation fails its step", async () => {
  await using server = await served(FILES);
  const { status, error } = await begin(server, { agent: "colour.agent.yml" });
  assert.equal(status, "failed");
  assert.match(error, /AskUser|asked|terminal/);
});

Deno.test("what cannot begin leaves nothing behind, and says where it is wrong", async () => {
  await using server = await served({
    ...FILES,
    "one.calls": "!!!GADGET_START:Wait\n!!!ARG:seconds\n60\n!!!GADGET_END\n",
  });
  const cases: readonly (readonly [unknown, string, RegExp])[] = [
    [{ agent: "gone.agent.yml" }, "404 not-found", /^agent: there is no agent "gone\.agent\.yml"/],
    [{ agent: "../x.agent.yml" }, "403 outside", /./],
    [{ agent: "orrery.yaml" }, "400 invalid", /^agent: expected a file that ends with \.agent\.yml/],
    [{ ...GUIDE, slots: { "a b": 1 } }, "400 invalid", /^slots: "a b" is no name of a slot/],
    [{ ...GUIDE, message: "  " }, "400 empty", /empty/],
    [{}, "400 invalid", /agent: missing/],
  ];
  for (const [wish, code, detail] of cases) {
    const found = await refused(server, "", wish);
    assert.equal(found.code, code, found.detail);
    assert.match(found.detail, detail);
  }
  const broken = await refused(server, "", { agent: "broken.agent.yml" });
  assert.deepEqual([broken.code, broken.body.file, broken.body.line], ["422 check", "broken.agent.yml", 4]);
  assert.equal((await refusalOf(server, "/v1/conversations/not-there")).code, "404 not-found");
  const { id } = await begin(server);
  assert.equal((await refused(server, `/${id}/messages`, { text: 5 })).code, "400 invalid");
  assert.equal((await refused(server, `/${id}/messages`, { text: "  " })).code, "400 empty");
  assert.equal((await refused(server, `/${id}/messages`, {})).code, "400 invalid");
  // A conversation that goes on takes no other budget.
  const budget = await refusalOf(server, `/v1/runs/${id}/resume`, { budget: { tokens: 5 } });
  assert.equal(budget.code, "400 invalid");
  assert.match(budget.detail, /budget/);
  const { body } = await server.json("/v1/conversations");
  assert.ok(Array.isArray(body.conversations) && body.conversations.length === 1);
  // More turns than may be are refused.
  await server.project.write("orrery.yaml", "limits: { runs: 1 }\n");
  await new Promise((resolve) => setTimeout(resolve, 1_050));
  assert.equal((await server.json("/v1/runs", { body: { file: "one.calls" } })).status, 202);
  assert.equal((await refused(server, "", GUIDE)).code, "429 limit");
});

Deno.test("a turn under way is busy for another message, and can be stopped and finished", async () => {
  await using server = await served(FILES);
  const { id } = await begin(server, { ...GUIDE, agent: "slow.agent.yml", model: "script/slow.yml" });
  const greeting = { n: 1, role: "assistant", text: "Your name?" };
  const sent = { n: 2, role: "user", text: "Ann", answered: false };
  {
    await using _saying = await saying(server, id, "Ann");
    const under = await talkOf(server, id);
    assert.deepEqual([under.status, under.messages], ["running", [greeting, sent]]);
    assert.equal((await refused(server, `/${id}/messages`, { text: "Again" })).code, "409 busy");
    assert.equal((await refused(server, `/${id}/back`, { turns: 1 })).code, "409 busy");
    assert.equal((await stop(server, id)).status, "stopped");
  }
  const stopped = await talkOf(server, id);
  assert.equal(stopped.status, "failed");
  assert.match(stopped.error, /interrupted: retry finishes it/);
  assert.deepEqual(stopped.messages, [greeting, sent]);
  assert.deepEqual((await talkOf(server, id, "?last=1")).messages, [sent]);
  assert.equal((await refusalOf(server, `/v1/conversations/${id}?last=0`)).code, "400 invalid");
  assert.equal((await refused(server, `/${id}/messages`, { text: "Again" })).code, "409 interrupted");
  const again = await posted(server, `/${id}/retry`);
  assert.deepEqual([again.status, again.slots["conversation.greeting"]], ["held", "one two three"]);
  assert.deepEqual((await talkOf(server, id)).messages.slice(0, 2), [greeting, {
    n: 2,
    role: "user",
    text: "Ann",
  }]);
  assert.equal((await refused(server, `/${id}/retry`)).code, "409 nothing");
});

Deno.test("turns are taken back, as a conversation of its own", async () => {
  await using server = await served(FILES);
  const { id } = await begin(server);
  await say(server, id, "Ann");
  const before = await posted(server, `/${id}/back`, { turns: 1 });
  assert.notEqual(before.id, id);
  assert.deepEqual([before.turns, before.step, before.messages.length], [1, "name?", 1]);
  assert.equal((await talkOf(server, id)).turns, 2);
  const many = await refused(server, `/${id}/back`, { turns: 3 });
  assert.match(many.detail, /^turns: 3 cannot be taken back: there are 2 turns$/);
  assert.equal((await say(server, before.id, "Bob")).status, "held");
});

Deno.test("the command line goes on with a conversation of the server, and the server with one of the command line", async () => {
  await using server = await served(FILES);
  const { project } = server;
  const { id } = await begin(server);
  const resumed = await project.run(["resume", id], { stdin: "Ann\n" });
  assert.match(resumed.stdout, /More\?/, resumed.stderr);
  assert.equal((await say(server, id, "no")).status, "completed");
  const own = await project.run(["run", "guide.agent.yml", "--slot", "topic=tea", "--say", "Ann"]);
  assert.match(own.stdout, /More\?/, own.stderr);
  const theirs = await say(server, await project.newest(), "no");
  assert.deepEqual([theirs.status, theirs.slots["global.visits"]], ["completed", 2]);
});

Deno.test("a script goes on behind what it has said: in later turns, on the command line, in a conversation that was taken back", async () => {
  await using server = await served({
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
  const { id } = await begin(server, { agent: "talker.agent.yml", model: "script/talk.yml" });
  const said = async (): Promise<readonly string[]> => {
    const { messages }: RunJson = await talkOf(server, id);
    return messages.flatMap(({ text }: { readonly text: string }) => /^[A-Z]\w+\.$/.test(text) ? [text] : []);
  };
  for (const status of ["held", "held", "failed"]) assert.equal((await say(server, id, "on")).status, status);
  assert.deepEqual(await said(), ["First.", "Second."]);
  assert.equal((await posted(server, `/${id}/retry`)).status, "held");
  assert.deepEqual(await said(), ["First.", "Second.", "Third."]);
  const before = await posted(server, `/${id}/back`, { turns: 2 });
  const resumed = await server.project.run(["resume", id], { stdin: "on\n" });
  assert.match(resumed.stdout, /Fourth\./, resumed.stderr);
  assert.equal((await say(server, before.id, "on")).status, "failed");
  const { status, messages }: RunJson = await posted(server, `/${before.id}/retry`);
  assert.equal(status, "held");
  assert.equal(
    messages.findLast(({ text }: { readonly text: string }) => text.endsWith("."))?.text,
    "Third.",
  );
});

Deno.test("an agent file that is gone, or a model that fails, is told; the turn can be tried again, here or in another server", async () => {
  await using server = await served(FILES);
  const { project } = server;
  const { id } = await begin(server, { ...GUIDE, model: "script/down.yml" });
  const failed = await say(server, id, "Ann");
  assert.deepEqual([failed.status, failed.step], ["failed", "said"]);
  const other = await begin(server, { ...GUIDE, model: "script/down.yml" });
  assert.equal((await say(server, other.id, "Ann")).status, "failed");
  await project.write("down.yml", '- { text: "Up.", repeat: true }\n');
  await Deno.rename(`${project.folder}/guide.agent.yml`, `${project.folder}/away.agent.yml`);
  assert.match((await refused(server, `/${id}/retry`)).code, / gone$/);
  await Deno.rename(`${project.folder}/away.agent.yml`, `${project.folder}/guide.agent.yml`);
  const again = await posted(server, `/${id}/retry`);
  assert.deepEqual([again.status, again.slots["conversation.greeting"]], ["held", "Up."]);

  // A conversation whose turn failed here and was tried again elsewhere is what it has become, at once.
  await using second = await served(project);
  assert.equal((await posted(second, `/${other.id}/retry`)).status, "held");
  assert.equal((await endOf(server, other.id)).status, "held");
  const seqs = (await toldOf(server, other.id)).flatMap(({ seq }) => seq ?? []);
  assert.deepEqual(seqs, [...new Set(seqs)].toSorted((a, b) => a - b));
  const last = await server.ask(`/v1/conversations/${other.id}/messages`, {
    body: { text: "no", stream: true },
  });
  const told = await Array.fromAsync(toldIn(last));
  assert.ok(told.every(({ seq }) => seq === undefined || seq > (seqs.at(-1) ?? Infinity)));
  assert.equal(told.at(-1)?.data.status, "completed");
});

Deno.test("whoever reads a conversation reads all of its turns, to its end or until it is removed", async () => {
  await using server = await served(FILES);
  const { id } = await begin(server);
  const all = toldOf(server, id, { of: "conversations" });
  await say(server, id, "Ann");
  const late = toldOf(server, id, { of: "conversations" });
  await say(server, id, "no");
  const [first, second] = await Promise.all([all, late]);
  const texts = (told: readonly Told[]) =>
    told.flatMap(({ type, data }) => type === "message" ? [data.text] : []);
  assert.equal(first.filter(({ type }) => type === "run-end").length, 3);
  assert.deepEqual(texts(second), texts(first));
  assert.deepEqual(first.map(({ seq }) => seq), first.map((_told, index) => index + 1));
  const other = await begin(server);
  const waiting = toldIn(await server.ask(`/v1/conversations/${other.id}/events`));
  for (;;) if ((await waiting.next()).value?.type === "run-end") break;
  const rest = waiting.next();
  assert.equal((await server.ask(`/v1/runs/${other.id}`, { method: "DELETE" })).status, 204);
  assert.equal((await rest).done, true, "it waits no longer");
});

Deno.test("of conversations that are not kept the oldest are forgotten", async () => {
  await using server = await served(FILES, ["--ephemeral"]);
  const { id } = await begin(server);
  for (let branch = 0; branch < 1_000; branch += 50) {
    await Promise.all(Array.from({ length: 50 }, () => posted(server, `/${id}/back`, { turns: 1 })));
  }
  assert.equal((await refusalOf(server, `/v1/conversations/${id}`)).code, "404 not-found");
});
