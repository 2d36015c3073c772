// `orrery test` with `*.conversation-test.yml`: what a person says, what models and servers answer, and what the agent is to say.
import fc from "fast-check";
import assert from "node:assert/strict";
import { join } from "node:path";
import { Validator } from "@cfworker/json-schema";
import { parse } from "yaml";
import type { Json, JsonObject } from "../../mod.ts";
import { type ConversationCase, conversationCases } from "../_conversation_cases.ts";
import { testProject } from "../_project.ts";
import { tries } from "../_thorough.ts";

const AGENT = `version: "0.1"
structure:
  id: order
  slots: [{ name: plan, source: { user: { path: plan } } }]
  action:
    id: main
    chain:
      - { id: hello, message: { message: "Hello {{global.name}}, what is it?", hold: true } }
      - id: read
        extractor:
          values:
            - { description: What is wanted., target: { slot: { name: item } } }
            - { description: How many., type: integer, target: { slot: { name: count } } }
          success: { action: continue }
          fail: { goto: hello }
      - id: send
        api-call:
          url: https://shop.test/orders
          method: POST
          headers: [{ key: Authorization, value: "\${env.SHOP_KEY}" }]
          body: { item: "{{item}}", count: "{{count}}" }
          response-path: $.number
          target: { slot: { name: number, destination: module } }
          success: { action: continue }
          fail: { goto: sorry }
      - id: thanks
        llm:
          prompts: [{ system: "Thank for order {{module.number}} ({{plan}})." }]
          memory: [{ selector: all }]
          store: { slot: { name: said } }
      - { id: over, flow: { action: end } }
      - { id: sorry, message: { message: "The shop is closed.\\nCome back later." } }
`;

const FULL = `agent: order.agent.yml
user: ana
context: { user: { plan: gold } }
env: { SHOP_KEY: secret }
tests:
  - name: an order
    slots-before: { global.name: Ana }
    model:
      read: [{ item: tea }, { item: tea, count: 2 }]
      thanks: [{ chunks: [Thank, " you."] }]
    http:
      POST https://shop.test/orders:
        - { status: 201, body: { number: 17 }, sent: '{"item":"tea","count":2}' }
    turns:
      - say: Tea!
        expect: [{ equals: "Hello Ana, what is it?" }, { matches: "^Hello" }]
        hold: hello
        slots: { item: tea, count: null, plan: gold }
      - say: Two of them.
        expect: Thank you.
        status: completed
        slots: { module.number: 17, said: { contains: you } }
    slots-after: { global.name: Ana }
    saw-prompts: { thanks: [{ system: Thank for order 17 (gold). }] }
    saw-memory:
      read:
        - assistant: Hello Ana, what is it?
        - user: Tea!
        - assistant: { contains: Hello }
        - user: Two of them.
  - name: a shop that fails, and a conversation that has ended
    http: { POST https://shop.test/orders: { status: 500, type: text/plain, headers: { Retry-After: 5 }, body: no } }
    model: { read: [{ object: { item: tea, count: 2 } }] }
    turns:
      - expect: { contains: what is it }
      - say: Two teas.
        expect: |
          The shop is closed.
          Come back later.
      - say: Hello?
        expect: []
        error: This conversation has ended. Start a new one.
        status: completed
  - name: what is global is there in the next conversation
    conversations:
      - slots-before: { global.name: Ana, conversation.item: tea }
        turns: [{ expect: "Hello Ana, what is it?", slots: { item: tea } }]
      - session: next
        context: {}
        turns: [{ expect: "Hello Ana, what is it?", slots: { item: null, plan: null } }]
      - user: bo
        turns: [{ expect: "Hello , what is it?" }]
`;

Deno.test("a file of tests: replies, servers, slots, memory, several conversations; the project is not touched", async () => {
  await using project = await testProject({ "order.agent.yml": AGENT, "order.conversation-test.yml": FULL });
  const { code, stdout, stderr } = await project.run(["test", "order.conversation-test.yml"]);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /^ok {4}order\.conversation-test\.yml: an order {2}\d+ ms\n/);
  assert.match(stdout, /\n3 passed, 0 failed\n$/);
  const names = [...Deno.readDirSync(project.folder)].map(({ name }) => name).sort();
  assert.deepEqual(names, ["order.agent.yml", "order.conversation-test.yml"]);
});

const TALK = `version: "0.1"
structure:
  id: talk
  action:
    id: main
    chain:
      - { id: one, message: { message: "first\\nsecond\\nthird" } }
      - { id: two, message: { message: "more", hold: true } }
      - { id: keep, set-slot: { values: [{ path: { name: list }, value: [1, 2] }, { path: { name: word }, value: blue }] } }
      - id: ask
        llm: { prompts: [{ system: "s" }, { user: "{{word}}" }], memory: [{ from: two }] }
`;

const WRONG = `agent: talk.agent.yml
tests:
  - name: another text
    turns:
      - expect:
          - |
            first
            zweite
            third
          - contains: less
  - name: other numbers of messages
    turns:
      - expect: [{ contains: second }, and, more]
        hold: one
  - name: nothing is wanted
    turns: [{ expect: [] }]
  - name: slots, status, models
    model: { ask: [Hi.] }
    turns:
      - status: held
      - say: go on
        status: held
        expect: Hi.
        slots: { list: [1, 3], word: green, none: 1, conversation.word: null }
        saw-prompts: { ask: [{ system: s }, { user: red }] }
        saw-memory: { ask: [{ user: x }], one: [] }
  - name: an error that is not there, and one that nobody expects
    conversations:
      - turns: [{ expect: [{ contains: first }, more] }]
      - model: { ask: [{ error: { status: 400, message: "no" } }] }
        turns: [{}, { say: a }]
  - name: wanted errors
    model: { ask: [Hi.] }
    turns: [{ say: a, error: { contains: no } }]
`;

Deno.test("what is not as expected is told with its place, its turn, its step and a difference; exit code 1", async () => {
  await using project = await testProject({ "talk.agent.yml": TALK, "talk.conversation-test.yml": WRONG });
  const { code, stdout, stderr } = await project.run(["test", "talk.conversation-test.yml", "--quiet"]);
  assert.equal(code, 1, stderr);
  assert.equal(
    stdout.replaceAll(/\d+ ms/g, "N ms"),
    `FAIL  talk.conversation-test.yml: another text  N ms
  talk.conversation-test.yml:6:13: error: message 1 of turn 1, by step "one", is another one
  --- expected
  +++ found
  @@ -1,3 +1,3 @@
   first
  -zweite
  +second
   third
  talk.conversation-test.yml:10:23: error: message 2 of turn 1, by step "two", does not contain "less": "more"
FAIL  talk.conversation-test.yml: other numbers of messages  N ms
  talk.conversation-test.yml:13:9: error: in turn 1 the agent said 2 messages (by steps "one", "two"), expected 3
  --- expected
  +++ found
  @@ -1,6 +1,5 @@
   first
   second
   third
  -and
   more
  talk.conversation-test.yml:14:15: error: behind turn 1 the conversation waits at "two", expected "one"
FAIL  talk.conversation-test.yml: nothing is wanted  N ms
  talk.conversation-test.yml:16:15: error: in turn 1 the agent said 2 messages (by steps "one", "two"), expected 0
  --- expected
  +++ found
  @@ -1,1 +1,5 @@
  +first
  +second
  +third
  +more
FAIL  talk.conversation-test.yml: slots, status, models  N ms
  talk.conversation-test.yml:22:17: error: turn 2 ended as completed, expected held
  talk.conversation-test.yml:24:24: error: behind turn 2 slot conversation.list is another one
  --- expected
  +++ found
  @@ -1,4 +1,4 @@
   [
     1,
  -  3
  +  2
   ]
  talk.conversation-test.yml:24:38: error: behind turn 2 slot conversation.word is "blue", expected "green"
  talk.conversation-test.yml:24:51: error: behind turn 2 there is no slot conversation.none
  talk.conversation-test.yml:24:73: error: behind turn 2 slot conversation.word is "blue", expected none
  talk.conversation-test.yml:25:53: error: behind turn 2 user message 2 of the prompts of step "ask" is another one
  --- expected
  +++ found
  @@ -1,1 +1,1 @@
  -red
  +blue
  talk.conversation-test.yml:26:23: error: behind turn 2 in the memory of step "ask" the messages are assistant, user, expected user
  --- expected
  +++ found
  @@ -1,2 +1,3 @@
  -user: x
  +assistant: more
  +user: go on
  talk.conversation-test.yml:26:43: error: behind turn 2 step "one" has asked no model yet
FAIL  talk.conversation-test.yml: an error that is not there, and one that nobody expects  N ms
  talk.conversation-test.yml:31:21: error: conversation 2, turn 2 failed: step "ask": script/ask: no (400)
FAIL  talk.conversation-test.yml: wanted errors  N ms
  talk.conversation-test.yml:34:42: error: there is no error of turn 1
0 passed, 6 failed
`,
  );
});

Deno.test("a script has to fit: what is asked for and not there, what is left over, and what is sent otherwise", async () => {
  await using project = await testProject({
    "order.agent.yml": AGENT,
    "order.conversation-test.yml": `agent: order.agent.yml
env: { SHOP_KEY: secret }
http: { GET https://shop.test/shared: { body: for all tests } }
tests:
  - name: no reply at all
    turns: [{ say: Tea!, expect: [], slots: { item: x } }]
  - name: no reply left
    model: { read: [{ item: tea }] }
    turns: [{ say: Tea! }, { say: Two. }]
  - name: no answer
    model: { read: [{ item: tea, count: 2 }] }
    turns: [{ say: Two teas. }]
  - name: no answer left, and none for another method
    model: { read: [{ item: tea, count: 2 }] }
    http:
      GET https://shop.test/orders: {}
      POST https://SHOP.test/orders: []
    turns: [{ say: Two teas. }]
  - name: left over
    model:
      read: [{ item: tea }]
      thanks: [Thank you., Bye.]
    http:
      GET https://shop.test/other: {}
      POST https://shop.test/orders: [{}, {}]
    turns: [{}]
  - name: some are left over
    model: { read: [{ item: tea, count: 2 }, {}], thanks: [A.] }
    http: { POST https://shop.test/orders: [{ body: { number: 1 } }, { body: { number: 2 } }] }
    turns: [{ say: Two teas. }]
  - name: sent
    model: { read: [{ item: tea, count: 2 }], thanks: [A.] }
    http: { POST https://shop.test/orders: { body: { number: 1 }, sent: { contains: coffee } } }
    turns: [{ say: Two teas. }]
`,
  });
  const { code, stdout, stderr } = await project.run(["test", "order.conversation-test.yml"]);
  assert.equal(code, 1, stderr);
  const told = stdout.split("\n").filter((line) => !line.startsWith("ok ") && !line.startsWith("FAIL "));
  assert.deepEqual(told.map((line) => line.replace(/^ {2}order\.conversation-test\.yml:/, "")), [
    '6:13: error: in turn 1 step "read" asks its model, and there is no reply',
    '9:28: error: in turn 2 step "read" asks its model, and there is no reply left: the one reply is used',
    "12:13: error: in turn 1 POST https://shop.test/orders was asked for, and the test has no answer for it",
    "18:13: error: in turn 1 POST https://shop.test/orders was asked for, and the test has no answer for it",
    '21:14: error: step "read" has asked no model: 1 reply is left over',
    '22:16: error: step "thanks" has asked no model: 2 replies are left over',
    "24:7: error: GET https://shop.test/other was not asked for",
    "25:7: error: POST https://shop.test/orders was not asked for",
    '28:46: error: step "read" has asked once: 1 reply is left over',
    "29:13: error: POST https://shop.test/orders was asked for once, 1 answer is left over",
    '33:85: error: body of POST https://shop.test/orders does not contain "coffee": ' +
    `${JSON.stringify('{"item":"tea","count":2}')}`,
    "0 passed, 7 failed",
    "",
  ]);
});

Deno.test("a broken file of tests: every mistake with file:line:column, those of its agents too; exit code 2", async () => {
  await using project = await testProject({
    "order.agent.yml": AGENT,
    "bad.agent.yml": 'version: "0.1"\nstructure:\n  id: a\n  action: { id: m, mesage: { message: x } }\n',
    "a.conversation-test.yml": `agent: order.agent.yml
usr: ana
context: { person: {} }
http: { FETCH https://a.test: {}, GET nowhere: {}, GET https://a.test: { status: 99, body: a, events: [b] } }
steps: 0
tests:
  - turns: [{ retry: true }, { expect: x }, { say: a, retry: true }]
    model:
      reed: [a]
      send: [a]
      read: [text: tea, { error: { sttus: 1 } }, { object: { text: tea } }, 7]
      thanks: [{ item: tea }, { object: 1, error: {} }]
  - name: x
    turns:
      - { say: 1, status: done, hold: helo, slots: [], expect: [{ equal: x }], saw-memory: { helo: [{ bot: x }] } }
  - name: y
    agent: none.agent.yml
    turns: [{}]
  - name: z
    turns: [{}]
    conversations:
      - { agent: bad.agent.yml, context: none.yml, turns: [], model: { m: [{ an: answer }] } }
  - { name: a, conversations: [] }
`,
    "b.conversation-test.yml": "tests: [{ name: a, turns: [{}] }]\n",
  });
  const files = ["a.conversation-test.yml", "b.conversation-test.yml"];
  const { code, stderr, stdout } = await project.run(["test", ...files]);
  assert.deepEqual([code, stdout], [2, ""]);
  const told = stderr.split("\n").filter((line) => /^[ab][a-z.-]*:\d/.test(line));
  assert.deepEqual(told.map((line) => line.replace(/^a\.conversation-test\.yml:(.*?): error: /, "$1 ")), [
    '2:1 usr: unknown, expected one of agent, user, module, session, context, collection, env, http, steps, tests. Did you mean "user"?',
    "3:12 context/person: unknown, expected one of user, module, session, user-config, user-context-log",
    String
      .raw`4:9 http/FETCH https:~1~1a.test: cannot be a name here, expected text matching ^(GET|POST|PUT|DELETE) \S+$`,
    "4:35 Expected a method and a URL, such as GET https://shop.example/orders",
    "4:72 Expected one of body, events, error, found body and events",
    "4:82 http/GET https:~1~1a.test/status: expected at least 200, found 99",
    "5:8 steps: expected at least 1, found 0",
    "7:5 tests/0/name: missing, expected string",
    "7:15 There is nothing to try again yet",
    "7:30 Expected say: what the person says. Only the first turn may begin without it",
    "7:55 Expected say or retry, found both",
    '9:7 The agent has no step "reed". Did you mean "read"?',
    '10:7 Step "send" asks no model: it is of the kind api-call.',
    '11:36 unknown key "sttus" in an error (did you mean "status"?)',
    '12:18 Unknown key "item". The keys here are text, chunks, object, error, calls.',
    '12:51 stands beside "object": a reply says one thing',
    "15:16 tests/1/turns/0/say: expected string, found 1",
    '15:27 tests/1/turns/0/status: expected one of "held", "completed", "failed", found "done"',
    '15:39 The agent has no step "helo". Did you mean "hello"?',
    "15:52 tests/1/turns/0/slots: expected object, found an empty array",
    '15:67 tests/1/turns/0/expect/0/equal: unknown, expected one of equals, contains, matches. Did you mean "equals"? (or another of 2 alternatives)',
    '15:94 The agent has no step "helo". Did you mean "hello"?',
    "15:103 tests/1/turns/0/saw-memory/helo/0/bot: unknown, expected one of system, user, assistant",
    '17:12 Cannot read "none.agent.yml": no such file',
    "20:5 tests/3/turns: not allowed here",
    '22:42 Cannot read "none.yml": no such file',
    "22:59 tests/3/conversations/0/turns: expected at least 1 item, found none",
    "23:31 tests/4/conversations: expected at least 1 item, found none",
    'bad.agent.yml:4:20: error: structure.action: unknown key "mesage" in a step (did you mean "message"?)',
    "b.conversation-test.yml:1:9: error: Expected an agent: the *.agent.yml that is tested",
  ]);
});

Deno.test("an answer that reads as a reply in other words has to stand in object", async () => {
  const agent = AGENT.replaceAll("name: item", "name: text");
  const of = (reply: string) =>
    `agent: a.agent.yml\ntests: [{ name: a, model: { read: [${reply}, {}] }, ` +
    "turns: [{ say: tea }, { say: two, slots: { text: tea } }] }]\n";
  await using project = await testProject({
    "a.agent.yml": agent,
    "wrong.conversation-test.yml": of("{ text: tea }"),
    "right.conversation-test.yml": of("{ object: { text: tea } }"),
  });
  const wrong = await project.run(["test", "wrong.conversation-test.yml"]);
  assert.equal(wrong.code, 2);
  assert.match(
    wrong.stderr,
    /^wrong\.conversation-test\.yml:2:36: error: "text" is a value of step "read" too: put the answer into object, as in \{ object: \{ text: … \} \}\n/,
  );
  const right = await project.run(["test", "right.conversation-test.yml"]);
  assert.equal(right.code, 0, right.stdout + right.stderr);
});

Deno.test("--json, folders, and files of both kinds in one run", async () => {
  const test = 'agent: ../talk.agent.yml\ntests: [{ name: "a", turns: [{ expect: [] }] }]\n';
  await using project = await testProject({
    "talk.agent.yml": TALK,
    "tests/talk.conversation-test.yaml": test,
    "tests/deep/a.document-test.yml": "document: a.md\ntests: [{ name: d, expect: { value: null } }]\n",
    "tests/deep/a.md": "# A\n",
    "tests/node_modules/x.conversation-test.yml": "[",
    "tests/notes.yml": "[",
    "empty/notes.yml": "[",
  });
  const { code, stdout } = await project.run([
    "test",
    "tests",
    "tests/talk.conversation-test.yaml",
    "--json",
  ]);
  assert.equal(code, 1);
  const told = JSON.parse(stdout);
  assert.deepEqual([told.status, told.passed, told.failed], ["failed", 1, 1]);
  const [talk, document] = told.tests;
  assert.deepEqual([document.file, document.status], [
    join("tests", "deep", "a.document-test.yml"),
    "passed",
  ]);
  assert.deepEqual({ ...talk, ms: 0 }, {
    file: join("tests", "talk.conversation-test.yaml"),
    line: 2,
    name: "a",
    status: "failed",
    ms: 0,
    failures: [{
      what: "turn 1: messages",
      file: join("tests", "talk.conversation-test.yaml"),
      line: 2,
      column: 32,
      message: 'in turn 1 the agent said 2 messages (by steps "one", "two"), expected 0',
      diff: "--- expected\n+++ found\n@@ -1,1 +1,5 @@\n+first\n+second\n+third\n+more\n \n",
    }],
  });
  const empty = await project.run(["test", "empty", "tests"]);
  assert.deepEqual([empty.code, empty.stdout], [2, ""]);
  assert.match(empty.stderr, /^error: There are no tests in "empty"\n/);
});

Deno.test("documents, prompts and gadgets that run in a step: in the project, which is only read; the step's replies answer there", async () => {
  await using project = await testProject({
    "orrery.yaml": "prompts: { folders: [prompts] }\n",
    "notes.txt": "of the project",
    "plan.md": "@llm\nprompt: Answer.\nuse-header: none\n",
    "prompts/greet.prompt.md": "Greet {{name}}.\n",
    "sub.agent.yml": `version: "0.1"
structure:
  id: sub
  action:
    id: main
    chain:
      - { id: plan, run: { file: plan.md, target: { slot: { name: plan } } } }
      - { id: greet, llm: { prompt: greet, args: { name: "{{plan}}" } } }
      - { id: sum, gadget: { name: Calculate, input: { expression: "1 + 2" }, target: { slot: { name: sum } } } }
      - { id: notes, gadget: { name: ReadFile, input: { path: notes.txt }, target: { slot: { name: notes } } } }
      - id: tools
        llm: { prompts: [{ user: "{{sum}}, {{notes}}" }], tools: [Calculate] }
      - id: write
        gadget:
          name: WriteFile
          input: { path: out.txt, content: x }
          success: { action: continue }
          fail: { goto: refused }
      - { id: env, api-call: { url: "https://a.test/\${env.KEY}", method: GET, target: { slot: { name: x } },
            success: { action: continue }, fail: { action: continue } } }
      - { id: refused, message: { message: Not written. } }
`,
    "sub.conversation-test.yml": `agent: sub.agent.yml
tests:
  - name: sub-runs
    model:
      plan: [Ana]
      greet: [Hello!]
      tools:
        - { calls: [{ name: Calculate, input: { expression: "6 * 7" } }] }
        - Forty-two.
    turns:
      - expect: [Hello!, Forty-two., Not written.]
        slots: { plan: { contains: Ana }, sum: 3, notes: { contains: of the project } }
  - name: no reply for what runs in a step
    turns: [{}]
`,
  });
  const { stdout, stderr } = await project.run(["test", "sub.conversation-test.yml"]);
  assert.match(stdout, /^ok /, stdout + stderr);
  assert.match(
    stdout,
    /:14:13: error: in turn 1 step "plan" asks its model, and there is no reply\n1 passed, 1 failed\n$/,
  );
  await assert.rejects(project.read("out.txt"));
});

const SEARCH = `version: "0.1"
structure:
  id: search
  slots: [{ name: query, source: { user: { path: question } } }]
  action:
    id: main
    chain:
      - { id: look, retriever: { query: { name: query }, target: { slot: { name: found } } } }
      - { id: tell, message: { message: "{{found}}" } }
`;

Deno.test("a collection and a context are files beside the tests; no index is left behind", async () => {
  await using project = await testProject({
    "orrery.yaml": "conversations: { collection: of_project.collection.yml }\n",
    "of_project.collection.yml": 'version: "0.1"\ndocuments: [{ id: hours, file: hours.md }]\n',
    "hours.md": "We open at ten.\n",
    "tests/own.collection.yml": 'version: "0.1"\ndocuments: [{ id: shops, file: shops.md }]\n',
    "tests/shops.md": "We open a shop in Rome.\n",
    "tests/context.yml": "user: { question: When do we open? }\n",
    "tests/search.agent.yml": SEARCH,
    "tests/search.conversation-test.yml": `agent: search.agent.yml
context: context.yml
tests:
  - name: of the project
    turns: [{ expect: "**Source: hours**\\nWe open at ten." }]
  - name: its own
    collection: own.collection.yml
    turns: [{ expect: { contains: shop in Rome } }]
  - name: none
    collection: none.collection.yml
    turns: [{ error: { contains: none.collection.yml } }]
  - name: no question
    context: { user: {} }
    turns: [{ error: 'step "look": query slot "conversation.query" is empty' }]
`,
  });
  const { code, stdout, stderr } = await project.run(["test", "tests"]);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /\n4 passed, 0 failed\n$/);
  await assert.rejects(Deno.stat(join(project.folder, ".orrery")));
});

Deno.test("whatever is in a file of tests, it is read or told with places", async () => {
  const full = yamlOf(FULL);
  const changes = fc.sample(fc.tuple(fc.constantFrom(...placesIn(full)), fc.jsonValue()), tries(80, 300));
  const files = changes.map(([place, value], index) => {
    const json: Json = JSON.parse(JSON.stringify(value));
    return [
      `${String(index).padStart(3, "0")}.conversation-test.yml`,
      JSON.stringify(replaced(full, place, json)),
    ];
  });
  await using project = await testProject({ "order.agent.yml": AGENT, ...Object.fromEntries(files) });
  const { code, stdout, stderr } = await project.run(["test", "."]);
  assert.deepEqual([code, stdout], [2, ""]);
  const told = stderr.split("\n").filter((line) => /^[^|]*error: /.test(line));
  assert.ok(told.length > 20, stderr);
  for (const line of told) {
    assert.match(line, /^\d+\.conversation-test\.yml:[1-9]\d*:[1-9]\d*: error: ./);
  }
});

const yamlOf = (text: string): Json => parse(text, { version: "1.2" });

type Place = readonly (string | number)[];

/** The ways to all values in a value. */
function placesIn(value: Json): readonly Place[] {
  const entries: readonly (readonly [string | number, Json])[] = isList(value)
    ? value.map((item, index) => [index, item])
    : value !== null && typeof value === "object"
    ? Object.entries(value)
    : [];
  return [[], ...entries.flatMap(([key, item]) => placesIn(item).map((place) => [key, ...place]))];
}

function replaced(value: Json, [key, ...rest]: Place, by: Json): Json {
  if (key === undefined) return by;
  if (isList(value)) return value.map((item, index) => index === key ? replaced(item, rest, by) : item);
  if (value === null || typeof value !== "object") return value;
  return { ...value, [key]: replaced(value[key] ?? null, rest, by) };
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

Deno.test("every case of the specification is a test that passes", async () => {
  const files: Record<string, string> = {};
  for (const each of await conversationCases()) {
    files[each.name] = each.text;
    files[`${each.name.slice(0, 2)}.conversation-test.yml`] = JSON.stringify(testOf(each));
  }
  await using project = await testProject(files);
  const { code, stdout, stderr } = await project.run(["test", "."]);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, new RegExp(`\n${Object.keys(files).length / 2} passed, 0 failed\n$`));
});

/** A case of the specification as a file of tests. */
function testOf(each: ConversationCase): JsonObject {
  const { name, model, http, context, slotsBefore, slotsAfter, sawPrompts, sawMemory, max } = each;
  return {
    agent: name,
    context,
    ...(max !== undefined && { steps: max }),
    http,
    tests: [{
      name: each.sentence,
      model,
      "slots-before": slotsBefore,
      "slots-after": slotsAfter,
      "saw-prompts": seen(sawPrompts),
      "saw-memory": seen(sawMemory),
      turns: turnsOf(each.expect),
    }],
  };
}

/** Its transcript, cut before each message of the person. */
function turnsOf(transcript: readonly string[]): readonly JsonObject[] {
  const turns: { say?: string; expect: string[]; status?: string; error?: string }[] = [{ expect: [] }];
  for (const line of transcript) {
    const [, who, written = ""] = /^(user|bot|\(\w+\)):? ?(.*)$/.exec(line) ?? [];
    const [text, turn] = [written.replaceAll("\\n", "\n"), turns.at(-1)];
    if (who === "user") turns.push({ say: text, expect: [] });
    else if (who === "bot") turn?.expect.push(text);
    else if (turn !== undefined && who === "(error)") Object.assign(turn, { status: "failed", error: text });
    else if (turn !== undefined) turn.status = who === "(hold)" ? "held" : "completed";
  }
  return turns.map((turn) => ({ ...turn }));
}

/** `role: text` as a mapping. */
function seen(messages: JsonObject): JsonObject {
  const mappingOf = (line: Json): Json => {
    const [, role = "", text = ""] = /^(\w+): ([^]*)$/.exec(String(line)) ?? [];
    return { [role]: text };
  };
  return Object.fromEntries(
    Object.entries(messages).map(([step, list]) => [step, Array.isArray(list) ? list.map(mappingOf) : list]),
  );
}

Deno.test("orrery schema conversation-test fits what the reader takes", async () => {
  await using project = await testProject({});
  const { stdout, code } = await project.run(["schema", "conversation-test"]);
  assert.equal(code, 0);
  const schema = JSON.parse(stdout);
  const fits = (value: unknown): boolean => new Validator(schema, "2020-12").validate(value).valid;
  for (const text of [FULL, WRONG]) assert.ok(fits(yamlOf(text)));
  const turns = [{ say: "a" }];
  const wrong = [
    { tests: [] },
    { tests: [{ turns }] },
    { tests: [{ name: "x" }] },
    { tests: [{ name: "x", turns, conversations: [{ turns }] }] },
    { tests: [{ name: "x", turns: [{ status: "done" }] }] },
    { tests: [{ name: "x", turns: [{ expect: { equals: "a", contains: "b" } }] }] },
    { tests: [{ name: "x", turns, http: { "GET /": {}, "GET": {} } }] },
    { tests: [{ name: "x", turns, http: { "GET https://a.test": { status: 99 } } }] },
    { tests: [{ name: "x", turns, model: { a: "text" } }] },
    { tests: [{ name: "x", turns, context: { person: {} } }] },
  ];
  for (const each of wrong) assert.ok(!fits(each), JSON.stringify(each));
});
