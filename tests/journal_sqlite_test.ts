import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StepStart } from "../mod.ts";
import { journalChild, linesOf } from "./_journal_child.ts";
import { journalAt, oneSecret, withDatabaseFile } from "./_journal_file.ts";
import { killedWhileCommitting } from "./_killed_while_committing.ts";

async function firstLine({ stdout }: Deno.ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  return text.trim();
}

function step(key: string, options: Partial<StepStart> = {}): StepStart {
  return { key, kind: "gadget", name: "X", input: null, idempotent: true, ...options };
}

/** The runs of this process are those of one that has died. */
function ownedByTheDead(path: string): void {
  using database = new DatabaseSync(path);
  database.exec(
    "UPDATE runs SET owner_pid = 4194300, owner_started = 'long ago' WHERE owner_pid IS NOT NULL",
  );
}

function refused(path: string, message: string | RegExp): void {
  assert.throws(() => journalAt(path), { name: "JournalError", message });
}

Deno.test("a file that is no journal is refused, and left as it is", async () => {
  await withDatabaseFile(async (path) => {
    await Deno.writeTextFile(path, "this is a letter, and it is long enough to be looked at");
    refused(
      path,
      `Cannot open the journal "${path}": it is not an SQLite database; move it away to begin a new journal`,
    );
    assert.match(await Deno.readTextFile(path), /^this is a letter/);
  });
  await withDatabaseFile((path) => {
    const database = new DatabaseSync(path);
    database.exec("CREATE TABLE runs (a)");
    database.close();
    refused(
      path,
      `"${path}" is a database of another program, not a journal: move it away to begin a new journal`,
    );
  });
  await withDatabaseFile(async (path) => {
    if (Deno.build.os === "windows" || Deno.uid() === 0) {
      return console.log("not run here: whoever runs the tests may write everywhere");
    }
    await Deno.chmod(dirname(path), 0o500);
    refused(
      path,
      `Cannot open the journal "${path}": it cannot be opened; its folder has to be there, and both have to be yours to write`,
    );
    await Deno.chmod(dirname(path), 0o700);
  });
});

Deno.test("a journal of a newer version is refused", () =>
  withDatabaseFile((path) => {
    journalAt(path)[Symbol.dispose]();
    const database = new DatabaseSync(path);
    database.exec("PRAGMA user_version = 7");
    database.close();
    refused(
      path,
      `The journal "${path}" is of version 7, and this Orrery knows versions up to 3: use the newer Orrery, or move the file away to begin a new journal`,
    );
  }));

Deno.test("a value that no journal has written is named", () =>
  withDatabaseFile((path) => {
    using journal = journalAt(path);
    const { id } = journal.create({ kind: "calls", input: null });
    const database = new DatabaseSync(path);
    database.exec("UPDATE runs SET status = 'asleep'");
    database.close();
    assert.throws(() => journal.read(id), {
      name: "JournalError",
      message: `The journal is damaged: its column "status" holds "asleep"; move it away to begin a new one`,
    });
  }));

Deno.test("the settings of the file are what makes a commit last", () =>
  withDatabaseFile((path) => {
    using _journal = journalAt(path);
    const database = new DatabaseSync(path);
    const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    assert.equal(pragma("journal_mode"), "wal");
    assert.equal(pragma("auto_vacuum"), 2);
    assert.equal(pragma("application_id"), 0x4f727279);
    database.close();
  }));

Deno.test("a step that is idempotent costs one commit, another two", () =>
  withDatabaseFile((path) => {
    using journal = journalAt(path);
    const run = journal.create({ kind: "calls", input: null });
    const watcher = new DatabaseSync(path);
    const version = watcher.prepare("PRAGMA data_version");
    let last = Number(version.get()?.data_version);
    const commits = (work: () => void): boolean => {
      work();
      const now = Number(version.get()?.data_version);
      const isNew = now !== last;
      last = now;
      return isNew;
    };
    assert.equal(commits(() => run.begin(step("a"))), false);
    assert.equal(commits(() => run.tell({ type: "warning", text: "x", seq: 1, at: 1, run: run.id })), false);
    assert.equal(commits(() => run.prefix("a", "x")), false);
    assert.equal(commits(() => run.file({ path: "-", text: "x" })), false);
    assert.equal(commits(() => run.finish("a", { ok: 1 })), true);
    assert.equal(commits(() => run.begin(step("a"))), false);
    assert.equal(commits(() => run.begin(step("b", { idempotent: false }))), true);
    assert.equal(commits(() => run.finish("b", { ok: 1 })), true);
    watcher.close();
  }));

Deno.test("what could not be committed is committed with what comes next", () =>
  withDatabaseFile((path) => {
    using journal = journalAt(path);
    const run = journal.create({ kind: "calls", input: null });
    run.begin(step("a"));
    const hostile = new DatabaseSync(path);
    hostile.exec("CREATE TRIGGER no BEFORE INSERT ON steps BEGIN SELECT raise(ABORT, 'not now'); END");
    assert.throws(() => run.finish("a", { ok: 1 }), {
      name: "JournalError",
      message: `Cannot write the journal "${path}": not now`,
    });
    assert.throws(() => run.begin(step("b", { idempotent: false })), { name: "JournalError" });
    assert.equal(journal.read(run.id).steps.length, 0);
    hostile.exec("DROP TRIGGER no");
    hostile.close();
    run.release("stopped");
    const { summary, steps } = journal.read(run.id);
    assert.deepEqual(steps.map(({ key, outcome }) => [key, outcome]), [["a", { ok: 1 }]]);
    assert.equal(summary.steps, 1, "a step whose start could not be kept has not begun");
  }));

Deno.test("a run that is removed leaves the file as small as it was, and nothing of it in it", () =>
  withDatabaseFile(async (path) => {
    using journal = journalAt(path);
    const kept = journal.create({
      kind: "calls",
      input: "kept",
      files: [{ path: "a", text: "shared text" }],
    });
    kept.release("done");
    journal.remove(fillRun("small"));
    const before = (await Deno.stat(path)).size;
    const id = fillRun("marker-of-the-removed ".repeat(200));
    journal.remove(id);
    assert.equal((await Deno.stat(path)).size, before);
    assert.equal((await Deno.stat(`${path}-wal`)).size, 0);
    assert.ok(!(await Deno.readTextFile(path)).includes("marker-of-the-removed"));
    assert.equal(journal.read(kept.id).run.files?.[0]?.text, "shared text");

    function fillRun(text: string): string {
      const run = journal.create({
        kind: "calls",
        input: text,
        files: [{ path: "a", text: "shared text" }, { path: "b", text }],
      });
      for (let n = 0; n < 100; n++) {
        run.begin(step(`call:${n}`));
        run.finish(`call:${n}`, { ok: text });
      }
      run.release("done");
      return run.id;
    }
  }));

Deno.test("planted secrets are nowhere in the bytes of the database", () =>
  withDatabaseFile(async (path) => {
    const value = "correct horse/battery+staple";
    const text = `<${value}> and ${value}`;
    const journal = journalAt(path, { secrets: oneSecret("KEY", value) });
    const run = journal.create({
      kind: "calls",
      file: text,
      files: [{ path: text, text }],
      input: { [text]: [text] },
    });
    run.tell({ type: "warning", text, seq: 1, at: 1, run: run.id });
    run.file({ path: "-", text });
    run.begin(step(text, { kind: "model", name: text, input: { text } }));
    run.prefix(text, { text });
    run.begin(step("b", { idempotent: false, input: text }));
    run.finish(text, { ok: { [text]: text } });
    run.finish("b", { error: { message: text, code: "failed", flag: text } });
    const check = async (): Promise<number> => {
      let bytes = 0;
      for await (const { name } of Deno.readDir(dirname(path))) {
        const content = new TextDecoder("latin1").decode(await Deno.readFile(join(dirname(path), name)));
        bytes += content.length;
        assert.ok(!content.includes("horse/battery"), `it is in ${name}`);
      }
      return bytes;
    };
    assert.ok(
      await Deno.stat(`${path}-wal`).then(({ size }) => size > 0),
      "the -wal file is looked at with something in it",
    );
    assert.ok(await check() > 10_000);
    run.release("stopped");
    journal.fork(run.id, { from: "b" });
    journal[Symbol.dispose]();
    await check();
  }));

Deno.test("of several processes that resume a run at once one gets it", () =>
  withDatabaseFile(async (path) => {
    for (let round = 0; round < 2; round++) {
      const journal = journalAt(path);
      const { id } = journal.create({ kind: "calls", input: null });
      ownedByTheDead(path);
      const moment = String(Date.now() + 500);
      const children = [1, 2, 3].map(() => journalChild("take", path, id, moment));
      const lines = await Promise.all(children.map(firstLine)); // however late one starts, the owner is there
      for (const child of children) {
        child.kill("SIGKILL");
        await child.status;
      }
      assert.equal(lines.filter((line) => line === "owned").length, 1, lines.join("\n"));
      for (const line of lines.filter((line) => line !== "owned")) {
        assert.match(
          line,
          /^Run ".*" is being run by process \d+ on this host since .* UTC: wait until it has ended, or end it \(kill \d+\)$/,
        );
      }
      assert.throws(() => journal[Symbol.dispose](), { name: "RunOwnedError" });
    }
  }));

Deno.test("a database that another process has locked is waited for, a new one too", async () => {
  for (const isNew of [true, false]) {
    await withDatabaseFile(async (path) => {
      if (!isNew) journalAt(path)[Symbol.dispose]();
      const other = journalChild("hold", path);
      const output = other.stdout.getReader();
      await output.read();
      const start = performance.now();
      using journal = journalAt(path);
      journal.create({ kind: "calls", input: null });
      assert.ok(performance.now() - start > 50, "it was waited for");
      await Promise.all([output.cancel(), other.status]);
    });
  }
});

Deno.test("several processes make a database at once and keep runs in it", () =>
  withDatabaseFile(async (path) => {
    const moment = String(Date.now() + 500);
    const ids = (await Promise.all(
      [1, 2, 3, 4].map(() => journalChild("fill", path, moment, "25")).map(linesOf),
    ))
      .flat();
    assert.equal(new Set(ids).size, 100);
    using journal = journalAt(path);
    assert.deepEqual(journal.list({ status: "done" }).map(({ id }) => id).sort(), ids.toSorted());
  }));

Deno.test("what a process said it had committed is there when it is killed", () =>
  withDatabaseFile(async (path) => {
    for (let round = 0; round < 4; round++) {
      await killedWhileCommitting(path, { killAfterMs: 40 + 60 * round });
    }
  }));
