// The journal against the floor under it: one commit of a row of the same size to an SQLite file at synchronous=FULL. Medians of interleaved
// samples; what a commit costs is the disk's.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import type { Journal, RunJournal, RunQuery } from "../../lib/core/journal.ts";
import { createSecrets } from "../../lib/core/secrets.ts";
import { sqliteJournal } from "../../lib/journal/sqlite_journal.ts";
import { PROJECT_ROOT, testEnvironment } from "../_run.ts";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const STEPS = 1500;
const READ_STEPS = 10_000;
const OPENINGS = 15;
const TURNS = 2000;
const CONVERSATIONS = 10_000;
const SAMPLES = 101;
const CONTENT = "y".repeat(200);

/** The rows of the table: a step of either kind, a long run read back, turns of conversations, masking, and what opening a journal adds to a start. */
export async function benchJournal(): Promise<readonly Row[]> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-bench-" });
  try {
    const path = join(folder, "orrery.db");
    using journal = sqliteJournal(path, { owner: { host: "here", pid: 1 } });
    return [
      ...benchSteps(journal, join(folder, "floor.db")),
      ...benchReading(journal),
      ...benchTurns(join(folder, "turns.db")),
      ...benchManyConversations(join(folder, "many.db")),
      ...benchMasking(),
      ...await benchOpening(path),
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function benchSteps(journal: Journal, floorPath: string): readonly Row[] {
  const database = new DatabaseSync(floorPath);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (text TEXT)");
  const insert = database.prepare("INSERT INTO rows VALUES (?)");
  const row = CONTENT.repeat(4);
  const run = journal.create({ kind: "calls", input: null });
  const [floor, safe, unsafe]: [number[], number[], number[]] = [[], [], []];
  for (let n = 0; n < STEPS; n++) {
    floor.push(timed(() => insert.run(row)));
    safe.push(timed(() => step(run, n, true)));
    unsafe.push(timed(() => step(run, n, false)));
  }
  run.release("done");
  database.close();
  const us = (times: readonly number[]): number => median(times) * 1000;
  return [
    { what: "one commit to SQLite, FULL (the floor)", value: us(floor), unit: "us" },
    {
      what: "a step that is idempotent: one commit",
      value: us(safe),
      unit: "us",
      ratio: us(safe) / us(floor),
      of: "the floor",
      limit: 3,
    },
    {
      what: "a step that is not: two commits",
      value: us(unsafe),
      unit: "us",
      ratio: us(unsafe) / us(floor),
      of: "the floor",
      limit: 3,
    },
  ];
}

function step(run: RunJournal, n: number, idempotent: boolean): void {
  const key = `call:${idempotent ? "a" : "b"}${n}`;
  run.begin({
    key,
    kind: "gadget",
    name: "WriteFile",
    input: { path: `src/f${n}.ts`, content: CONTENT },
    idempotent,
  });
  run.tell({ type: "call-run", invocationId: key, line: n, seq: 2 * n, at: n, run: run.id });
  run.tell({
    type: "call-result",
    invocationId: key,
    line: n,
    result: CONTENT,
    seq: 2 * n + 1,
    at: n,
    run: run.id,
  });
  run.finish(key, { ok: CONTENT });
}

function benchReading(journal: Journal): readonly Row[] {
  const run = journal.create({ kind: "calls", input: null });
  for (let n = 0; n < READ_STEPS; n++) step(run, n, true);
  run.release("stopped");
  const times = Array.from({ length: 9 }, () => timed(() => journal.read(run.id)));
  const answers = Array.from({ length: 5 }, () => {
    const again = journal.open(run.id);
    const ms = timed(() => {
      for (let n = 0; n < READ_STEPS; n++) {
        const input = { path: `src/f${n}.ts`, content: CONTENT };
        again.begin({ key: `call:a${n}`, kind: "gadget", name: "WriteFile", input, idempotent: true });
      }
    });
    again.release("stopped");
    return ms;
  });
  return [
    { what: "a run of 10,000 steps, read back", value: median(times), unit: "ms", limit: 500 },
    { what: "a finished step, answered", value: median(answers) / READ_STEPS * 1000, unit: "us", limit: 50 },
  ];
}

/** Opens a conversation, and does what a turn of two steps leaves behind. */
function turn(journal: Journal, id: string): void {
  const run = journal.open(id);
  const { n, messages } = run.checkpoint ?? { n: 0, messages: 0 };
  for (const place of [1, 2]) {
    const key = `turn[${n + 1}]/step[${place}]`;
    run.begin({ key, kind: "model", name: "script/x", input: CONTENT, idempotent: true });
    run.tell({ type: "message", step: key, n, text: CONTENT, seq: run.lastSeq + place, at: n, run: id });
    run.end(key, { ok: CONTENT });
  }
  run.save({
    state: { position: ["main", "ask"], slots: { name: "Ana", summary: CONTENT.repeat(5) } },
    messages: [
      { n: messages + 1, who: "user", text: CONTENT, steps: ["ask"] },
      { n: messages + 2, who: "assistant", text: CONTENT, steps: ["ask"] },
    ],
    slots: [{ user: "ana", name: "visits", value: n }],
  });
  run.release("held");
}

/** A conversation does not get slower with its turns. */
function benchTurns(path: string): readonly Row[] {
  using journal = sqliteJournal(path, { owner: { host: "here", pid: 1 } });
  const [short, long] = [10, TURNS].map((turns) => {
    const run = journal.create({ kind: "conversation", input: null });
    run.release("held");
    for (let n = 0; n < turns; n++) turn(journal, run.id);
    return run.id;
  });
  if (short === undefined || long === undefined) return [];
  const [ofShort, ofLong]: [number[], number[]] = [[], []];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const anew = journal.branch(short, { turn: 10 });
    ofShort.push(timed(() => turn(journal, anew)));
    ofLong.push(timed(() => turn(journal, long)));
  }
  const us = (times: readonly number[]): number => median(times) * 1000;
  return [
    { what: "a conversation of 10 turns: opened, two steps, saved", value: us(ofShort), unit: "us" },
    {
      what: "the same of 2,000 turns",
      value: us(ofLong),
      unit: "us",
      ratio: us(ofLong) / us(ofShort),
      of: "the same of 10",
      limit: 1.5,
    },
  ];
}

/** Nor do all of them with their number. */
function benchManyConversations(path: string): readonly Row[] {
  using journal = sqliteJournal(path, { owner: { host: "here", pid: 1 } });
  const ids = Array.from({ length: CONVERSATIONS }, (_, n) => {
    const file = n % 1000 === 0 ? "seldom.agent.yml" : "support.agent.yml";
    const run = journal.create({ kind: "conversation", file, input: null });
    run.save({ state: { n }, messages: [{ n: 1, who: "user", text: CONTENT, steps: [] }], slots: [] });
    run.release("held");
    return run.id;
  });
  const lists = (query: RunQuery): number[] =>
    Array.from(
      { length: SAMPLES },
      () => timed(() => journal.list({ kind: "conversation", limit: 20, ...query })),
    );
  const [opened, saved]: [number[], number[]] = [[], []];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const id = ids[sample * 97] ?? "";
    opened.push(timed(() => journal.open(id).release("held")));
    saved.push(timed(() => turn(journal, id)));
  }
  const row = (what: string, times: readonly number[]): Row => ({
    what: `${what} of 10,000 conversations`,
    value: median(times),
    unit: "ms",
    limit: 50,
  });
  return [
    row("the 20 newest", lists({})),
    row("the 10 of one file", lists({ file: "seldom.agent.yml" })),
    row("one opened and given up", opened),
    row("a turn of one", saved),
  ];
}

function benchMasking(): readonly Row[] {
  const secrets = createSecrets();
  for (let i = 0; i < 10; i++) secrets.add(`K${i}`, `sk-${crypto.randomUUID()}`);
  const text = 'lorem ipsum sk- dolor 0123456789 sit amet {"a": 1}\n'.repeat(20_000);
  const pieces = Array.from({ length: 20_000 }, (_, i) => text.slice(i * 51, (i + 1) * 51));
  const stream = secrets.stream();
  return [
    {
      what: "1 MB masked, 10 secrets, none in it",
      value: median(Array.from({ length: 9 }, () => timed(() => secrets.mask(text)))),
      unit: "ms",
      limit: 10,
    },
    {
      what: "1 MB masked as a stream, 50 characters a piece",
      value: median(
        Array.from({ length: 9 }, () => timed(() => pieces.forEach((piece) => stream.push(piece)))),
      ),
      unit: "ms",
      limit: 200,
    },
  ];
}

/** A process that imports the journal and opens it, against one that does not; each says how long it took itself. */
async function benchOpening(path: string): Promise<readonly Row[]> {
  const module = fileURLToPath(new URL("../../lib/journal/sqlite_journal.ts", import.meta.url));
  const code = `const start = performance.now();
    const { sqliteJournal } = await import(Deno.args[0]);
    const journal = sqliteJournal(Deno.args[1], { owner: { host: "here", pid: 1 } });
    console.log(performance.now() - start);
    journal[Symbol.dispose]();`;
  const script = join(path, "..", "open.ts");
  await Deno.writeTextFile(script, code);
  const times: number[] = [];
  for (let i = 0; i < OPENINGS + 2; i++) {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--config", join(PROJECT_ROOT, "deno.json"), script, module, path],
      clearEnv: true,
      env: testEnvironment(),
    }).output();
    if (i >= 2) times.push(Number(new TextDecoder().decode(stdout)));
  }
  return [{ what: "import and open an existing journal", value: median(times), unit: "ms" }];
}
