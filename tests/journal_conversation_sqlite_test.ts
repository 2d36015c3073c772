// What only a database shows of conversations: an older one, several processes, and one that is killed.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { RunJournal } from "../mod.ts";
import { journalChild, linesOf } from "./_journal_child.ts";
import { journalAt, oneSecret, withDatabaseFile } from "./_journal_file.ts";
import { type KilledConversation, killedWhileSaving } from "./_killed_while_saving.ts";
import { nextTurn, savedTurn } from "./_saved_turn.ts";

function turn(run: RunJournal): void {
  run.save(savedTurn(nextTurn(run)));
  run.release("held");
}

/** As version 2 made it, with a run that had been stopped in the middle. */
const VERSION_2 = `
PRAGMA auto_vacuum = INCREMENTAL;
CREATE TABLE runs (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, file TEXT, status TEXT NOT NULL,
  started_at REAL NOT NULL, updated_at REAL NOT NULL, usage TEXT NOT NULL, steps INTEGER NOT NULL, ticks INTEGER NOT NULL,
  elapsed_ms REAL NOT NULL, owner_token TEXT, owner_host TEXT, owner_pid INTEGER, owner_started TEXT, owner_since REAL,
  owner_seen REAL) STRICT;
CREATE INDEX runs_by_time ON runs (started_at);
CREATE TABLE inputs (run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, input TEXT NOT NULL) STRICT;
CREATE TABLE texts (hash TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE files (run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL, path TEXT NOT NULL,
  hash TEXT NOT NULL REFERENCES texts (hash), PRIMARY KEY (run, position)) STRICT, WITHOUT ROWID;
CREATE INDEX files_by_hash ON files (hash);
CREATE TABLE steps (run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, key TEXT NOT NULL, kind TEXT NOT NULL,
  name TEXT NOT NULL, input TEXT NOT NULL, input_hash TEXT NOT NULL, idempotent INTEGER NOT NULL, outcome TEXT,
  started_at REAL NOT NULL, ended_at REAL, attempt INTEGER NOT NULL, began_tick INTEGER NOT NULL, ended_tick INTEGER,
  seen_seq INTEGER NOT NULL, PRIMARY KEY (run, key)) STRICT, WITHOUT ROWID;
CREATE TABLE pieces (run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, key TEXT NOT NULL, position INTEGER NOT NULL,
  pieces TEXT NOT NULL, PRIMARY KEY (run, key, position)) STRICT, WITHOUT ROWID;
CREATE TABLE events (run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL, events TEXT NOT NULL,
  PRIMARY KEY (run, position)) STRICT, WITHOUT ROWID;
INSERT INTO runs VALUES (1, '0123456789ab', 'ask', 'a.txt', 'stopped', 1, 2, '{"input":9,"output":3}', 2, 3, 9, NULL, NULL, NULL,
  NULL, NULL, NULL);
INSERT INTO inputs VALUES ('0123456789ab', '{"text":"Go"}');
INSERT INTO steps VALUES
  ('0123456789ab', 'done', 'gadget', 'X', 'null', 'HASH', 1, '{"ok":7}', 1, 2, 1, 1, 2, 1),
  ('0123456789ab', 'model', 'model', 'script/x', 'null', 'HASH', 1, NULL, 3, NULL, 1, 3, NULL, 2);
INSERT INTO pieces VALUES ('0123456789ab', 'model', 1, '["one"]');
INSERT INTO events VALUES
  ('0123456789ab', 1, '[{"type":"warning","text":"first","seq":1,"at":1,"run":"0123456789ab"}]'),
  ('0123456789ab', 2, '[{"type":"warning","text":"second","seq":2,"at":8,"run":"0123456789ab"}]');
PRAGMA application_id = 0x4f727279;
PRAGMA user_version = 2;
PRAGMA journal_mode = WAL;
`.replaceAll("HASH", "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b");

function oldDatabase(path: string): void {
  const old = new DatabaseSync(path);
  old.exec(VERSION_2);
  old.close();
}

/** Of all tables and indexes. */
function schemaOf(path: string): unknown {
  const database = new DatabaseSync(path);
  const columns = database.prepare(
    `SELECT m.type AS "of", m.name AS "in", c.name, c.type, c."notnull", c.pk FROM sqlite_schema m, pragma_table_info(m.name) c
      ORDER BY m.name, c.cid`,
  ).all();
  const indexes = database.prepare(
    `SELECT m.name AS "in", c.name FROM sqlite_schema m, pragma_index_info(m.name) c ORDER BY m.name, c.seqno`,
  ).all();
  const version = database.prepare("PRAGMA user_version").get();
  database.close();
  assert.ok(columns.length > 55 && indexes.length > 10);
  return [columns, indexes, version];
}

function count(path: string, table: string): number {
  const database = new DatabaseSync(path);
  const row = database.prepare(`SELECT count(*) AS n FROM ${table}`).get();
  database.close();
  return Number(row?.n);
}

Deno.test("conversations: a journal of version 2 is brought up to this one, and a run in it goes on as before", () =>
  withDatabaseFile((path) => {
    oldDatabase(path);
    {
      using journal = journalAt(path);
      assert.deepEqual(journal.list({ kind: "ask", file: "a.txt" }).map(({ id }) => id), ["0123456789ab"]);
      const { messages, checkpoints, events } = journal.read("0123");
      assert.deepEqual([messages, checkpoints, events.length], [[], [], 2]);
      const run = journal.open("0123");
      assert.deepEqual([run.checkpoint, run.lastSeq, run.lastAt, run.usage], [undefined, 2, 8, {
        input: 0,
        output: 0,
      }]);
      assert.deepEqual(run.events, events);
      const known = { kind: "gadget", name: "X", input: null, idempotent: true } as const;
      assert.equal(run.begin({ ...known, key: "done" }).do, "answer");
      const model = { ...known, key: "model", kind: "model", name: "script/x" } as const;
      assert.deepEqual(run.begin(model), { do: "perform", attempt: 2, prefix: ["one"] });
      run.release("stopped");
      const fork = journal.open(journal.fork("0123456789ab", { from: "model" }));
      assert.deepEqual(fork.events.map(({ seq }) => seq), [1, 2]);
      const branch = journal.branch("0123456789ab", { turn: 0 });
      assert.deepEqual([journal.read(branch).steps, journal.read(branch).events], [[], []]);
      turn(journal.create({ kind: "conversation", input: null, id: "talk" }));
    }
    using journal = journalAt(path);
    assert.equal(journal.open("talk").checkpoint?.n, 1);
    return withDatabaseFile((fresh) => {
      using _new = journalAt(fresh);
      assert.deepEqual(schemaOf(path), schemaOf(fresh));
    });
  }));

Deno.test("conversations: several processes that open a journal of version 2 at once find one of this version", () =>
  withDatabaseFile(async (path) => {
    oldDatabase(path);
    const moment = String(Date.now() + 500);
    const children = [1, 2, 3].map(() => journalChild("fill", path, moment, "5"));
    await Promise.all(children.map(linesOf));
    using journal = journalAt(path);
    assert.equal(journal.list({ kind: "calls" }).length, 15);
    assert.equal(journal.read("0123").events.length, 2);
  }));

Deno.test("conversations: a save that could not be committed is committed with what comes next, once", () =>
  withDatabaseFile((path) => {
    using journal = journalAt(path);
    const run = journal.create({ kind: "conversation", input: null });
    turn(run);
    for (const table of ["checkpoints", "messages", "slots", "runs"]) {
      const before = journal.read(run.id);
      const next = journal.open(run.id);
      const n = nextTurn(next);
      next.save(savedTurn(n));
      const hostile = new DatabaseSync(path);
      const what = table === "runs" ? "UPDATE OF status" : "INSERT";
      hostile.exec(`CREATE TRIGGER no BEFORE ${what} ON ${table} BEGIN SELECT raise(ABORT, 'not now'); END`);
      for (let times = 0; times < 2; times++) {
        assert.throws(() => next.release("held"), { name: "JournalError" }, table);
        const { messages, checkpoints } = journal.read(run.id);
        assert.deepEqual([messages, checkpoints], [before.messages, before.checkpoints], table);
        assert.equal(journal.slots({ user: "ana" }).turn, n - 1);
      }
      assert.equal(next.messages().length, 2 * n, "it waits");
      hostile.exec("DROP TRIGGER no");
      hostile.close();
      next.release("held");
      const { messages, checkpoints } = journal.read(run.id);
      assert.deepEqual(messages.slice(-2), savedTurn(n).messages);
      assert.deepEqual(checkpoints.at(-1), { n, messages: 2 * n });
      assert.equal(journal.slots({ user: "ana" }).turn, n);
    }
    assert.deepEqual([count(path, "checkpoints"), count(path, "messages")], [5, 10]);
  }));

Deno.test("conversations: a turn is saved in the commit that gives the run up", () =>
  withDatabaseFile((path) => {
    using journal = journalAt(path);
    const run = journal.create({ kind: "conversation", input: null });
    nextTurn(run);
    run.commit();
    const watcher = new DatabaseSync(path);
    const version = watcher.prepare("PRAGMA data_version");
    const before = version.get()?.data_version;
    run.save(savedTurn(1));
    assert.deepEqual([run.messages().length, run.slots({ user: "ana" }).turn], [2, 1]);
    assert.equal(version.get()?.data_version, before);
    run.release("held");
    assert.notEqual(version.get()?.data_version, before);
    const row = watcher.prepare("SELECT status, owner_token FROM runs").get();
    assert.deepEqual({ ...row }, { status: "held", owner_token: null });
    watcher.close();
  }));

Deno.test("conversations: what is removed is not in the file any more, and slots are", () =>
  withDatabaseFile(async (path) => {
    using journal = journalAt(path);
    const run = journal.create({ kind: "conversation", input: null });
    const text = "marker-of-the-removed ".repeat(500);
    run.save({
      state: text,
      messages: [{ n: 1, who: "user", text, steps: [] }],
      slots: [{ user: "ana", name: "kept", value: "marker-of-a-slot" }],
    });
    run.release("done");
    journal.remove(run.id);
    const bytes = await Deno.readTextFile(path);
    assert.ok(!bytes.includes("marker-of-the-removed") && bytes.includes("marker-of-a-slot"));
    assert.deepEqual([count(path, "checkpoints"), count(path, "messages"), count(path, "slots")], [0, 0, 1]);
  }));

Deno.test("conversations: planted secrets are nowhere in the bytes of the database", () =>
  withDatabaseFile(async (path) => {
    const text = "is correct horse/battery";
    using journal = journalAt(path, { secrets: oneSecret("KEY", "correct horse/battery") });
    const run = journal.create({ kind: "conversation", input: null });
    run.save({
      state: { [text]: text },
      messages: [{ n: 1, who: "assistant", text, steps: [text] }],
      slots: [{ user: text, session: text, name: text, value: [text] }],
    });
    run.release("held");
    journal.branch(run.id, { turn: 1 });
    for await (const { name } of Deno.readDir(dirname(path))) {
      const bytes = new TextDecoder("latin1").decode(await Deno.readFile(join(dirname(path), name)));
      assert.ok(!bytes.includes("horse/battery"), `it is in ${name}`);
    }
  }));

Deno.test("conversations: two processes take turns in one, and none is lost", () =>
  withDatabaseFile(async (path) => {
    using journal = journalAt(path);
    const run = journal.create({ kind: "conversation", input: null });
    run.release("held");
    const moment = String(Date.now() + 500);
    const said = await Promise.all(
      [1, 2].map(() => journalChild("turns", path, run.id, moment, "40")).map(linesOf),
    );
    const turns = said.flat().map((line) => Number(line.split(" ")[1])).sort((a, b) => a - b);
    const all = Array.from({ length: 80 }, (_, index) => index + 1);
    assert.deepEqual(turns, all);
    const { messages, checkpoints } = journal.read(run.id);
    assert.deepEqual(checkpoints, all.map((n) => ({ n, messages: 2 * n })));
    assert.deepEqual(messages, all.flatMap((n) => savedTurn(n).messages));
    assert.equal(journal.slots({ user: "ana" }).turn, 80);
  }));

Deno.test("conversations: a turn is there whole or not at all when its process is killed", () =>
  withDatabaseFile(async (path) => {
    let before: KilledConversation | undefined;
    for (let round = 0; round < 5; round++) {
      before = await killedWhileSaving(path, { killAfterMs: 20 + 45 * round, before });
    }
    assert.ok((before?.turns ?? 0) > 5, `only ${before?.turns} turns`);
  }));
