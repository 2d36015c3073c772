// What every journal does. A process that dies is one whose journal is left as it is: nothing is released.

import assert from "node:assert/strict";
import fc from "fast-check";
import type { Journal, Json, RunEvent, RunEventBody, RunJournal, RunStart, StepStart } from "../mod.ts";
import {
  DivergedError,
  RunEndedError,
  RunNotFoundError,
  RunOwnedError,
  StepNotFoundError,
} from "../lib/core/journal.ts";
import { noteOf } from "../lib/core/media.ts";
import { journalOver } from "../lib/journal/journal_over.ts";
import { memoryStore } from "../lib/journal/memory_journal.ts";
import { createSecrets } from "../lib/core/secrets.ts";
import type { JournalStore } from "../lib/journal/store.ts";
import { fails, type Place, PLACES } from "./_journal_places.ts";

const START: RunStart = {
  kind: "calls",
  file: "a.calls",
  files: [{ path: "a.calls", text: "text of a" }, { path: "b.txt", text: "" }],
  input: { mode: "auto", list: [1, null, "ä"] },
};

function step(key: string, options: Partial<StepStart> = {}): StepStart {
  return { key, kind: "gadget", name: "ReadFile", input: { path: "x" }, idempotent: true, ...options };
}

const UNSAFE = { idempotent: false, name: "Shell" } as const;
const MODEL = step("turn[1]/model", { kind: "model", name: "script/x", input: { messages: [] } });

/** As whoever reads the journal has it. */
function piecesOf(place: Place, id: string, key = MODEL.key): readonly Json[] | undefined {
  return place.journal().read(id).steps.find((step) => step.key === key)?.prefix;
}

/** Tells events with the numbers that a run gives them. */
function teller(run: RunJournal): (body: RunEventBody) => RunEvent {
  let seq = run.events.at(-1)?.seq ?? 0;
  return (body) => {
    const event = { ...body, seq: ++seq, at: seq * 10, run: run.id };
    run.tell(event);
    return event;
  };
}

const warning = (text: string): RunEventBody => ({ type: "warning", text });

/** A run of process 1 that died with `safe` begun, `unsafe` begun, and `done` finished. */
function died(place: Place): string {
  const run = place.journal({ pid: 1 }).create(START);
  run.begin(step("done"));
  run.finish("done", { ok: { value: 1 } });
  run.begin(step("safe"));
  run.begin(step("unsafe", UNSAFE));
  place.alive.set(1, false);
  return run.id;
}

const CONTRACT: Readonly<Record<string, (place: Place) => void>> = {
  "keeps a deferred start with the next commit": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    const keptSteps = () => place.journal().read(run.id).steps.map(({ key, status }) => [key, status]);
    assert.deepEqual(run.begin(step("unsafe", UNSAFE), { isDeferred: true }), { do: "perform", attempt: 1 });
    assert.deepEqual(keptSteps(), []);
    run.commit();
    assert.deepEqual(keptSteps(), [["unsafe", "started"]]);
    run.begin(step("next", UNSAFE), { isDeferred: true });
    place.alive.set(1, false); // before it was kept: nothing of it had happened
    const resumed = place.journal({ pid: 2 }).open(run.id);
    assert.deepEqual(resumed.begin(step("unsafe", UNSAFE), { isDeferred: true }), {
      do: "unverified",
      attempt: 1,
    });
    assert.deepEqual(resumed.begin(step("next", UNSAFE), { isDeferred: true }), {
      do: "perform",
      attempt: 1,
    });
    resumed.finish("next", { ok: 1 });
    assert.deepEqual(keptSteps(), [["unsafe", "started"], ["next", "finished"]]);
  },
  "gives a run back as it was begun": (place) => {
    const journal = place.journal();
    const run = journal.create(START);
    assert.deepEqual(run.run, { ...START, id: run.id });
    assert.deepEqual(run.events, []);
    assert.equal(run.resumedFrom, undefined);
    assert.match(run.id, /^[0-9a-hjkmnp-tv-z]{12}$/);
    run.release("stopped");
    const again = place.journal({ pid: 2 }).open(run.id);
    assert.deepEqual(again.run, { ...START, id: run.id });
    assert.equal(again.resumedFrom, "stopped");
    assert.deepEqual(journal.create({ kind: "ask", input: null }).run.files, undefined);
  },
  "names media where it is read; a step whose media an older version has kept is the same": (place) => {
    const part = { type: "media", mediaType: "image/png", data: "AAAA" } as const;
    const { size, sha256 } = noteOf(part);
    const asked = (content: Json) => ({
      ...MODEL,
      input: { messages: [{ role: "user", content: [content] }] },
    });
    const journal = place.journal();
    const run = journal.create({ kind: "ask", input: { media: [part] } });
    run.begin(asked(part));
    run.finish(MODEL.key, { ok: [part] });
    run.begin(step("begun"));
    run.release("stopped");
    const note = { type: "media", mediaType: "image/png", size, sha256 } as const;
    const { run: { input }, steps: [kept] } = journal.read(run.id);
    assert.deepEqual([input, kept?.input, kept?.outcome], [{ media: [note] }, asked(note).input, {
      ok: [note],
    }]);
    assert.deepEqual(journal.outcome(run.id, MODEL.key), { ok: [part] });
    for (const key of ["begun", "none"]) assert.equal(journal.outcome(run.id, key), undefined);
    const again = place.journal({ pid: 2 }).open(run.id);
    assert.deepEqual(again.run.input, { media: [part] });
    assert.equal(again.begin(asked(note)).do, "answer");
    fails(() => again.begin(asked({ ...note, size: 4 })), { type: DivergedError, message: /size/ });
  },
  "takes an id that is wanted, once": (place) => {
    const journal = place.journal();
    assert.equal(journal.create({ ...START, id: "chat:1" }).id, "chat:1");
    fails(() => journal.create({ ...START, id: "chat:1" }), {
      type: Error,
      message: `There is a run "chat:1" already: open it, or choose another id`,
    });
    fails(() => journal.create({ ...START, id: "a/b" }), {
      type: TypeError,
      message: `The id of a run has 1 to 100 letters, digits and "_.:@-"; found "a/b"`,
    });
  },
  "answers a finished step, in the same process and in the next": (place) => {
    const run = place.journal().create(START);
    assert.deepEqual(run.begin(step("a")), { do: "perform", attempt: 1 });
    place.pass(40);
    run.finish("a", { ok: [1, { b: null }] });
    run.begin(step("b", UNSAFE));
    run.finish("b", { error: { message: "no", code: "failed", flag: "--x" } });
    const answers = [
      { do: "answer", outcome: { ok: [1, { b: null }] }, ms: 40, attempt: 1 },
      { do: "answer", outcome: { error: { message: "no", code: "failed", flag: "--x" } }, ms: 0, attempt: 1 },
    ];
    assert.deepEqual([run.begin(step("a")), run.begin(step("b", UNSAFE))], answers);
    place.alive.set(1, false);
    const next = place.journal({ pid: 2 }).open(run.id);
    assert.equal(next.resumedFrom, "running");
    assert.deepEqual([next.begin(step("a")), next.begin(step("b", UNSAFE))], answers);
  },
  "performs an unfinished step again when it is idempotent, and only then": (place) => {
    const id = died(place);
    const run = place.journal({ pid: 2 }).open(id);
    assert.deepEqual(run.begin(step("safe")), { do: "perform", attempt: 2 });
    assert.deepEqual(run.begin(step("unsafe", UNSAFE)), { do: "unverified", attempt: 1 });
    assert.deepEqual(run.begin(step("unsafe", UNSAFE)), { do: "unverified", attempt: 1 });
    place.alive.set(2, false);
    // The second attempt was not committed: an idempotent start waits for the next commit.
    assert.deepEqual(place.journal({ pid: 3 }).open(id).begin(step("safe")), { do: "perform", attempt: 2 });
  },
  "settles an unverified step: again": (place) => {
    const run = place.journal({ pid: 2 }).open(died(place));
    run.settle("unsafe", "rerun");
    assert.deepEqual(run.begin(step("unsafe", UNSAFE)), { do: "perform", attempt: 2 });
    run.finish("unsafe", { ok: 2 });
    assert.deepEqual(run.begin(step("unsafe", UNSAFE)), {
      do: "answer",
      outcome: { ok: 2 },
      ms: 0,
      attempt: 2,
    });
  },
  "settles an unverified step again after a second death": (place) => {
    const id = died(place);
    const run = place.journal({ pid: 2 }).open(id);
    run.settle("unsafe", "rerun");
    run.begin(step("unsafe", UNSAFE));
    place.alive.set(2, false);
    assert.deepEqual(place.journal({ pid: 3 }).open(id).begin(step("unsafe", UNSAFE)), {
      do: "unverified",
      attempt: 2,
    });
  },
  "settles an unverified step: as done": (place) => {
    const id = died(place);
    const run = place.journal({ pid: 2 }).open(id);
    run.settle("unsafe", { outcome: { ok: "skipped" } });
    place.alive.set(2, false);
    const { do: what, ...answer } = place.journal({ pid: 3 }).open(id).begin(step("unsafe", UNSAFE));
    assert.equal(what, "answer");
    assert.deepEqual({ ...answer, ms: 0 }, { outcome: { ok: "skipped" }, ms: 0, attempt: 1 });
  },
  "settles nothing else": (place) => {
    const run = place.journal({ pid: 2 }).open(died(place));
    fails(() => run.settle("done", "rerun"), {
      type: Error,
      message: `Step "done" has nothing to be settled: its outcome is known`,
    });
    fails(() => run.settle("unsave", "rerun"), {
      type: StepNotFoundError,
      message: `Run "${run.id}" has no step "unsave". Did you mean "unsafe"?`,
    });
    fails(() => run.settle("call:z", "rerun"), {
      type: StepNotFoundError,
      message: `Run "${run.id}" has no step "call:z": it has done, safe, unsafe`,
    });
    run.settle("unsafe", "rerun");
    run.begin(step("unsafe", UNSAFE));
    fails(() => run.settle("unsafe", "rerun"), {
      type: Error,
      message: `Step "unsafe" has nothing to be settled: it is being performed`,
    });
  },
  "keeps what a model has said, piece by piece, each with the start that it led to": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    run.begin(MODEL);
    run.prefix(MODEL.key, { text: "one" });
    run.begin(step("call:a"));
    run.finish("call:a", { ok: 1 });
    run.prefix(MODEL.key, { text: ", two", calls: [] });
    run.prefix(MODEL.key, [", three", null]);
    assert.deepEqual(piecesOf(place, run.id), [{ text: "one" }]);
    run.begin(step("call:b", UNSAFE));
    const kept = [{ text: "one" }, { text: ", two", calls: [] }, [", three", null]];
    assert.deepEqual(piecesOf(place, run.id), kept);
    run.prefix(MODEL.key, { text: "never committed" });
    place.alive.set(1, false);
    const next = place.journal({ pid: 2 }).open(run.id);
    assert.deepEqual(next.begin(MODEL), { do: "perform", attempt: 2, prefix: kept });
    assert.deepEqual(piecesOf(place, run.id), kept);
  },
  "keeps the pieces of another attempt behind those of the one before": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    run.begin(MODEL);
    run.prefix(MODEL.key, 1);
    run.prefix(MODEL.key, 2);
    run.begin(step("call:a", UNSAFE));
    place.alive.set(1, false);
    const second = place.journal({ pid: 2 }).open(run.id);
    assert.deepEqual(second.begin(MODEL), { do: "perform", attempt: 2, prefix: [1, 2] });
    second.prefix(MODEL.key, 3);
    second.begin(step("call:b", UNSAFE));
    second.release("stopped");
    const third = place.journal({ pid: 3 }).open(run.id);
    assert.deepEqual(third.begin(MODEL), { do: "perform", attempt: 3, prefix: [1, 2, 3] });
    third.finish(MODEL.key, { ok: "all" });
    assert.equal(piecesOf(place, run.id), undefined);
    const { do: what, ...answer } = third.begin(MODEL);
    assert.deepEqual([what, answer], ["answer", { outcome: { ok: "all" }, ms: 0, attempt: 3 }]);
  },
  "has no pieces of a step that has ended": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    const other = step("turn[2]/model", { kind: "model", name: "script/x" });
    for (const each of [MODEL, other]) run.begin(each);
    run.prefix(MODEL.key, "committed");
    run.begin(step("call:a", UNSAFE));
    run.prefix(MODEL.key, "waiting");
    run.prefix(other.key, "waiting");
    run.end(other.key, { ok: 2 });
    run.end(MODEL.key, { ok: 1 });
    assert.deepEqual(piecesOf(place, run.id), ["committed"]);
    run.commit();
    assert.deepEqual(
      place.journal().read(run.id).steps.map(({ outcome, prefix }) => [outcome, prefix]),
      [[{ ok: 1 }, undefined], [{ ok: 2 }, undefined], [undefined, undefined]],
    );
    place.alive.set(1, false);
    const next = place.journal({ pid: 2 }).open(run.id);
    assert.deepEqual([next.begin(MODEL).do, next.begin(other).do], ["answer", "answer"]);
  },
  "has no pieces of a step that is taken as done": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    const unsafe = step("said", { ...UNSAFE, kind: "model" });
    run.begin(unsafe);
    run.prefix("said", 1);
    run.commit();
    place.alive.set(1, false);
    const next = place.journal({ pid: 2 }).open(run.id);
    assert.deepEqual(next.begin(unsafe), { do: "unverified", attempt: 1 });
    assert.deepEqual(piecesOf(place, run.id, "said"), [1]);
    next.settle("said", { outcome: { ok: null } });
    assert.equal(piecesOf(place, run.id, "said"), undefined);
  },
  "forks what has begun with its pieces, and leaves those of the source": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    const unsafe = step("said", { ...UNSAFE, kind: "model" });
    for (const each of [MODEL, unsafe]) run.begin(each);
    run.prefix(MODEL.key, "of a step that is asked again");
    run.prefix("said", 1);
    run.prefix("said", 2);
    run.begin(step("call:a", UNSAFE));
    const journal = place.journal({ pid: 2 });
    const fork = journal.open(journal.fork(run.id, { from: "call:a" }));
    assert.deepEqual(journal.read(fork.id).steps.map(({ key, prefix }) => [key, prefix]), [["said", [1, 2]]]);
    fork.settle("said", "rerun");
    assert.deepEqual(fork.begin(unsafe), { do: "perform", attempt: 2, prefix: [1, 2] });
    fork.finish("said", { ok: 1 });
    assert.deepEqual(fork.begin(MODEL), { do: "perform", attempt: 1 });
    assert.deepEqual(piecesOf(place, run.id, "said"), [1, 2]);
    assert.equal(piecesOf(place, fork.id, "said"), undefined);
  },
  "removes the pieces of a run with it": (place) => {
    const journal = place.journal();
    for (const text of ["first", "second"]) {
      const run = journal.create({ ...START, id: "chat:1" });
      assert.deepEqual(run.begin(MODEL), { do: "perform", attempt: 1 });
      run.prefix(MODEL.key, text);
      run.release("stopped");
      assert.deepEqual(piecesOf(place, run.id), [text]);
      journal.remove(run.id);
    }
  },
  "stops a run that wants another input": (place) => {
    const run = place.journal().create(START);
    run.begin(step("call:a", { input: { path: "a/b.txt", options: { depth: 1, all: true } } }));
    run.finish("call:a", { ok: 1 });
    run.begin(step("call:b", UNSAFE));
    const after = ". Go on with what the run was started with, or fork it from this step";
    fails(() => run.begin(step("call:a", { input: { options: { all: true, depth: 2 }, path: "a/b.txt" } })), {
      type: DivergedError,
      message:
        `Step "call:a" is not the one that was recorded: at "/input/options/depth" the record has 1, the run now has 2${after}`,
    });
    fails(
      () =>
        run.begin(
          step("call:a", { name: "WriteFile", input: { path: "a/b.txt", options: { depth: 1, all: true } } }),
        ),
      {
        type: DivergedError,
        message:
          `Step "call:a" is not the one that was recorded: at "/name" the record has "ReadFile", the run now has "WriteFile"${after}`,
      },
    );
    assert.equal(
      run.begin(step("call:a", { input: { options: { all: true, depth: 1 }, path: "a/b.txt" } })).do,
      "answer",
    );
  },
  "compares the input of an unfinished step too": (place) => {
    const run = place.journal({ pid: 2 }).open(died(place));
    const error = assertDiverged(() => run.begin(step("unsafe", { ...UNSAFE, input: { path: "y" } })));
    assert.equal(error.key, "unsafe");
  },
  "refuses to begin what has begun and to finish what has not": (place) => {
    const run = place.journal().create(START);
    run.begin(step("a"));
    fails(() => run.begin(step("a")), {
      type: Error,
      message: `Step "a" has begun already and has not ended`,
    });
    run.finish("a", { ok: 1 });
    fails(() => run.finish("a", { ok: 2 }), {
      type: Error,
      message: `Step "a" has not begun, or has ended already`,
    });
    fails(() => run.prefix("b", 1), { type: Error, message: `Step "b" has not begun, or has ended already` });
  },
  "stores events with the next commit, and not those that pass": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    const tell = teller(run);
    const stored = [
      tell({ type: "run-start", kind: "calls", file: "a.calls" }),
      tell(warning("ä\u2028\ud800")),
      tell({ type: "call-log", invocationId: "a", line: 1, text: "log" }),
    ];
    tell({ type: "call-progress", invocationId: "a", line: 1, done: 1 });
    tell({ type: "text-delta", step: "s", text: "delta" });
    assert.deepEqual(place.journal().read(run.id).events, []);
    run.begin(step("a"));
    run.finish("a", { ok: 1 });
    tell(warning("never committed"));
    place.alive.set(1, false);
    const next = place.journal({ pid: 2 }).open(run.id);
    assert.deepEqual(next.events, stored);
    const last = teller(next)(warning("the end"));
    next.release("done");
    assert.deepEqual(place.journal().read(run.id).events, [...stored, last]);
  },
  "appends what is read once": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    run.file({ path: "-", text: "one " });
    run.file({ path: "-", text: "two " });
    run.begin(step("a", UNSAFE));
    run.file({ path: "-", text: "three" });
    run.finish("a", { ok: 1 });
    run.file({ path: "-", text: "never committed" });
    place.alive.set(1, false);
    const files = place.journal({ pid: 2 }).open(run.id).run.files;
    assert.deepEqual(files, [...START.files ?? [], { path: "-", text: "one two three" }]);
  },
  "lists runs, newest first": (place) => {
    const journal = place.journal();
    const ids = ["done", "held", "stopped", "failed"].map((status) => {
      const run = journal.create({ ...START, kind: status });
      place.pass(status === "held" ? 0 : 5);
      run.begin(step("a"));
      run.finish("a", { ok: 1 });
      if (status === "done") run.release("done", { input: 3, output: 4, cost: 0.5 });
      else if (status === "held") run.release("held");
      else if (status === "failed") run.release("failed");
      return run.id;
    });
    const listed = journal.list();
    assert.deepEqual(listed.map(({ id }) => id), ids.toReversed());
    assert.deepEqual(listed.map(({ status }) => status), ["failed", "running", "held", "done"]);
    assert.deepEqual(listed.map(({ owned }) => owned), [false, true, false, false]);
    assert.deepEqual(listed.at(-1)?.usage, { input: 3, output: 4, cost: 0.5 });
    assert.deepEqual(journal.list({ limit: 2 }).map(({ id }) => id), ids.toReversed().slice(0, 2));
    assert.deepEqual(journal.list({ status: "held" }).map(({ id }) => id), [ids[1]]);
    const { updatedAt, startedAt, ...first } = listed[0] ?? {};
    assert.deepEqual(first, {
      id: ids[3],
      kind: "failed",
      file: "a.calls",
      status: "failed",
      owned: false,
      steps: 1,
      usage: { input: 0, output: 0 },
    });
    assert.equal((updatedAt ?? 0) - (startedAt ?? 0), 5);
    place.alive.set(1, false);
    assert.equal(place.journal({ pid: 2 }).list({ status: "running" })[0]?.owned, false);
  },
  "lists runs as they stand: one whose process died is stopped": (place) => {
    const journal = place.journal();
    const begun = (pid: number, status?: "done" | "stopped"): string => {
      const run = place.journal({ pid }).create(START);
      if (status !== undefined) run.release(status);
      return run.id;
    };
    const [done, stopped, dead, alive, deadToo, aliveToo] = [
      begun(1, "done"),
      begun(1, "stopped"),
      begun(2),
      begun(1),
      begun(2),
      begun(1),
    ];
    place.alive.set(2, false);
    const listed = (query: Parameters<typeof journal.list>[0]) => journal.list(query).map(({ id }) => id);
    assert.deepEqual(listed({ standing: "running" }), [aliveToo, alive]);
    assert.deepEqual(listed({ standing: "running", limit: 1 }), [aliveToo]);
    assert.deepEqual(listed({ standing: "stopped" }), [deadToo, dead, stopped]);
    for (const limit of [0, 1, 2, 3, 4]) {
      assert.deepEqual(listed({ standing: "stopped", limit }), [deadToo, dead, stopped].slice(0, limit));
    }
    assert.deepEqual(listed({ standing: "done", limit: 5 }), [done]);
    assert.deepEqual(listed({ standing: "held" }), []);
    assert.deepEqual(listed({ standing: "stopped", status: "running" }), [deadToo, dead]);
    assert.deepEqual(listed({ standing: "stopped", status: "done" }), []);
    assert.deepEqual(listed({ standing: "stopped", kind: START.kind, file: "a.calls", limit: 2 }), [
      deadToo,
      dead,
    ]);
    assert.deepEqual(listed({ standing: "stopped", kind: "chat" }), []);
  },
  "reads steps in the order of their starts": (place) => {
    const run = place.journal().create(START);
    run.begin(step("z"));
    place.pass(7);
    run.begin(step("a", { kind: "http", name: "GET x", input: null }));
    place.pass(1);
    run.finish("a", { ok: 1 });
    run.begin(step("m", UNSAFE));
    const { steps, summary } = place.journal().read(run.id);
    assert.equal(summary.steps, 3);
    assert.deepEqual(steps, [
      { ...step("z"), status: "started", startedAt: 0, attempt: 1 },
      {
        ...step("a", { kind: "http", name: "GET x", input: null }),
        status: "finished",
        outcome: { ok: 1 },
        startedAt: 7,
        endedAt: 8,
        attempt: 1,
      },
      { ...step("m", UNSAFE), status: "started", startedAt: 8, attempt: 1 },
    ]);
  },
  "counts the run's own time only": (place) => {
    const run = place.journal().create(START);
    place.pass(100);
    run.release("stopped");
    place.pass(100_000);
    const next = place.journal().open(run.id);
    place.pass(10);
    next.begin(step("a"));
    next.finish("a", { ok: 1 });
    assert.equal(place.journal().read(run.id).steps[0]?.startedAt, 110);
  },
  "finds a run by the beginning of its id": (place) => {
    const journal = place.journal();
    fails(() => journal.open("abcd"), {
      type: RunNotFoundError,
      message: `There is no run "abcd": none is kept here yet`,
    });
    for (const id of ["0123aa", "0123ab", "zzzz9"]) journal.create({ ...START, id }).release("stopped");
    assert.equal(journal.read("0123aa").summary.id, "0123aa");
    assert.equal(journal.read("zzzz").summary.id, "zzzz9");
    assert.equal(journal.read(" OL23AB ").summary.id, "0123ab");
    fails(() => journal.read("0123"), {
      type: RunNotFoundError,
      message: `2 runs begin with "0123": 0123aa, 0123ab. Give more of the id`,
    });
    fails(() => journal.read("zzz"), {
      type: RunNotFoundError,
      message: `There is no run "zzz"; a beginning of an id needs at least 4 characters`,
    });
    fails(() => journal.open("0123aaa"), {
      type: RunNotFoundError,
      message: `There is no run "0123aaa". Did you mean "0123aa"?`,
    });
    fails(() => journal.fork("zz", { from: "a" }), {
      type: RunNotFoundError,
      message: `There is no run "zz"; a beginning of an id needs at least 4 characters`,
    });
    fails(() => journal.remove("qqqqqqqq"), {
      type: RunNotFoundError,
      message: `There is no run "qqqqqqqq"; "orrery runs" lists those there are`,
    });
  },
  "does not go on with a run that is over": (place) => {
    const journal = place.journal();
    for (const [status, words] of [["done", "is done"], ["failed", "has failed"]] as const) {
      const run = journal.create(START);
      run.release(status);
      fails(() => journal.open(run.id), {
        type: RunEndedError,
        message:
          `Run "${run.id}" ${words}, so it cannot go on: "orrery fork ${run.id} --from KEY" makes a new run of what came before one of its steps` +
          (status === "done" ? `; "orrery resume ${run.id} -o FILE" writes its value` : ""),
      });
    }
  },
  "has nothing more to do with a run that it released": (place) => {
    const run = place.journal().create(START);
    run.release("held");
    run.release("done");
    assert.equal(place.journal().read(run.id).summary.status, "held");
    const message = `Run "${run.id}" was released: open it again to go on`;
    fails(() => run.begin(step("a")), { type: Error, message });
    fails(() => run.tell({ ...warning("x"), seq: 1, at: 1, run: run.id }), { type: Error, message });
  },
  "gives a run to one process": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    place.pass(5_000);
    fails(() => place.journal({ pid: 2 }).open(run.id), {
      type: RunOwnedError,
      message:
        `Run "${run.id}" is being run by process 1 on this host since 2025-11-21 12:00:00 UTC: wait until it has ended, or end it (kill 1)`,
    });
    fails(() => place.journal({ pid: 1 }).open(run.id), {
      type: RunOwnedError,
      message:
        `Run "${run.id}" is being run by this process (1) since 2025-11-21 12:00:00 UTC: it can be opened again when that has ended`,
    });
    fails(() => place.journal({ pid: 2 }).remove(run.id), { type: RunOwnedError, message: /kill 1/ });
    run.release("stopped");
    place.journal({ pid: 2 }).open(run.id).release("stopped");
  },
  "frees a run of a dead process of this host at once": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    place.alive.set(1, false);
    assert.equal(place.journal({ pid: 2 }).open(run.id).resumedFrom, "running");
  },
  "waits 30 s for a process that cannot be looked for": (place) => {
    for (const owner of [{ pid: 7, host: "there" }, { pid: 8, host: "here" }]) {
      const run = place.journal(owner).create(START);
      place.alive.set(8, undefined);
      // It gives signs of life, however long.
      place.pass(100_000);
      const where = owner.host === "here" ? "this host" : `host "there"`;
      fails(() => place.journal({ pid: 2 }).open(run.id), {
        type: RunOwnedError,
        message: new RegExp(
          `process ${owner.pid} on ${where} since .* UTC, last heard of \\d+ s ago: wait until it has ended, or end it; if it is gone already, the run is free in \\d+ s$`,
        ),
      });
      run.release("stopped");
    }
    const silent = place.journal({ pid: 9, host: "there" }).create(START);
    place.alive.set(9, false);
    place.pass(29_000);
    assert.throws(() => place.journal({ pid: 2 }).open(silent.id), RunOwnedError);
    place.pass(1_000);
    assert.equal(place.journal({ pid: 2 }).open(silent.id).resumedFrom, "running");
  },
  "keeps nothing more for a process that has lost its run": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    run.begin(step("a"));
    place.alive.set(1, false);
    const other = place.journal({ pid: 2 }).open(run.id);
    const message =
      `Run "${run.id}" was taken over by process 2 on host "here" while this process gave no sign of life: nothing more of it is kept here`;
    fails(() => run.finish("a", { ok: "late" }), { type: RunOwnedError, message });
    fails(() => run.begin(step("b")), { type: RunOwnedError, message });
    assert.deepEqual(other.begin(step("a")), { do: "perform", attempt: 1 });
    other.finish("a", { ok: "in time" });
    assert.deepEqual(place.journal().read(run.id).steps[0]?.outcome, { ok: "in time" });
  },
  "notices between two commits that a run was lost": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    place.alive.set(1, false);
    place.journal({ pid: 2 }).open(run.id);
    place.alive.set(1, true);
    place.pass(20_000);
    assert.throws(() => run.tell({ ...warning("x"), seq: 1, at: 1, run: run.id }), RunOwnedError);
  },
  "forks a run before a step": (place) => {
    const run = place.journal().create(START);
    const tell = teller(run);
    const told = [tell({ type: "run-start", kind: "calls" })];
    run.begin(step("a"));
    run.begin(step("slow"));
    run.finish("a", { ok: 1 });
    told.push(tell({ type: "usage", step: "m", model: "x/y", input: 10, output: 5, cost: 1 }));
    run.begin(step("b", UNSAFE));
    tell(warning("after b began"));
    run.finish("slow", { ok: 2 });
    run.finish("b", { ok: 3 });
    run.release("done", { input: 20, output: 9 });
    place.pass(1000);
    const journal = place.journal({ pid: 2 });
    const id = journal.fork(run.id, { from: "b" });
    assert.notEqual(id, run.id);
    const { summary, run: start, steps, events } = journal.read(id);
    assert.deepEqual(start, { ...START, id });
    assert.deepEqual([summary.status, summary.owned, summary.steps], ["stopped", false, 1]);
    assert.deepEqual(summary.usage, { input: 10, output: 5, cost: 1 });
    assert.deepEqual(steps.map(({ key }) => key), ["a"]);
    assert.deepEqual(events, told.map((event) => ({ ...event, run: id })));
    const fork = journal.open(id);
    assert.equal(fork.begin(step("a")).do, "answer");
    assert.deepEqual(fork.begin(step("b", { ...UNSAFE, input: "another" })), { do: "perform", attempt: 1 });
    assert.deepEqual(fork.begin(step("slow")), { do: "perform", attempt: 1 });
    fork.finish("b", { ok: 4 });
    assert.deepEqual(journal.read(run.id).steps.map(({ outcome }) => outcome), [{ ok: 1 }, { ok: 2 }, {
      ok: 3,
    }]);
  },
  "forks a fork, and names the nearest key": (place) => {
    const journal = place.journal();
    const run = journal.create(START);
    for (const key of ["call:fetch", "call:write"]) {
      run.begin(step(key));
      run.finish(key, { ok: key });
    }
    run.release("failed");
    const second = journal.fork(journal.fork(run.id, { from: "call:write" }), { from: "call:fetch" });
    assert.deepEqual(journal.read(second).steps, []);
    fails(() => journal.fork(run.id, { from: "call:fech" }), {
      type: StepNotFoundError,
      message: `Run "${run.id}" has no step "call:fech". Did you mean "call:fetch"?`,
    });
    fails(() => journal.fork(second, { from: "x" }), {
      type: StepNotFoundError,
      message: `Run "${second}" has no step "x": none was begun`,
    });
  },
  "removes a run and leaves the others": (place) => {
    const journal = place.journal();
    const [run, other] = [journal.create(START), journal.create(START)];
    for (const each of [run, other]) {
      each.begin(step("a"));
      each.finish("a", { ok: 1 });
      each.release("stopped");
    }
    journal.remove(run.id);
    assert.throws(() => journal.read(run.id), RunNotFoundError);
    assert.deepEqual(journal.read(other.id).run.files, START.files);
    assert.equal(journal.read(other.id).steps.length, 1);
    assert.equal(journal.create({ ...START, id: run.id }).begin(step("a")).do, "perform");
  },
  "masks secrets in everything it keeps": (place) => {
    const secrets = createSecrets();
    secrets.add("KEY", "s3cr3t/value");
    const journal = place.journal({ secrets });
    const text = "is s3cr3t/value";
    const run = journal.create({
      kind: "calls",
      file: text,
      files: [{ path: text, text }],
      input: { [text]: text },
    });
    run.tell({ ...warning(text), seq: 1, at: 1, run: run.id });
    run.file({ path: "-", text });
    const begun = step(`call:${text}`, { kind: "model", name: text, input: [text], idempotent: true });
    run.begin(begun);
    run.prefix(begun.key, { text });
    run.begin(step("b", { ...UNSAFE, input: text }));
    const during = journal.read(run.id);
    assert.deepEqual(during.steps[0]?.prefix, [{ text: "is [secret KEY]" }]);
    run.finish(begun.key, { ok: text });
    run.finish("b", { error: { message: text } });
    assert.deepEqual(run.begin(begun), {
      do: "answer",
      outcome: { ok: "is [secret KEY]" },
      ms: 0,
      attempt: 1,
    });
    assert.ok(!JSON.stringify([run.run, during, journal.read(run.id), journal.list()]).includes("s3cr3t"));
    run.release("stopped");
    const fork = journal.fork(run.id, { from: begun.key });
    assert.equal(journal.read(fork).steps.length, 0);
  },
  "stops the runs that are left when it is disposed of": (place) => {
    let id = "";
    {
      using journal = place.journal();
      const run = journal.create(START);
      run.tell({ ...warning("the last"), seq: 1, at: 1, run: run.id });
      id = run.id;
    }
    const { summary, events } = place.journal().read(id);
    assert.deepEqual([summary.status, summary.owned, events.length], ["stopped", false, 1]);
  },
};

/** What a kind of place does not do, and why. */
const SKIPPED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "SQLite, opened anew": {
    "stops the runs that are left when it is disposed of":
      "each run has a journal of its own there, which is disposed of when the run is released",
  },
};

function assertDiverged(work: () => unknown): DivergedError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof DivergedError);
    return error;
  }
  throw new Error("nothing was thrown");
}

for (const [kind, inPlace] of Object.entries(PLACES)) {
  for (const [what, check] of Object.entries(CONTRACT)) {
    if (SKIPPED[kind]?.[what] === undefined) Deno.test(`${kind}: ${what}`, () => inPlace(check));
  }
}

Deno.test("every test that is skipped is one of the contract", () => {
  for (const skipped of Object.values(SKIPPED)) {
    for (const what of Object.keys(skipped)) assert.ok(CONTRACT[what], what);
  }
});

// Whatever is done, in whatever order, memory and SQLite say the same.

type Action =
  | { readonly do: "create" | "open" | "dies" | "remove" | "read" }
  | {
    readonly do: "begin" | "finish" | "prefix" | "settle" | "rerun" | "fork";
    readonly key: number;
    readonly value: number;
  }
  | { readonly do: "tell" | "file"; readonly value: number }
  | { readonly do: "release"; readonly value: number }
  | { readonly do: "save" | "messages" | "branch"; readonly value: number };

const key = fc.nat({ max: 4 });
const value = fc.nat({ max: 1 });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("create", "open", "dies", "remove", "read") }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("begin", "finish", "prefix", "settle", "rerun", "fork"),
      key,
      value,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("tell", "file"), value }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("release"), value: fc.nat({ max: 4 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("save", "messages", "branch"), value: fc.nat({ max: 3 }) }),
  },
);

/** Steps with an even key are idempotent; nearly all have the same input each time. */
function stepOf({ key, value }: { readonly key: number; readonly value: number }): StepStart {
  const input: StepStart["input"] = key === 4 ? { value } : { a: [key], b: "x" };
  return { key: `call:${key}`, kind: "gadget", name: "X", input, idempotent: key % 2 === 0 };
}

/** Saves so many messages; their numbers are wrong when the count is 3. */
function save(run: RunJournal, count: number): void {
  const length = run.messages().length + (count === 3 ? 1 : 0);
  run.save({
    state: { length },
    messages: Array.from({ length: count }, (_, index) => ({
      n: length + index + 1,
      who: "user",
      text: `${index}`,
      steps: [],
    })),
    slots: [{ user: "u", name: `${count}`, value: length }],
  });
}

/** Does all of it in a place; gives what was said. */
function played(place: Place, actions: readonly Action[]): readonly unknown[] {
  let pid = 1;
  let seq = 0;
  let run: RunJournal | undefined;
  let journal: Journal = place.journal({ pid });
  const perform = (action: Action): unknown => {
    switch (action.do) {
      case "create":
        run = journal.create({
          kind: "calls",
          id: "the-run",
          input: { n: 1 },
          files: [{ path: "f", text: "f" }],
        });
        return run.run;
      case "open":
        run = journal.open("the-run");
        return [run.run, run.checkpoint, run.events, run.lastSeq, run.lastAt, run.usage, run.resumedFrom];
      case "dies":
        place.alive.set(pid, false);
        run = undefined;
        journal = place.journal({ pid: ++pid });
        return pid;
      case "remove":
        return journal.remove("the-run");
      case "read":
        return [journal.read("the-run"), journal.list().length, journal.slots({ user: "u" })];
      case "begin":
        return run?.begin(stepOf(action));
      case "finish":
        return run?.finish(
          `call:${action.key}`,
          action.value === 0 ? { ok: action.key } : { error: { message: "no" } },
        );
      case "prefix":
        return run?.prefix(`call:${action.key}`, { said: action.value });
      case "settle":
        return run?.settle(`call:${action.key}`, { outcome: { ok: "settled" } });
      case "rerun":
        return run?.settle(`call:${action.key}`, "rerun");
      case "fork": {
        const { summary: _, ...fork } = journal.read(journal.fork("the-run", { from: `call:${action.key}` }));
        const { messages, checkpoints } = fork;
        const events = fork.events.map((event) => ({ ...event, run: "" }));
        return [{ ...fork.run, id: "" }, fork.steps, events, messages, checkpoints];
      }
      case "branch": {
        const { summary: { status, steps, usage }, ...branch } = journal.read(
          journal.branch("the-run", { turn: action.value }),
        );
        const events = branch.events.map((event) => ({ ...event, run: "" }));
        return [status, steps, usage, { ...branch, run: { ...branch.run, id: "" }, events }];
      }
      case "save":
        return run === undefined ? undefined : save(run, action.value);
      case "messages":
        return run === undefined
          ? undefined
          : [run.messages({ from: action.value + 1, last: 2 }), run.slots({ user: "u" })];
      case "tell":
        return run?.tell({ type: "warning", text: `${action.value}`, seq: ++seq, at: seq, run: run.id });
      case "file":
        return run?.file({ path: "-", text: `${action.value}` });
      case "release":
        return run?.release(
          (["stopped", "held", "stopped", "held", "done"] as const)[action.value] ?? "failed",
        );
      default:
        return action satisfies never;
    }
  };
  return actions.map((action) => {
    place.pass(3);
    try {
      return perform(action) ?? null;
    } catch (error) {
      assert.ok(error instanceof Error);
      return `${error.name}: ${error.message}`;
    }
  });
}

function playedIn(kind: string, actions: readonly Action[]): readonly unknown[] {
  let said: readonly unknown[] = [];
  PLACES[kind]?.((place) => said = played(place, actions));
  return said;
}

Deno.test("property: memory and SQLite say the same, whatever is done", () => {
  const scene = fc.array(action, { minLength: 5, maxLength: 40 });
  fc.assert(
    fc.property(scene, (actions) => {
      const all: readonly Action[] = [{ do: "create" }, ...actions, { do: "read" }];
      assert.deepEqual(playedIn("SQLite", all), playedIn("memory", all));
    }),
    { numRuns: 100 },
  );
});

// A run's events from a place on are found without reading the rest; journal_events_test.ts says which they are.

/** A store that counts how many lists of events, and how much of them, were read. */
function counted(
  store: JournalStore,
): { readonly store: JournalStore; read: { lists: number; chars: number } } {
  const read = { lists: 0, chars: 0 };
  const note = (texts: readonly string[]): void => {
    read.lists += texts.length;
    for (const text of texts) read.chars += text.length;
  };
  return {
    read,
    store: {
      ...store,
      events(id, after) {
        const lists = store.events(id, after);
        note(lists);
        return lists;
      },
      eventList(id, n) {
        const list = store.eventList(id, n);
        note(list === undefined ? [] : [list]);
        return list;
      },
    },
  };
}

/** How many events are told between two commits. */
for (const atOnce of [1, 30, 12_000]) {
  Deno.test(`of 12,000 events in commits of ${atOnce}, few are read to find a place`, () => {
    const { store, read } = counted(memoryStore());
    const journal = journalOver(store);
    const run = journal.create(START);
    const tell = teller(run);
    for (let n = 1; n <= 12_000; n++) {
      tell({ type: "warning", text: "w".repeat(100) });
      if (n % atOnce === 0) run.commit();
    }
    run.release("stopped");
    const forked = journalOver(store).fork(run.id, { from: last(journal, run.id) });
    for (const id of [run.id, forked]) {
      read.lists = read.chars = 0;
      const part = journal.events(id, { after: 11_000, limit: 50 });
      assert.deepEqual([part.length, part[0]?.seq], [50, 11_001]);
      assert.ok(read.lists <= 70 && read.chars < 400_000, `${read.lists} lists, ${read.chars} characters`);
    }
  });
}

/** The key of a step behind everything that was told. */
function last(journal: Journal, id: string): string {
  const run = journal.open(id);
  run.begin({ key: "last", kind: "read", name: "X", input: null, idempotent: true });
  run.finish("last", { ok: 1 });
  run.release("stopped");
  return "last";
}
