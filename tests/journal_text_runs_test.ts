// Earlier versions kept a run that was over soon in a file beside the database, `orrery.db-run-ID`: it is taken in by whoever opens that.
// `spec/journal_text_runs.json` has two that such a version has written: one that ended, and one whose process died.

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { journalAt, withDatabaseFile } from "./_journal_file.ts";
import { testProject } from "./_project.ts";
import TEXT_RUNS from "./spec/journal_text_runs.json" with { type: "json" };

const { ended, dead } = TEXT_RUNS;
const MODEL = { key: "model", kind: "model", name: "script/x", input: null, idempotent: true } as const;

function withTexts(
  texts: Readonly<Record<string, unknown>>,
  test: (path: string) => void | Promise<void>,
): Promise<void> {
  return withDatabaseFile((path) => {
    for (const [id, rows] of Object.entries(texts)) write(path, id, JSON.stringify(rows));
    return test(path);
  });
}

function write(path: string, id: string, text: string): void {
  Deno.writeTextFileSync(`${path}-run-${id}`, text);
}

function left(path: string): readonly string[] {
  const names = Array.from(Deno.readDirSync(join(path, "..")), ({ name }) => name);
  return names.filter((name) => name.includes("-run-")).sort();
}

/** Who owns the runs of this process. */
async function thisOwner(): Promise<Readonly<Record<string, unknown>>> {
  let owner = {};
  await withDatabaseFile((path) => {
    using journal = journalAt(path);
    journal.create({ kind: "calls", input: null });
    using database = new DatabaseSync(path);
    const columns = "owner_host AS host, owner_pid AS pid, owner_started AS startedAt";
    owner = { ...database.prepare(`SELECT ${columns} FROM runs`).get() };
  });
  return owner;
}

Deno.test("text runs: one that ended is there as it was kept", () =>
  withTexts({ [ended.row.id]: ended }, (path) => {
    using opened = journalAt(path);
    assert.deepEqual(left(path), []);
    const { summary, run, steps, events } = opened.read(ended.row.id);
    assert.deepEqual([summary.status, summary.usage], ["failed", { input: 3, output: 4 }]);
    assert.deepEqual(run, {
      id: ended.row.id,
      kind: "calls",
      file: "a.calls",
      files: [{ path: "a.calls", text: "text ä" }, { path: "b", text: "" }],
      input: { n: [1, null] },
    });
    assert.deepEqual(steps.map(({ key, outcome }) => [key, outcome]), [
      ["call:a", { ok: "A" }],
      ["call:b", { error: { message: "no", code: "failed" } }],
    ]);
    assert.deepEqual(events.map(({ seq, type }) => [seq, type]), [[1, "run-start"], [2, "warning"]]);
  }));

for (const version of [2, 1]) {
  Deno.test(`text runs: one of version ${version} whose process died is gone on with, with what its model had said`, async () => {
    const steps = dead.steps.map((row) => row.key === "model" ? { ...row, prefix: '{"text":"one"}' } : row);
    const { pieces: _pieces, ...rows } = dead;
    const text = version === 2 ? dead : { ...rows, version, steps };
    const lease = { ...dead.row.lease, ...await thisOwner(), seenAt: Date.now() };
    await withTexts({ [dead.row.id]: text }, (path) => {
      write(path, dead.row.id, JSON.stringify({ ...text, row: { ...dead.row, lease } }));
      {
        using living = journalAt(path);
        assert.deepEqual(living.list(), [], "it is left to its process");
      }
      write(path, dead.row.id, JSON.stringify(text));
      using opened = journalAt(path);
      assert.deepEqual(left(path), []);
      const run = opened.open(dead.row.id);
      assert.equal(run.resumedFrom, "running");
      const prefix = [{ text: "one" }, { text: "two" }].slice(0, version);
      assert.deepEqual(run.begin(MODEL), { do: "perform", attempt: 2, prefix });
      const call = { kind: "gadget", name: "Echo", idempotent: false } as const;
      assert.equal(run.begin({ ...call, key: "call:a", input: { key: "call:a" } }).do, "answer");
      assert.equal(run.begin({ ...call, key: "call:b", input: { key: "call:b" } }).do, "unverified");
      run.release("done");
    });
  });
}

Deno.test("text runs: whatever dies when, a run is there once; what nobody of this house wrote stays where it is", () =>
  withTexts({ x: {}, y: { version: 3 }, "z.tmp": ended }, (path) => {
    write(path, "w", "{");
    // Taken in by a process that died before it could take the file away; two at once do the same.
    for (let times = 0; times < 3; times++) {
      using opened = journalAt(path);
      write(path, ended.row.id, JSON.stringify(ended));
      using other = journalAt(path);
      if (times > 0) assert.equal(opened.list().length, 1);
      assert.equal(other.list().length, 1);
      assert.deepEqual(other.read(ended.row.id).events.map(({ seq }) => seq), [1, 2]);
    }
    assert.deepEqual(left(path), [
      "orrery.db-run-w",
      "orrery.db-run-x",
      "orrery.db-run-y",
      "orrery.db-run-z.tmp",
    ]);
  }));

Deno.test("text runs: orrery lists, shows and forks one like any other run", async () => {
  await using project = await testProject();
  await project.write("a.calls", "!!!GADGET_START:Calculate:c\n!!!ARG:expression\n6*7\n!!!GADGET_END\n");
  const { code, stdout, stderr } = await project.run(["run", "a.calls"]);
  assert.deepEqual([code, stdout.trim()], [0, "42"], stderr);
  const { id } = ended.row;
  await project.write(`.orrery/orrery.db-run-${id}`, JSON.stringify(ended));
  const listed = await project.run(["runs", "--json"]);
  const statuses = JSON.parse(listed.stdout).map(({ status }: { status: string }) => status);
  assert.deepEqual(statuses, ["done", "failed"]);
  assert.match((await project.run(["trace", id])).stdout, /a\.calls/);
  const forked = await project.run(["fork", id, "--from", "call:b"]);
  assert.equal(forked.code, 0, forked.stderr);
  assert.equal((await project.run(["rm", id])).code, 0);
});
