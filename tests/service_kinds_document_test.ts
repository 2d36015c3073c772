// Documents as the service starts them, and goes on with them.
import assert from "node:assert/strict";
import { openJournal, ProblemsError } from "../mod.ts";
import { createSecrets } from "../lib/journal/secrets.ts";
import { parsePolicyFlags } from "../lib/policy/policy_flags.ts";
import { NO_GRANTS } from "../lib/project/trust/grants.ts";
import { continueRun } from "../lib/project/open_run.ts";
import { readyResumed } from "../lib/service/start/resume.ts";
import { ServiceError, type ServiceErrorCode } from "../lib/service/service.ts";
import { type DocumentWish, startDocument } from "../lib/service/start/start.ts";
import { testProject } from "./_project.ts";
import { runKept, startPlace } from "./_start_place.ts";

const FILES = {
  "orrery.yaml": "models: { default: script/echo }\nlimits: { tokens: 1000 }\n",
  "plan.md": `---
inputs: [{ name: topic }]
---
# Plan

@llm
prompt: {block: input-parameters/topic}
use-header: "# Answer"

@return
block: answer
`,
  "plain.md": "# A\n\nText.\n\n@return\nblock: a\n",
  "slow.md":
    '---\nmodel: script/slow.yaml\n---\n# A\n\n@llm\nprompt: Go\nuse-header: "# Said"\n\n@return\nblock: said\n',
  "slow.yaml": '- chunks: ["one ", "two ", "three"]\n  delayMs: 300\n  repeat: true\n',
  "wrong.md": "# A\n\n@llm\nprmpt: x\n",
  "notes.md": "# Summary\n\nShort.\n",
};

const wish = (file: string, more: Partial<DocumentWish> = {}): DocumentWish => ({
  kind: "file",
  file,
  ...more,
});

const LIMIT_MS = 20_000;

Deno.test("a document runs with its input, is kept as the command line keeps it, and writes nothing unasked", async () => {
  await using project = await testProject(FILES);
  await using place = await startPlace(project.folder);
  const ready = await startDocument(wish("plain.md"), place);
  assert.deepEqual([ready.start.kind, ready.start.file], ["document", "plain.md"]);
  const end = await runKept(ready, { place });
  assert.deepEqual([end.status, end.value], ["done", "# A\n\nText."]);
  await assert.rejects(Deno.stat(`${project.folder}/plain.ctx`));
  await runKept(await startDocument(wish("plain.md", { out: "beside" }), place), { place });
  assert.match(await project.read("plain.ctx"), /Text\./);
  const told = await project.run(["runs", "--all"]);
  assert.match(told.stdout, new RegExp(`${end.id} +done +document +plain\\.md`));
});

async function refusal(work: Promise<unknown>): Promise<{ code: ServiceErrorCode; message: string }> {
  const error: unknown = await work.then(() => undefined, (thrown: unknown) => thrown);
  assert.ok(error instanceof ServiceError, String(error));
  return { code: error.code, message: error.message };
}

Deno.test("files that are not of the project are refused in the same words, there or not", async () => {
  await using project = await testProject({ ...FILES, ".orrery/x.md": "# X\n", ".git/x.md": "# X\n" });
  await Deno.writeTextFile(`${project.folder}/../out.md`, "# Out\n");
  await Deno.symlink(`${project.folder}/../out.md`, `${project.folder}/link.md`);
  await using place = await startPlace(project.folder);
  const names = [
    ...["../out.md", "/etc/passwd", "link.md", ".orrery/x.md", ".GIT/x.md", "a/../plain.md", "./plain.md"],
    ...["a//b.md", "a\\b.md", "C:/x.md", "a\0.md", "", ".orrery/not_there.md", "../not_there.md"],
  ];
  for (const name of names) {
    const { code, message } = await refusal(startDocument(wish(name), place));
    assert.equal(code, "outside", name);
    assert.match(message, /^file: ".*" is not a file of the project: name one below its root/s);
  }
  const { code } = await refusal(startDocument(wish("gone.md"), place));
  assert.equal(code, "not-found");
});

Deno.test("what is wrong with a wish names its field, and what is wrong with a document its line", async () => {
  await using project = await testProject(FILES);
  await using place = await startPlace(project.folder);
  const block = await refusal(startDocument(wish("plain.md", { blocks: ["notes.md"] }), place));
  assert.deepEqual([block.code, block.message.split(":")[0]], ["invalid", "blocks"]);
  const out = await refusal(startDocument(wish("plain.md", { out: { file: "result.md" } }), place));
  assert.equal(out.code, "refused");
  assert.match(out.message, /^out\.file: /);
  const escape = await refusal(startDocument(wish("plain.md", { out: { file: "../x.md" } }), place));
  assert.equal(escape.code, "outside");
  const wrong: unknown = await startDocument(wish("wrong.md"), place).catch((error: unknown) => error);
  assert.ok(wrong instanceof ProblemsError);
  assert.deepEqual(wrong.problems.map(({ place: where }) => where).slice(0, 1), ["wrong.md:4:1"]);
  const needs: unknown = await startDocument(wish("plan.md"), place).catch((error: unknown) => error);
  assert.ok(needs instanceof ProblemsError);
  assert.match(needs.message, /input "topic" needs a value$/m); // no flag of the command line
});

Deno.test("a result goes to a file that the server may write", async () => {
  await using project = await testProject(FILES);
  const settings = parsePolicyFlags([{ name: "allow-write", value: "out" }]);
  await using place = await startPlace(project.folder, { grants: { ...NO_GRANTS, settings } });
  const ready = await startDocument(
    wish("plain.md", { out: { file: "out/result.md" }, blocks: ["notes.md#summary"] }),
    place,
  );
  for await (const _event of ready.events({}));
  assert.match(await project.read("out/result.md"), /Text\./);
  assert.equal(
    (await refusal(startDocument(wish("plain.md", { out: { file: "x.md" } }), place))).code,
    "refused",
  );
});

Deno.test("a wish never has more than the settings allow", async () => {
  await using project = await testProject(FILES);
  await using place = await startPlace(project.folder);
  const budgetOf = async (budget: DocumentWish["budget"]) => {
    const { start } = await startDocument(wish("plain.md", { budget: budget ?? {} }), place);
    return typeof start.input === "object" && start.input !== null && "budget" in start.input
      ? start.input.budget
      : undefined;
  };
  assert.deepEqual(await budgetOf({ tokens: 5000, cost: 1 }), { tokens: 1000, cost: 1 });
  assert.deepEqual(await budgetOf({ tokens: 10 }), { tokens: 10 });
});

Deno.test("a document that was stopped goes on: here, and with orrery resume", async () => {
  await using project = await testProject(FILES);
  for (const by of ["service", "command line"]) {
    const stop = new AbortController();
    await using place = await startPlace(project.folder, {
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(LIMIT_MS)]),
    });
    const stopped = await runKept(await startDocument(wish("slow.md"), place), {
      place,
      onEvent: (event) => event.type === "text-delta" && stop.abort(new Error("enough")),
    });
    assert.deepEqual([stopped.status, stopped.reason], ["stopped", "interrupted"]);
    if (by === "command line") {
      const { code, stdout, stderr } = await project.run(["resume", stopped.id]);
      assert.deepEqual([code, stdout], [0, "# Said\none two three\n"], stderr);
      continue;
    }
    await using again = await startPlace(project.folder, { signal: AbortSignal.timeout(LIMIT_MS) });
    const secrets = createSecrets();
    const journal = openJournal(project.folder, { secrets });
    const run = journal.open(stopped.id);
    const ready = await readyResumed({ run, secrets }, again);
    const kept = continueRun(run, { journal, secrets });
    const values = [];
    for await (const event of ready.events(kept.options)) {
      if (event.type === "run-end") values.push(event.value);
    }
    assert.equal(await kept.close("done"), "done");
    assert.deepEqual(values, ["# Said\none two three"]);
  }
});
