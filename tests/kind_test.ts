import assert from "node:assert/strict";
import { testProject } from "./_project.ts";
import { runsInside } from "./_run.ts";
import { served } from "./_served_project.ts";
import { toy } from "./_toy_kind.ts";
import type { Kind } from "../lib/service/kinds/kind.ts";

/** What few kinds need. */
const drawnToy: Kind = {
  ...toy,
  graph: () =>
    Promise.resolve({
      graph({ text }) {
        const nodes = text.trim().split("\n").map((id) => ({ id, gadgetName: "", state: "ok" as const }));
        const edges = nodes.slice(1).map((_, from) => ({ from, to: from + 1, isCyclic: false }));
        return Promise.resolve({ graph: { nodes, edges }, problems: [] });
      },
    }),
  list: () =>
    Promise.resolve({
      async list({ root }) {
        const names = (await Array.fromAsync(Deno.readDir(root))).map(({ name }) => name).sort();
        const files = names.filter((name) => name.endsWith(".toy")).map((file) => ({ file }));
        return { files, head: ["FILE"], rows: files.map(({ file }) => [file]), notes: "" };
      },
    }),
  test: () => ({
    schema: () => ({ type: "array" }),
    read({ text, file }) {
      const tests = text.trim().split("\n").map((line, index) => {
        const span = { file, line: index + 1, column: 3 };
        const failures = /wrong/.test(line) ? [{ what: "line", span, message: "is wrong" }] : [];
        return { name: line.slice(2), span, run: () => Promise.resolve(failures) };
      });
      return Promise.resolve(tests);
    },
  }),
};

const kinds = [drawnToy];
const FILES = { "a.toy": "say one\nread two.txt\n", "broken.toy": "say one\nsing two\n" };

Deno.test("a kind of one file runs, goes on, is forked, replayed, checked, drawn, shown and tested by the command line", async () => {
  if (!runsInside()) return console.log("not run here: a program of its own has no kinds but its own");
  await using project = await testProject(FILES);
  const orrery = (...args: string[]) => project.run(args, { kinds });

  const failed = await orrery("run", "a.toy");
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /line 2: cannot read two\.txt/);
  assert.match(failed.stderr, /stopped; to go on: orrery resume (\S+)/);

  await project.write("two.txt", "two");
  const id = await project.newest();
  const resumed = await orrery("resume", id);
  assert.deepEqual([resumed.code, resumed.stdout], [0, "onetwo\n"]);
  const { steps, summary } = JSON.parse((await orrery("trace", id, "--json")).stdout);
  assert.equal(summary.kind, "toy");
  assert.deepEqual(steps.map(({ key, attempt }: { key: string; attempt: number }) => [key, attempt]), [
    ["line[1]", 1],
    ["line[2]", 2],
  ]);

  const forked = await orrery("fork", id, "--from", "line[2]");
  assert.deepEqual([forked.code, (await orrery("resume", forked.stdout.trim())).stdout], [0, "onetwo\n"]);
  assert.match((await orrery("fork", id, "--turn", "1")).stderr, /--turn is for conversations; .*\(toy\)/);

  assert.equal((await orrery("run", "a.toy", "--record", "a.jsonl")).stdout, "onetwo\n");
  await Deno.remove(`${project.folder}/two.txt`);
  const replayed = await orrery("run", "--replay", "a.jsonl");
  assert.deepEqual([replayed.code, replayed.stdout], [0, "onetwo\n"]);
  await project.write("a.toy", "say other\n");
  assert.match((await orrery("run", "a.toy", "--replay", "a.jsonl")).stderr, /is not what was recorded/);

  await project.write("a.toy", FILES["a.toy"]);
  const drawn = await orrery("graph", "a.toy", "--format", "mermaid");
  assert.deepEqual(drawn.stdout.match(/say one|read two\.txt|-->/g), ["say one", "read two.txt", "-->"]);

  assert.equal((await orrery("show", "toy", "a.toy")).stdout, FILES["a.toy"]);
  assert.deepEqual(JSON.parse((await orrery("show", "toy", "a.toy", "--json")).stdout), { lines: 2 });

  assert.equal((await orrery("list", "toys")).stdout, "FILE\na.toy\nbroken.toy\n");

  await project.write("all.toy-test.yml", "- right\n- wrong\n");
  for (const word of ["all.toy-test.yml", "."]) {
    const tested = await orrery("test", word);
    assert.deepEqual([tested.code, tested.stdout.replace(/\d+ ms/g, "1 ms")], [
      1,
      "ok    all.toy-test.yml: right  1 ms\nFAIL  all.toy-test.yml: wrong  1 ms\n" +
      "  all.toy-test.yml:2:3: error: is wrong\n1 passed, 1 failed\n",
    ]);
  }
  assert.equal((await orrery("check", "all.toy-test.yml")).stderr, "1 file, 0 errors, 0 warnings\n");
  await Deno.remove(`${project.folder}/all.toy-test.yml`);
  const none = await orrery("test", "a.toy");
  assert.match(none.stderr, /end with \.document-test\.yml or \.conversation-test\.yml or \.toy-test\.yml/);

  const problem = "broken.toy:2:1: error: expected say or read, found sing two\n";
  const checked = await orrery("check", "broken.toy");
  assert.deepEqual([checked.code, checked.stderr], [2, `${problem}1 file, 1 error, 0 warnings\n`]);
  assert.deepEqual((await orrery("check")).stderr, `${problem}2 files, 1 error, 0 warnings\n`);
});

Deno.test("the same kind over HTTP", async () => {
  if (!runsInside()) return console.log("not run here: a program of its own has no kinds but its own");
  await using project = await testProject(FILES);
  await using server = await served(project, [], { kinds });
  const ended = async (id: unknown) => {
    for (;;) {
      const { body } = await server.json(`/v1/runs/${id}`);
      if (body.status !== "running") return body;
    }
  };
  const begun = await server.json("/v1/runs", { body: { file: "a.toy" } });
  assert.equal(begun.status, 202);
  const { id } = begun.body;
  const failed = await ended(id);
  assert.deepEqual([failed.kind, failed.status, failed.error], [
    "toy",
    "stopped",
    "line 2: cannot read two.txt",
  ]);
  await project.write("two.txt", "two");
  assert.equal((await server.json(`/v1/runs/${id}/resume`, { body: {} })).status, 202);
  assert.equal((await ended(id)).value, "onetwo");
  const code = "E900";
  const { body: { problems } } = await server.json("/v1/check", { body: { files: ["broken.toy"] } });
  const problem = { code, severity: "error", message: "expected say or read, found sing two", column: 1 };
  assert.deepEqual(problems, [{ ...problem, file: "broken.toy", line: 2 }]);
  const posted = await server.json("/v1/check", { body: { name: "new.toy", text: "sing two" } });
  assert.deepEqual(posted.body.problems, [{ ...problem, file: "new.toy", line: 1 }]);
  const other = await server.json("/v1/runs", { body: { file: "a.toys" } });
  assert.match(
    String(other.body.detail),
    /expected a document \(\.md\), a call file \(\.calls\) or a toy \(\.toy\)/,
  );
});
