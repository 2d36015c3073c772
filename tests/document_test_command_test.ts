// `orrery test` with `*.document-test.yml`: documents with what they are given, what a model says and what is to come of it.
import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import assert from "node:assert/strict";
import { parse } from "yaml";
import { posixTest } from "./_posix_test.ts";
import { testProject } from "./_project.ts";

const PLAN =
  '---\ninputs: [{name: topic}]\n---\n# Q\n\nTell.\n\n@llm\nprompt: Answer in one word.\nuse-header: "# Answer"\n\n' +
  "@return\nblock: answer\n";

const FULL = `document: plan.md
tests:
  - name: answers
    input: { prompt: Be short., values: { topic: heat }, blocks: [notes.md#note] }
    files: { notes.md: "# Note\\nkind\\n" }
    model:
      - text: Blue.
    expect:
      exit: 0
      value: |
        # Answer
        Blue.
      result: { matches: "# Answer\\nBlue\\\\.\\n" }
      blocks:
        answer: Blue.
        topic: { contains: heat }
      messages:
        - - system: { contains: helpful }
          - user: |
              # Note
              kind
          - user: { contains: Be short. }
          - user: { contains: heat }
          - user: { contains: Tell. }
          - user: Answer in one word.
  - name: a provider that fails
    input: { values: { topic: x } }
    model: [{ error: { status: 400, message: no } }]
    expect:
      exit: 1
      error: { contains: "@llm: model call failed" }
      value: null
  - name: what the check finds
    expect: { error: { contains: 'input "topic" needs a value' }, exit: 2 }
`;

Deno.test("a file of tests: input, model, value, blocks, messages, errors; the project is not touched", async () => {
  await using project = await testProject({ "plan.md": PLAN, "plan.document-test.yml": FULL });
  const { code, stdout, stderr } = await project.run(["test", "plan.document-test.yml"]);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /^ok {4}plan\.document-test\.yml: answers {2}\d+ ms\n/);
  assert.match(stdout, /\n3 passed, 0 failed\n$/);
  const names = [...Deno.readDirSync(project.folder)].map(({ name }) => name).sort();
  assert.deepEqual(names, ["plan.document-test.yml", "plan.md"]);
});

Deno.test("what is not as expected is told with its place and a difference; exit code 1", async () => {
  await using project = await testProject({
    "plan.md": "@llm\nprompt: x\n",
    "plan.document-test.yml": `document: plan.md
tests:
  - name: right
    model: [{ text: one }]
    expect: { value: one }
  - name: wrong
    model: [{ text: "one\\ntwo\\nthree" }]
    expect:
      value: |
        one
        zwei
        three
      blocks:
        none: x
        llm-response-block: { contains: four }
      messages: []
  - name: no reply
    expect: { value: x }
  - name: other messages
    model: [{ text: one }]
    expect: { value: one, messages: [[{ user: x }]] }
`,
  });
  const { code, stdout } = await project.run(["test", "plan.document-test.yml", "--quiet"]);
  assert.equal(code, 1);
  assert.equal(
    stdout.replaceAll(/\d+ ms/g, "N ms"),
    `FAIL  plan.document-test.yml: wrong  N ms
  plan.document-test.yml:9:14: error: value is another one
  --- expected
  +++ found
  @@ -1,3 +1,3 @@
   one
  -zwei
  +two
   three
  plan.document-test.yml:14:15: error: there is no block none
  plan.document-test.yml:15:41: error: block llm-response-block does not contain "four": "one\\ntwo\\nthree"
  plan.document-test.yml:16:7: error: the model was asked 1 times, expected 0
FAIL  plan.document-test.yml: no reply  N ms
  plan.document-test.yml:17:5: error: exit is 1, expected 0: plan.md:1:1: error: @llm: model call failed: ${""}` +
      `script/test has no reply: all 0 replies are used. The last message is user: "x"
  plan.document-test.yml:18:22: error: there is no value
FAIL  plan.document-test.yml: other messages  N ms
  plan.document-test.yml:21:38: error: in model call 1 the messages are system, user, expected user
  --- expected
  +++ found
  @@ -1,2 +1,3 @@
  +system: You are a helpful assistant. Answer in Markdown unless asked otherwise.
   user: x
1 passed, 3 failed
`,
  );
  const json = JSON.parse((await project.run(["test", "plan.document-test.yml", "--json"])).stdout);
  assert.deepEqual([json.status, json.passed, json.failed], ["failed", 1, 3]);
  const { failures: [first], ...wrong } = json.tests[1];
  assert.deepEqual({ ...wrong, ms: 0 }, {
    file: "plan.document-test.yml",
    line: 6,
    name: "wrong",
    status: "failed",
    ms: 0,
  });
  assert.deepEqual([first.what, first.line, first.column], ["value", 9, 14]);
  assert.match(first.diff, /^--- expected\n/);
});

Deno.test("a broken file of tests: every mistake with file:line:column, and exit code 2 before anything runs", async () => {
  await using project = await testProject({
    "a.document-test.yml": `documnt: a.md
tests:
  - name: x
    model: [{ txt: a }]
    allow: [net]
    input: { blocks: [notes.md] }
    expect: { value: { equal: x }, exit: 3, error: { matches: "(" } }
  - expect: {}
`,
    "b.document-test.yml": "tests: []\n",
    "c.document-test.yml": "tests: [\n",
  });
  const files = ["a", "b", "c"].map((name) => `${name}.document-test.yml`);
  const { code, stderr, stdout } = await project.run(["test", ...files]);
  assert.deepEqual([code, stdout], [2, ""]);
  const told = stderr.split("\n").filter((line) => /^[abc]\.document/.test(line));
  assert.deepEqual(told.slice(0, -1), [
    'a.document-test.yml:1:1: error: documnt: unknown, expected one of document, files, tests. Did you mean "document"?',
    "a.document-test.yml:3:5: error: Expected a document: the file that is tested",
    'a.document-test.yml:4:15: error: tests/0/model/0/txt: unknown, expected one of text, chunks, object, error, calls, delayMs, when, repeat. Did you mean "text"?',
    'a.document-test.yml:5:13: error: tests/0/allow/0: expected one of "write", "run", found "net"',
    'a.document-test.yml:6:23: error: tests/0/input/blocks/0: expected text matching .#., found "notes.md"',
    'a.document-test.yml:7:24: error: tests/0/expect/value/equal: unknown, expected one of equals, contains, matches. Did you mean "equals"?',
    "a.document-test.yml:7:42: error: tests/0/expect/exit: expected one of 0, 1, 2, found 3",
    'a.document-test.yml:7:63: error: tests/0/expect/error/matches: expected text in the format regex, found "("',
    "a.document-test.yml:8:5: error: tests/1/name: missing, expected string",
    "a.document-test.yml:8:5: error: Expected a document: the file that is tested",
    "b.document-test.yml:1:8: error: tests: expected at least 1 item, found none",
  ]);
  assert.match(told.at(-1) ?? "", /^c\.document-test\.yml:\d+:\d+: error: /);
  const other = await project.run(["test", "a.yml"]);
  assert.equal(other.code, 2);
  assert.match(
    other.stderr,
    /"a\.yml" is no test: tests are files whose names end with \.document-test\.yml/,
  );
  assert.equal((await project.run(["test", "none.document-test.yml"])).code, 2);
});

posixTest("commands are scripted, or run in a copy of the project", async () => {
  await using project = await testProject({
    "docs/a.md": "@shell\nprompt: cat data.txt > copy.txt; cat copy.txt\n\n@import\nfile: copy.txt\n",
    "docs/s.md":
      "@shell\nprompt: pytest\n\n@llm\nprompt: sum\nsave-to-file: out.txt\n\n@import\nfile: out.txt\n",
    "docs/data.txt": "of the project\n",
    "docs/a.document-test.yml": `tests:
  - name: refused
    document: a.md
    expect: { exit: 2, error: { contains: "@shell needs run permission" } }
  - name: real
    document: a.md
    files: { data.txt: "of the test\\n" }
    allow: [run]
    expect: { blocks: { os-shell-tool-response-block: { contains: of the test } } }
  - name: scripted
    document: s.md
    allow: [write]
    commands: [{ when: "^pytest$", output: "2 failed\\n", exit: 1 }]
    model: [{ text: two }]
    expect:
      blocks: { os-shell-tool-response-block: "2 failed\\nCommand exited with non-zero code: 1" }
      result: { contains: "\\ntwo\\n" }
  - name: no command left
    document: s.md
    allow: [write]
    commands: []
    expect: { error: { contains: 'the test has no command left for "pytest"' } }
`,
  });
  const { code, stdout, stderr } = await project.run(["test", "docs/a.document-test.yml"]);
  assert.equal(code, 0, stdout + stderr);
  const names = [...Deno.readDirSync(`${project.folder}/docs`)].map(({ name }) => name).sort();
  assert.deepEqual(names, ["a.document-test.yml", "a.md", "data.txt", "s.md"]);
});

Deno.test("orrery schema document-test fits what the reader takes", async () => {
  await using project = await testProject({});
  const { stdout, code } = await project.run(["schema", "document-test"]);
  assert.equal(code, 0);
  const validator = new Validator(JSON.parse(stdout), "2020-12");
  assert.equal(validator.validate(parse(FULL)).valid, true);
  const wrong = [
    { tests: [] },
    { tests: [{ name: "x" }] },
    { tests: [{ name: "x", expect: { exit: 3 } }] },
    { tests: [{ name: "x", expect: { value: { equals: "a", contains: "b" } } }] },
    { tests: [{ name: "x", expect: {}, input: { blocks: ["a"] } }] },
    { tests: [{ name: "x", expect: {}, model: [{ txt: "a" }] }] },
  ];
  for (const each of wrong) assert.equal(validator.validate(each).valid, false, JSON.stringify(each));
});

Deno.test("a difference gives the other text back when it is applied", async () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 }).map((lines) =>
    `x\n${lines.join("\n").trimEnd()}`.trimEnd()
  );
  const pairs = fc.sample(fc.tuple(text, text), 100);
  const tests = pairs.map(([expected, found], index) => ({
    name: `pair ${index}`,
    model: [{ text: found }],
    expect: { value: expected },
  }));
  await using project = await testProject({
    "a.md": "@llm\nprompt: x\n",
    "a.document-test.yml": JSON.stringify({ document: "a.md", tests }),
  });
  const { stdout } = await project.run(["test", "a.document-test.yml", "--json"]);
  const told: { readonly tests: readonly { readonly failures?: readonly { readonly diff: string }[] }[] } =
    JSON
      .parse(stdout);
  assert.equal(told.tests.length, pairs.length);
  for (const [index, [expected, found]] of pairs.entries()) {
    const diff = told.tests[index]?.failures?.[0]?.diff ?? "";
    if (expected === found) assert.equal(diff, "");
    else {
      assert.equal(applied(expected, diff), found);
      assert.equal(diff.split("\n", 2).join(), "--- expected,+++ found");
    }
  }
});

/** A unified difference, applied. */
function applied(text: string, diff: string): string {
  const old = text.split("\n");
  const out: string[] = [];
  let at = 0;
  for (const line of diff.split("\n").slice(2, -1)) {
    const head = /^@@ -(\d+),\d+ \+(\d+),\d+ @@$/.exec(line);
    if (head !== null) {
      while (at < Number(head[1]) - 1) out.push(old[at++] ?? "");
      assert.equal(out.length + 1, Number(head[2]));
    } else if (line.startsWith("+")) out.push(line.slice(1));
    else {
      assert.equal(old[at++], line.slice(1));
      if (line.startsWith(" ")) out.push(line.slice(1));
    }
  }
  return [...out, ...old.slice(at)].join("\n");
}
