// What a model says before its end is kept in pieces: what each costs, what becomes of what an older version kept whole, and what is put
// together when the process died.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import {
  type AnyGadget,
  ask,
  createCatalog,
  type DialogOptions,
  memoryJournal,
  type ModelPart,
  type RunJournal,
  type StepStart,
} from "../../mod.ts";
import { journalOver } from "../../lib/journal/journal_over.ts";
import { memoryStore } from "../../lib/journal/memory_journal.ts";
import { createSecrets } from "../../lib/core/secrets.ts";
import { sqliteJournal } from "../../lib/journal/sqlite_journal.ts";
import type { JournalStore } from "../../lib/journal/store.ts";
import { journalChild } from "../_journal_child.ts";
import { journalAt, withDatabaseFile } from "../_journal_file.ts";
import { withDatabase } from "../_journal_places.ts";
import { type Script, scriptedModel } from "../_scripted_model.ts";

const OWNER = { host: "here", pid: 1 };
const MODEL = step("model", { kind: "model", name: "script/x", input: { messages: ["m".repeat(10_000)] } });

function step(key: string, options: Partial<StepStart> = {}): StepStart {
  return { key, kind: "gadget", name: "X", input: null, idempotent: true, ...options };
}

const unsafe = (key: string): StepStart => step(key, { idempotent: false });

/** What is written, a line for each row: what it is, its key, and how much of it there is. */
function watched(store: JournalStore): { readonly store: JournalStore; readonly written: string[] } {
  const written: string[] = [];
  return {
    written,
    store: {
      ...store,
      putStep(id, row) {
        written.push(`step ${row.key}`);
        store.putStep(id, row);
      },
      addPieces(id, row) {
        written.push(`pieces ${row.key} ${row.pieces}`);
        store.addPieces(id, row);
      },
      removePieces(id, key) {
        written.push(`no pieces ${key}`);
        store.removePieces(id, key);
      },
    },
  };
}

Deno.test("pieces: each is written once, and its step is not written again for it", () => {
  const { store, written } = watched(memoryStore());
  const run = journalOver(store).create({ kind: "ask", input: null });
  const since = (): string[] => written.splice(0);
  run.begin(MODEL);
  run.prefix("model", 1);
  run.begin(unsafe("a"));
  assert.deepEqual(since(), ["step model", "step a", "pieces model [1]"]);
  run.finish("a", { ok: 1 });
  assert.deepEqual(since(), ["step a"]);
  run.prefix("model", 2);
  run.prefix("model", { n: 3 });
  run.begin(unsafe("b"));
  assert.deepEqual(since(), ["step b", 'pieces model [2,{"n":3}]']);
  run.prefix("model", 4);
  run.finish("model", { ok: 1 });
  assert.deepEqual(since(), ["step model", "no pieces model"], "what has ended needs no piece");
  run.begin(step("model 2", { kind: "model" }));
  run.prefix("model 2", 1);
  run.finish("model 2", { ok: 2 });
  run.finish("b", { ok: 1 });
  run.release("done");
  assert.deepEqual(since(), ["step model 2", "step b"]);
});

Deno.test("pieces: what could not be committed is committed with what comes next, once", () =>
  withDatabase((path) => {
    using journal = sqliteJournal(path, { owner: OWNER });
    const run = journal.create({ kind: "ask", input: null });
    const pieces = (): unknown => journal.read(run.id).steps.find(({ key }) => key === "model")?.prefix;
    run.begin(MODEL);
    run.prefix("model", 1);
    run.begin(unsafe("a"));
    const hostile = new DatabaseSync(path);
    const no = "BEGIN SELECT raise(ABORT, 'not now'); END";
    hostile.exec(`CREATE TRIGGER no BEFORE INSERT ON steps ${no}`);
    run.prefix("model", 2);
    assert.throws(() => run.begin(unsafe("b")), { name: "JournalError" });
    assert.deepEqual(pieces(), [1]);
    assert.throws(() => run.finish("model", { ok: 1 }), { name: "JournalError" });
    assert.deepEqual(pieces(), [1]);
    hostile.exec("DROP TRIGGER no");
    hostile.close();
    run.commit();
    assert.equal(pieces(), undefined);
    assert.deepEqual(count(path, "pieces"), 0);
  }));

function count(path: string, table: string): number {
  const database = new DatabaseSync(path);
  const row = database.prepare(`SELECT count(*) AS n FROM ${table}`).get();
  database.close();
  return Number(row?.n);
}

Deno.test("pieces: nothing of them is left of a run that was removed", () =>
  withDatabase((path) => {
    const marker = "marker-of-the-removed ";
    {
      using journal = sqliteJournal(path, { owner: OWNER });
      const [kept, run] = ["kept", "gone"].map((input) => journal.create({ kind: "ask", input }));
      assert.ok(kept && run);
      run.begin(MODEL);
      for (let n = 0; n < 300; n++) {
        run.prefix("model", { text: marker.repeat(20) });
        run.begin(unsafe(`${n}`));
        // Rows of others come to lie between.
        if (n % 10 === 0) {
          kept.begin(step(`${n}`, { input: "x".repeat(300) }));
          kept.finish(`${n}`, { ok: 1 });
        }
      }
      run.finish("model", { ok: null });
      run.release("done");
      journal.remove(run.id);
    }
    assert.ok(!Deno.readTextFileSync(path).includes(marker.trim()));
  }));

/** The tables of version 1 that are others now, and what else a journal has to have. */
const VERSION_1 = `
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
  name TEXT NOT NULL, input TEXT NOT NULL, input_hash TEXT NOT NULL, idempotent INTEGER NOT NULL, outcome TEXT, prefix TEXT,
  started_at REAL NOT NULL, ended_at REAL, attempt INTEGER NOT NULL, began_tick INTEGER NOT NULL, ended_tick INTEGER,
  seen_seq INTEGER NOT NULL, PRIMARY KEY (run, key)) STRICT, WITHOUT ROWID;
CREATE TABLE events (run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL, events TEXT NOT NULL,
  PRIMARY KEY (run, position)) STRICT, WITHOUT ROWID;
INSERT INTO runs VALUES (1, '0123456789ab', 'ask', NULL, 'stopped', 1, 2, '{"input":0,"output":0}', 3, 5, 9, NULL, NULL, NULL, NULL,
  NULL, NULL);
INSERT INTO inputs VALUES ('0123456789ab', '{"text":"Go"}');
INSERT INTO steps VALUES
  ('0123456789ab', 'done', 'gadget', 'X', 'null', 'HASH', 1, '{"ok":7}', NULL, 1, 2, 1, 1, 2, 0),
  ('0123456789ab', 'model', 'model', 'script/x', 'null', 'HASH', 1, NULL, '{"text":"one","calls":[]}', 3, NULL, 1, 3, NULL, 0),
  ('0123456789ab', 'begun', 'gadget', 'X', 'null', 'HASH', 0, NULL, NULL, 4, NULL, 1, 4, NULL, 0);
PRAGMA application_id = 0x4f727279;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
`;

Deno.test("pieces: a journal of version 1 is brought up to this one, and a run in it goes on", () =>
  withDatabase((path) => {
    const nullHash = "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b";
    const old = new DatabaseSync(path);
    old.exec(VERSION_1.replaceAll("HASH", nullHash));
    old.close();
    const model = step("model", { kind: "model", name: "script/x" });
    const prefix = [{ text: "one", calls: [] }];
    {
      using journal = sqliteJournal(path, { owner: OWNER });
      const { steps, run } = journal.read("0123");
      assert.deepEqual(run, { id: "0123456789ab", file: undefined, kind: "ask", input: { text: "Go" } });
      assert.deepEqual(steps.map(({ key, status, prefix }) => [key, status, prefix]), [
        ["done", "finished", undefined],
        ["model", "started", prefix],
        ["begun", "started", undefined],
      ]);
      const again = journal.open("0123");
      assert.deepEqual(again.begin(step("done")), {
        do: "answer",
        outcome: { ok: 7 },
        ms: 1,
        attempt: 1,
      });
      assert.deepEqual(again.begin(model), { do: "perform", attempt: 2, prefix });
      again.prefix("model", { text: " two" });
      assert.deepEqual(again.begin(unsafe("begun")), { do: "unverified", attempt: 1 });
      again.begin(unsafe("next"));
    }
    // The second opening finds what the first one made; and it is what a new journal has.
    using journal = sqliteJournal(path, { owner: OWNER });
    const kept = journal.read("0123").steps.find(({ key }) => key === "model");
    assert.deepEqual(kept?.prefix, [...prefix, { text: " two" }]);
    using _new = sqliteJournal(`${path}2`, { owner: OWNER });
    assert.deepEqual(columns(path), columns(`${path}2`));
  }));

/** Of all tables. */
function columns(path: string): unknown {
  const database = new DatabaseSync(path);
  const rows = database.prepare(
    `SELECT m.name AS "table", c.name, c.type, c."notnull", c.pk FROM sqlite_schema m, pragma_table_info(m.name) c ORDER BY m.name, c.cid`,
  ).all();
  const version = database.prepare("PRAGMA user_version").get();
  database.close();
  assert.ok(rows.length > 40);
  return [rows, version];
}

Deno.test("pieces: several processes that open a journal of version 1 at once find one of this version", () =>
  withDatabaseFile(async (path) => {
    const old = new DatabaseSync(path);
    old.exec(VERSION_1);
    old.close();
    const moment = String(Date.now() + 500);
    const outputs = await Promise.all(
      [1, 2, 3].map(() => journalChild("fill", path, moment, "5").output()),
    );
    assert.deepEqual(outputs.map(({ code }) => code), [0, 0, 0]);
    using journal = sqliteJournal(path, { owner: OWNER });
    assert.equal(journal.list({ status: "done" }).length, 15);
    assert.deepEqual(journal.read("0123").steps[1]?.prefix, [{ text: "one", calls: [] }]);
  }));

Deno.test("pieces: what was committed is whole and in order when the process is killed", () =>
  withDatabaseFile(async (path) => {
    for (let round = 0; round < 3; round++) {
      const child = journalChild("answer", path);
      let said = "";
      let timer: ReturnType<typeof setTimeout> | undefined;
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
        said += text;
        timer ??= setTimeout(() => child.kill("SIGKILL"), 30 + 60 * round);
      }
      await child.status;
      const [id = "", ...lines] = said.split("\n").slice(0, -1);
      using journal = journalAt(path);
      const { steps } = journal.read(id);
      const open = steps.filter(({ kind, status }) => kind === "model" && status === "started");
      assert.ok(open.length <= 1);
      for (const { prefix } of steps.filter(({ status }) => status === "finished")) {
        assert.equal(prefix, undefined);
      }
      for (const { key, prefix = [] } of open) {
        const begun = steps.filter((step) => step.key.startsWith(`${key}/`));
        assert.deepEqual(prefix, begun.map((_, n) => n), "a piece with each start, and no other");
      }
      const known = new Set(steps.map(({ key }) => key));
      for (const line of lines) assert.ok(known.has(line), `${line}: it is not there`);
      journal.open(id).release("done");
    }
  }));

const block = (id: string, rest = ""): string => `!!!GADGET_START:Tick:${id}\n${rest}!!!GADGET_END\n`;

const call = (id: string, text: string): ModelPart => ({
  type: "call",
  call: { id, name: "Tick", arguments: JSON.stringify({ text }), metadata: { of: id } },
});

/** `run` sees the journal while the answer is still coming. */
function options(run: AnyGadget["run"] = () => null): Pick<DialogOptions, "catalog" | "tools"> {
  const tick = { name: "Tick", description: "Ticks.", run } as AnyGadget;
  return { catalog: createCatalog([tick]), tools: ["Tick"] };
}

const NATIVE: Script = [
  { type: "thought", reasoning: { text: "hm", metadata: { signature: "s1" } } },
  "First ",
  "this. ",
  call("a", "one"),
  call("b", "two"),
  "Then ",
  { type: "thought", reasoning: { text: "so" } },
  call("", "three"),
  "and this is lost",
];

const BLOCKS: Script = [
  `First this.\n${block("a")}${block("b", "!!!ARG:text\nx\n").slice(0, 30)}`,
  `${block("b", "!!!ARG:text\nx\n").slice(30)}Then\n!!!GADGET_START:Tick:c\n!!!GADGET_START:Tick:d\nlost`,
];

const CASES: Readonly<Record<"native" | "blocks", { readonly script: Script; readonly pieces: unknown }>> = {
  native: {
    script: NATIVE,
    pieces: [
      {
        text: "First this. ",
        calls: [{ id: "a", name: "Tick", arguments: '{"text":"one"}', metadata: { of: "a" } }],
        reasoning: [{ text: "hm", metadata: { signature: "s1" } }],
      },
      { calls: [{ id: "b", name: "Tick", arguments: '{"text":"two"}', metadata: { of: "b" } }] },
      {
        text: "Then ",
        calls: [{ id: "call_3", name: "Tick", arguments: '{"text":"three"}', metadata: { of: "" } }],
        reasoning: [{ text: "so" }],
      },
    ],
  },
  blocks: {
    script: BLOCKS,
    pieces: [
      { text: `First this.\n${block("a")}` },
      { text: block("b", "!!!ARG:text\nx\n") },
      { text: "Then\n!!!GADGET_START:Tick:c\n" },
    ],
  },
};

for (const [toolsMode, { script, pieces }] of Object.entries(CASES)) {
  Deno.test(`pieces: an answer (${toolsMode}) whose process died is put together from them`, async () => {
    const mode = toolsMode === "native" ? "native" as const : "blocks" as const;
    const journal = memoryJournal({ isAlive: () => false });
    const first = journal.create({ kind: "ask", input: null });
    const dead = new AbortController();
    const dying = scriptedModel([[...script, 60_000]]);
    let runs = 0;
    const events = ask("Go", {
      model: dying,
      journal: unreleased(first),
      signal: dead.signal,
      policy: { toolsMode: mode },
      ...options(() => {
        if (++runs === 3) setTimeout(() => dead.abort(new Error("killed")), 5);
        return null;
      }),
    });
    await Array.fromAsync(events);
    assert.equal(runs, 3);
    const kept = journal.read(first.id).steps.find(({ kind }) => kind === "model");
    assert.deepEqual(kept?.prefix, pieces);

    const second = scriptedModel([["Done."]]);
    const told = await Array.fromAsync(
      ask("Go", {
        model: second,
        journal: journal.open(first.id),
        policy: { toolsMode: mode },
        ...options(() => assert.fail("it has run")),
      }),
    );
    const end = told.at(-1);
    assert.ok(end?.type === "run-end");
    assert.deepEqual([end.status, end.value], ["done", "Done."], end.error);
    const answer = journal.read(first.id).steps.find(({ kind }) => kind === "model");
    assert.equal(answer?.prefix, undefined);
    const list = pieces as readonly { text?: string; calls?: unknown[]; reasoning?: unknown[] }[];
    assert.deepEqual(answer?.outcome, {
      ok: {
        text: list.map(({ text = "" }) => text).join(""),
        calls: list.flatMap(({ calls = [] }) => calls),
        reasoning: list.flatMap(({ reasoning = [] }) => reasoning),
        finish: "other",
        usage: { input: 0, output: 0 },
        model: "test/scripted",
        isCut: true,
      },
    });
  });
}

/** The journal of a process that dies: its release never comes. */
function unreleased(run: RunJournal): RunJournal {
  return {
    id: run.id,
    status: run.status,
    run: run.run,
    checkpoint: run.checkpoint,
    events: run.events,
    lastSeq: run.lastSeq,
    lastAt: run.lastAt,
    usage: run.usage,
    resumedFrom: run.resumedFrom,
    begin: (step) => run.begin(step),
    finish: (key, outcome) => run.finish(key, outcome),
    end: (key, outcome) => run.end(key, outcome),
    commit: () => run.commit(),
    prefix: (key, piece) => run.prefix(key, piece),
    tell: (event) => run.tell(event),
    file: (file) => run.file(file),
    save: (saved) => run.save(saved),
    messages: (options) => run.messages(options),
    slots: (scope) => run.slots(scope),
    settle: (key, decision) => run.settle(key, decision),
    release: () => {},
  };
}

Deno.test("pieces: a secret that lies over two of them is in neither", async () => {
  const secrets = createSecrets();
  secrets.add("KEY", "s3cr3t/value-long");
  const journal = memoryJournal({ secrets });
  const run = journal.create({ kind: "ask", input: null });
  const seen: unknown[] = [];
  const model = scriptedModel([
    ["The key: s3cr3t/", call("a", "one"), "value-long, said.", call("b", "s3cr3t/value-long"), "end"],
    ["Done."],
  ]);
  const look = (): null => {
    seen.push(journal.read(run.id).steps.find(({ kind }) => kind === "model")?.prefix);
    return null;
  };
  await Array.fromAsync(
    ask("Go", { model, journal: run, secrets, policy: { toolsMode: "native" }, ...options(look) }),
  );
  const piece = (id: string, text: string, said: string): unknown => ({
    text: said,
    calls: [{ id, name: "Tick", arguments: JSON.stringify({ text }), metadata: { of: id } }],
  });
  const pieces = [piece("a", "one", "The key: "), piece("b", "[secret KEY]", "[secret KEY], said.")];
  assert.deepEqual(seen, [pieces.slice(0, 1), pieces]);
  assert.ok(!JSON.stringify(journal.read(run.id)).includes("s3cr3t"));
});

/** How long an answer of so many calls takes that may not be done twice, ms. */
async function answered(calls: number, toolsMode: "native" | "blocks"): Promise<number> {
  const { store, written } = watched(memoryStore());
  const run = journalOver(store).create({ kind: "ask", input: null });
  const text = "so much is said in a call as this is long, and it is not short";
  const parts = Array.from(
    { length: calls },
    (_, i) => toolsMode === "native" ? call(`c${i}`, text) : block(`c${i}`, `!!!ARG:text\n${text}\n`),
  );
  let runs = 0;
  const model = scriptedModel([parts, ["Done."]]);
  const start = performance.now();
  await Array.fromAsync(ask("Go", { model, journal: run, policy: { toolsMode }, ...options(() => ++runs) }));
  const ms = performance.now() - start;
  assert.equal(runs, calls);
  const pieces = written.filter((line) => line.startsWith("pieces "));
  const size = pieces.reduce((sum, line) => sum + line.length, 0);
  assert.ok(size < calls * 250, `${size} characters of pieces for ${calls} calls`);
  assert.equal(written.filter((line) => line === "step turn[1]/model").length, 2);
  return ms;
}

for (const toolsMode of ["native", "blocks"] as const) {
  Deno.test(`pieces: an answer of 2,000 calls (${toolsMode}) costs four times one of 500`, async () => {
    const times: Readonly<Record<500 | 2000, number[]>> = { 500: [], 2000: [] };
    await answered(200, toolsMode);
    for (let sample = 0; sample < 5; sample++) {
      times[500].push(await answered(500, toolsMode));
      times[2000].push(await answered(2000, toolsMode));
    }
    const ratio = Math.min(...times[2000]) / Math.min(...times[500]);
    assert.ok(ratio < 10, `${ratio.toFixed(1)} times, ${JSON.stringify(times)}`);
  });
}
