// A run that is over soon is kept in a file beside the database, and is taken in by whoever opens that next.

import assert from "node:assert/strict";
import { join } from "node:path";
import { JournalError, type RunJournal, type RunStart, type StepStart } from "../lib/core/journal.ts";
import { runFiles } from "../lib/host/journal_files.ts";
import { HEADER_BYTES, isJournalHeader, lateStore } from "../lib/journal/late_store.ts";
import { openStore } from "../lib/journal/open_store.ts";
import { singleRun } from "../lib/journal/new_run.ts";
import { sqliteJournal } from "../lib/journal/sqlite_journal.ts";
import { testProject } from "./_project.ts";

const START: RunStart = {
  kind: "calls",
  file: "a.calls",
  files: [{ path: "a.calls", text: "text ä" }, { path: "b", text: "" }],
  input: { n: [1, null] },
};
const OWNER = { host: "here", pid: 1, startedAt: "then" };
const OTHER = { host: "here", pid: 2, startedAt: "then" };

function step(key: string, idempotent = true): StepStart {
  return { key, kind: "gadget", name: "Echo", input: { key }, idempotent };
}

async function inFolder(test: (path: string) => void | Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(join(folder, "orrery.db"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function namesBeside(path: string): readonly string[] {
  return Array.from(Deno.readDirSync(join(path, "..")), ({ name }) => name).filter((name) =>
    name !== "orrery.db"
  );
}

function journal(path: string, options: { owner?: typeof OWNER; isAlive?: () => boolean } = {}) {
  return sqliteJournal(path, { owner: OTHER, isAlive: () => false, texts: runFiles(path), ...options });
}

/** What a run of two calls does to its journal. */
function work(run: RunJournal): void {
  run.tell({ type: "run-start", kind: "calls", seq: 1, at: 0, run: run.id });
  run.begin(step("call:a"));
  run.end("call:a", { ok: "A" });
  run.begin(step("call:b"));
  run.tell({ type: "warning", text: "w", seq: 2, at: 1, run: run.id });
  run.end("call:b", { error: { message: "no", code: "failed" } });
}

Deno.test("late: a run that was over before there was a database is kept as any other", () =>
  inFolder((path) => {
    const texts = runFiles(path);
    const clock = { now: () => 5, sleep: () => Promise.reject(new Error("waits")) };
    const fixed = { owner: OWNER, now: () => 1000, clock };
    const late = singleRun(START, { ...fixed, store: lateStore(texts) });
    work(late.run);
    assert.deepEqual(texts.list(), [], "nothing is written before the first commit");
    late.run.release("failed", { input: 3, output: 4 });
    assert.equal(late.status, "failed");
    late[Symbol.dispose]();
    assert.deepEqual(namesBeside(path), [`orrery.db-run-${late.run.id}`]);
    if (Deno.build.os !== "windows") {
      assert.equal((Deno.statSync(`${path}-run-${late.run.id}`).mode ?? 0) & 0o777, 0o600);
    }
    using opened = journal(path);
    assert.deepEqual(opened.list().map(({ id }) => id), [late.run.id]);
    assert.deepEqual(texts.list(), []);
    const usual = singleRun(START, { ...fixed, store: openStore(`${path}2`, { owner: OWNER }) });
    work(usual.run);
    usual.run.release("failed", { input: 3, output: 4 });
    usual[Symbol.dispose]();
    using compared = journal(`${path}2`);
    const known = JSON.stringify(compared.read(usual.run.id)).replaceAll(usual.run.id, late.run.id);
    assert.deepEqual(opened.read(late.run.id), JSON.parse(known));
  }));

Deno.test("late: a run that goes on moves to the database, and nothing is told twice", () =>
  inFolder((path) => {
    const texts = runFiles(path);
    const store = lateStore(texts);
    let isKept = false;
    const late = singleRun(START, { owner: OWNER, store, onKept: () => void (isKept = true) });
    const { run } = late;
    run.tell({ type: "run-start", kind: "calls", seq: 1, at: 0, run: run.id });
    run.begin(step("call:a", false)); // is a commit
    assert.ok(isKept);
    run.tell({ type: "warning", text: "1", seq: 2, at: 1, run: run.id });
    run.finish("call:a", { ok: 1 }); // another one before there is a database
    assert.equal(texts.list().length, 1);
    store.moveTo(openStore(path, { owner: OWNER, texts }));
    assert.deepEqual(texts.list(), []);
    run.tell({ type: "warning", text: "2", seq: 3, at: 2, run: run.id });
    run.begin(step("call:b", false));
    {
      using other = journal(path, { isAlive: () => true });
      assert.deepEqual(other.list().map(({ id, owned }) => [id, owned]), [[run.id, true]]);
    }
    late[Symbol.dispose]();
    assert.equal(late.status, "stopped");
    using other = journal(path);
    const { steps, events, summary } = other.read(run.id);
    assert.deepEqual(steps.map(({ key, status }) => [key, status]), [["call:a", "finished"], [
      "call:b",
      "started",
    ]]);
    assert.deepEqual(events.map(({ seq }) => seq), [1, 2, 3]);
    assert.equal(summary.status, "stopped");
  }));

Deno.test("late: a process that died is found and its run gone on with; one that lives is left alone", () =>
  inFolder((path) => {
    const texts = runFiles(path);
    const { run } = singleRun(START, { owner: OWNER, store: lateStore(texts) });
    run.begin(step("call:a"));
    run.finish("call:a", { ok: 1 });
    {
      using living = journal(path, { isAlive: () => true });
      assert.deepEqual(living.list(), []);
      assert.equal(texts.list().length, 1);
    }
    using opened = journal(path);
    assert.deepEqual(texts.list(), []);
    const again = opened.open(run.id);
    assert.equal(again.resumedFrom, "running");
    assert.deepEqual(again.run, { ...START, id: run.id });
    const { do: what } = again.begin(step("call:a"));
    assert.equal(what, "answer");
    again.release("done");
  }));

Deno.test("late: whatever dies when, a run is there once", () =>
  inFolder((path) => {
    const texts = runFiles(path);
    const late = singleRun(START, { owner: OWNER, store: lateStore(texts) });
    work(late.run);
    late.run.release("done");
    const text = texts.list()[0]?.text ?? "";
    // Taken in by a process that died before it could take the file away; two at once do the same.
    for (let times = 0; times < 3; times++) {
      using opened = journal(path);
      texts.write(late.run.id, text);
      using other = journal(path);
      assert.deepEqual([opened, other].map((each) => each.list().length), [1, 1]);
      assert.deepEqual(other.read(late.run.id).events.map(({ seq }) => seq), [1, 2]);
      assert.deepEqual(texts.list(), []);
    }
    // What nobody of this house wrote is left where it is.
    texts.write("x", "{");
    texts.write("y", JSON.stringify({ version: 3 }));
    // What was being written when its process died is nothing yet.
    Deno.writeTextFileSync(`${path}-run-z.tmp`, text);
    Deno.writeTextFileSync(`${path}-run-old.tmp`, text);
    Deno.utimeSync(`${path}-run-old.tmp`, 1, 1);
    using opened = journal(path);
    assert.equal(opened.list().length, 1);
    assert.deepEqual(namesBeside(path).filter((name) => name.includes("-run-")).sort(), [
      "orrery.db-run-x",
      "orrery.db-run-y",
      "orrery.db-run-z.tmp",
    ]);
  }));

Deno.test("late: a commit that cannot be written changes nothing, and can be made again", () => {
  const written: string[] = [];
  let isFull = true;
  const store = lateStore({
    write(_id, text) {
      if (isFull) throw new JournalError("full");
      written.push(text);
    },
    remove: () => {},
  });
  const { run } = singleRun(START, { store });
  work(run);
  for (let times = 0; times < 2; times++) assert.throws(() => run.commit(), /full/);
  assert.equal(store.run(run.id), undefined);
  isFull = false;
  run.commit();
  isFull = true;
  run.tell({ type: "warning", text: "2", seq: 3, at: 2, run: run.id });
  assert.throws(() => run.commit(), /full/);
  isFull = false;
  run.release("done");
  const { events, steps } = JSON.parse(written.at(-1) ?? "");
  assert.deepEqual(
    events.flatMap((list: string) => JSON.parse(list)).map(({ seq }: { seq: number }) => seq),
    [
      1,
      2,
      3,
    ],
  );
  assert.equal(steps.length, 2);
});

Deno.test("late: only a journal of this version has one", () =>
  inFolder(async (path) => {
    const looks = () => isJournalHeader(runFiles(path).header(HEADER_BYTES));
    assert.equal(looks(), false, "there is none");
    await Deno.writeTextFile(path, "x".repeat(200));
    assert.equal(looks(), false);
    await Deno.remove(path);
    journal(path)[Symbol.dispose]();
    assert.equal(looks(), true);
    const bytes = await Deno.readFile(path);
    bytes[63] = 4;
    await Deno.writeFile(path, bytes);
    assert.equal(looks(), false, "a newer one");
  }));

Deno.test("late: orrery lists, shows and forks a short run like any other", async () => {
  await using project = await testProject();
  await project.write("a.calls", "!!!GADGET_START:Calculate:c\n!!!ARG:expression\n6*7\n!!!GADGET_END\n");
  for (let n = 0; n < 3; n++) {
    const { code, stdout, stderr } = await project.run(["run", "a.calls"]);
    assert.deepEqual([code, stdout.trim()], [0, "42"], stderr);
  }
  const id = await project.newest();
  const { stdout } = await project.run(["runs", "--json"]);
  assert.deepEqual(JSON.parse(stdout).map(({ status }: { status: string }) => status), [
    "done",
    "done",
    "done",
  ]);
  assert.match((await project.run(["trace", id])).stdout, /Calculate/);
  const forked = await project.run(["fork", id, "--from", "call:c"]);
  assert.equal(forked.code, 0, forked.stderr);
  assert.equal((await project.run(["rm", id])).code, 0);
});
