// What the pages of a run and `orrery trace` make of its events, however they came: the state of a page, rows, trees, and two runs beside each other.
import fc from "fast-check";
import assert from "node:assert/strict";
import { type PageFrame, RunState, stepName } from "../lib/browser/run_state.ts";
import { isNested } from "../lib/render/rows.ts";
import { comparedRows } from "../lib/render/trace/compare.ts";
import { fairShare, htmlBytes, limitedRows } from "../lib/render/trace/limit.ts";
import { tracePage, type TraceRow } from "../lib/render/trace/page.ts";
import { traceTree } from "../lib/render/trace/tree.ts";
import { RunHistory } from "../lib/service/runs/history.ts";
import { type RunEvent, type RunTrace, type StepRecord } from "../mod.ts";
import { testProject } from "./_project.ts";
import { CALLS_RUN, CONVERSATION_RUN, DOCUMENT_RUN, recorded } from "./_recorded_runs.ts";

const RUNS = { calls: CALLS_RUN, document: DOCUMENT_RUN, conversation: CONVERSATION_RUN };

function stateOf(events: readonly RunEvent[]): RunState {
  const state = new RunState();
  for (const event of events) state.take({ event });
  return state;
}

/** What a page shows. Texts on their way are by step: which of two began first is nobody's business. */
function shown(state: RunState): unknown {
  const { rows, open, asks, ...rest } = state;
  return {
    ...rest,
    rows: rows.all,
    tally: rows.tally,
    open: [...open].sort(([a], [b]) => a < b ? -1 : 1),
    asks: [...asks],
  };
}

Deno.test("page state: a call file", () => {
  const state = stateOf(CALLS_RUN);
  assert.equal(state.kind, "calls");
  assert.equal(state.status, "failed");
  assert.deepEqual(state.rows.calls.map(({ call, state }) => [call?.id, state]), [
    ["north", "done"],
    ["south", "failed"],
    ["sum", "skipped"],
  ]);
  assert.equal(state.open.get("source")?.text, "Two regions.\n\nAnd a sum.\n");
  assert.equal(state.end?.error, "a call failed");
});

Deno.test("page state: what was stopped runs again when it goes on", () => {
  const { at, run, seq } = CALLS_RUN.at(-1) ?? { at: 0, run: "", seq: 0 };
  const before = CALLS_RUN.slice(0, -1);
  const state = stateOf([...before, {
    type: "run-end",
    status: "stopped",
    usage: { input: 0, output: 0 },
    at,
    run,
    seq,
  }]);
  assert.equal(state.status, "stopped");
  state.take({ event: { type: "warning", text: "resumed", at, run, seq: seq + 1 } });
  assert.deepEqual([state.status, state.end], ["running", undefined]);
});

Deno.test("page state: a document grows, and its model's text is whole at the end", () => {
  const state = stateOf(DOCUMENT_RUN);
  assert.deepEqual(state.texts.map(({ step, text, isOwn }) => [step, text, isOwn]), [
    ["op[4]/turn[1]/model", "", false],
    ["op[4]/turn[2]/model", "Two updates.\n", false],
  ]);
  assert.deepEqual(state.merges.map(({ mode, inserted }) => [mode, inserted]), [
    ["append", "# Note\nlamp 4"],
    ["replace", "# Facts\nTwo updates."],
  ]);
  assert.equal(state.open.size, 0);
  assert.deepEqual(state.rows.all.filter(isNested).map(({ name, state, depth }) => [name, state, depth]), [
    ["@llm plan.md:4", "done", 0],
    ["ReadFile", "done", 1],
    ["@return plan.md:9", "done", 0],
  ]);
  assert.deepEqual(state.rows.tally.usage, { input: 210, output: 34, cost: 0.003 });
});

Deno.test("page state: what a conversation says is told from what its steps say", () => {
  const state = stateOf(CONVERSATION_RUN);
  assert.deepEqual(state.texts.filter(({ isOwn }) => isOwn).map(({ n, text }) => [n, text]), [
    [1, "Which bikes?"],
    [3, "Two city bikes, then."],
  ]);
  assert.deepEqual(state.texts.filter(({ n }) => n === 0).map(({ text }) => text), ['{"number":2}']);
  assert.equal(state.status, "held");
});

Deno.test("page state: a text on its way is void when its step begins again", () => {
  const step = "turn[1]/model";
  const state = stateOf(recorded([
    { type: "run-start", kind: "ask" },
    { type: "step-start", key: step, kind: "model", name: "m", attempt: 1 },
    { type: "text-delta", step, text: "Half of" },
    { type: "step-start", key: step, kind: "model", name: "m", attempt: 2 },
    { type: "text-delta", step, text: "All" },
  ]));
  assert.equal(state.open.get(step)?.text, "All");
});

Deno.test("page state: questions are open until they are answered, however often they are told", () => {
  const state = new RunState();
  const ask = { ask: "a1", kind: "question", question: "Which?", choices: ["a", "b"] } as const;
  assert.equal(state.take({ ask }), true);
  assert.equal(state.take({ ask }), false);
  assert.deepEqual([...state.asks.values()], [ask]);
  assert.equal(state.take({ answered: "a1" }), true);
  assert.equal(state.take({ answered: "a1" }), false);
  assert.equal(state.asks.size, 0);
});

Deno.test("page state: a gap is told once, and what comes behind it counts", () => {
  const state = new RunState();
  assert.equal(state.take({ gap: 3 }), true);
  assert.equal(state.take({ gap: 3 }), false);
  assert.equal(state.lastSeq, 3);
  for (const event of CALLS_RUN) state.take({ event });
  assert.equal(state.status, "failed");
  assert.deepEqual(state.notes, [{
    at: 0,
    kind: "gap",
    text: "What came before event 3 is not held any more",
  }]);
});

for (const [name, events] of Object.entries(RUNS)) {
  Deno.test(`page state: however the stream of a ${name} run is cut, it is the same`, () => {
    const whole = shown(stateOf(events));
    const drop = fc.record({
      /** How many events have been told when the reader comes. */
      told: fc.integer({ min: 0, max: events.length }),
      /** How many frames it gets before it is cut off. */
      frames: fc.integer({ min: 0, max: events.length }),
      /** How much comes in one piece: deltas are joined as far as it goes. */
      maxBytes: fc.integer({ min: 1, max: 2000 }),
    });
    fc.assert(fc.property(fc.array(drop, { maxLength: 8 }), (drops) => {
      const state = new RunState();
      const inOrder = [...drops].sort((a, b) => a.told - b.told);
      for (const { told, frames, maxBytes } of inOrder) {
        const pieces = served(events.slice(0, told), { after: state.lastSeq, maxBytes });
        for (const frame of pieces.slice(0, frames)) state.take(frame);
      }
      for (const frame of served(events, { after: state.lastSeq, maxBytes: 100 })) state.take(frame);
      assert.deepEqual(shown(state), whole);
    }));
  });
}

/** What a server sends to a reader that has seen the events up to `after`. */
function served(
  told: readonly RunEvent[],
  { after, maxBytes }: { readonly after: number; readonly maxBytes: number },
): readonly PageFrame[] {
  const history = new RunHistory();
  for (const event of told) history.push(event);
  const frames: PageFrame[] = [];
  for (let last = after;;) {
    const part = history.behind(last, { maxBytes });
    if (part.events.length === 0) return frames;
    frames.push(...part.events.map((event) => ({ event })));
    last = part.last;
  }
}

Deno.test("page state: it says whether an event is new", () => {
  const [event] = recorded([{ type: "warning", text: "careful", file: "a.md", line: 2 }]);
  assert.ok(event);
  const state = new RunState();
  assert.equal(state.take({ event }), true);
  assert.equal(state.take({ event }), false);
  assert.deepEqual(state.notes.map(({ text }) => text), ["a.md:2: careful"]);
});

Deno.test("a text outside of any operation is named by its turn, in words", () => {
  const state = new RunState();
  const names = ["dialog[1]/turn[2]/model", "dialog[3]/turn[1]/model", "call:sum"].map((step) =>
    stepName(step, state)
  );
  assert.deepEqual(names, ["turn 2", "dialog 3, turn 1", "call:sum"]);
});

// The timeline of a run: rows of what was told and what was kept, cut to what a page may hold, and two of them beside each other.

function traceOf(
  events: readonly RunEvent[],
  { steps = [], kind = "calls", owned = false }: {
    readonly steps?: readonly StepRecord[];
    readonly kind?: string;
    readonly owned?: boolean;
  } = {},
): RunTrace {
  return {
    summary: {
      id: "run1",
      kind,
      status: "done",
      owned,
      startedAt: 0,
      updatedAt: 0,
      steps: steps.length,
      usage: { input: 210, output: 34, cost: 0.003 },
    },
    run: { kind, input: null },
    steps,
    events,
    messages: [],
    checkpoints: [],
  };
}

function step(key: string, given: Partial<StepRecord> = {}): StepRecord {
  return {
    key,
    kind: "gadget",
    name: "ReadFile",
    input: { path: "a.md" },
    idempotent: true,
    status: "finished",
    outcome: { ok: "text" },
    startedAt: 1,
    endedAt: 2,
    attempt: 1,
    ...given,
  };
}

/** `state kind name`, indented by depth. */
function outline(rows: readonly TraceRow[]): readonly string[] {
  return rows.map(({ depth, state, kind, name }) => `${"  ".repeat(depth)}${state} ${kind} ${name}`);
}

function rowNamed(rows: readonly TraceRow[], name: string): TraceRow {
  const row = rows.find((each) => each.name === name);
  assert.ok(row, `no row ${name} in ${outline(rows).join(", ")}`);
  return row;
}

Deno.test("trace page: calls in the order in which they began, with what they gave or why they did not", () => {
  const { rows, counts, ms } = tracePage(
    traceOf(CALLS_RUN, { steps: [step("call:north", { outcome: { ok: { revenue: 18 } } })] }),
  );
  assert.deepEqual(outline(rows), [
    "done gadget ReadFile",
    "failed gadget ReadFile",
    "skipped gadget Calculate",
  ]);
  assert.deepEqual(rows.map(({ key, label, at, ms }) => [key, label, at, ms]), [
    ["call:north", "call:north", 30, 80],
    ["call:south", "call:south", 50, 70],
    ["call:sum", "call:sum", 90, undefined],
  ]);
  assert.deepEqual(rows[0]?.values.map(({ title, side, text }) => [title, side, text]), [
    ["input", "in", '{\n  "path": "a.md"\n}'],
    ["output", "out", '{\n  "revenue": 18\n}'],
    ["log", "note", "opened"],
  ]);
  assert.deepEqual(rows[1]?.values.map(({ title, text }) => [title, text]), [[
    "error",
    "south.json is not there",
  ]]);
  assert.deepEqual(rows[2]?.values.map(({ title, text }) => [title, text]), [
    ["error", "south has failed"],
    ["waits for", "north, south"],
  ]);
  assert.deepEqual(counts, { answers: 0, calls: 3, failed: 1, skipped: 1 });
  assert.equal(ms, 140);
});

Deno.test("trace page: a document is a tree, turns are groups, tokens and cost are summed upwards", () => {
  const { rows } = tracePage(traceOf(DOCUMENT_RUN, {
    kind: "document",
    steps: [
      step("op[4]/turn[1]/model", {
        kind: "model",
        name: "script/a.yml",
        input: {
          messages: [{ role: "system", content: "Be short." }, { role: "user", content: "Look." }],
          about: { tools: ["ReadFile"], stop: [], temperature: null },
        },
        outcome: {
          ok: { text: "", calls: [{ name: "ReadFile", arguments: '{"path":"a"}' }], finish: "calls" },
        },
      }),
      step("op[4]/turn[1]/call:call_1"),
      step("op[4]/turn[2]/model", {
        kind: "model",
        name: "script/a.yml",
        outcome: { ok: { text: "Two updates.\n" } },
      }),
    ],
  }));
  assert.deepEqual(outline(rows), [
    "done step @llm plan.md:4",
    "  done group turn 1",
    "    done model script/a.yml",
    "    done gadget ReadFile",
    "  done group turn 2",
    "    done model script/a.yml",
    "done step @return plan.md:9",
  ]);
  assert.deepEqual(rows.map(({ below }) => below), [5, 2, 0, 0, 1, 0, 0]);
  assert.deepEqual(rowNamed(rows, "@llm plan.md:4").usage, { input: 210, output: 34, cost: 0.003 });
  assert.deepEqual(rowNamed(rows, "turn 1").usage, { input: 90, output: 12, cost: 0.001 });
  assert.deepEqual(rows[2]?.values.map(({ title, side, text }) => [title, side, text]), [
    ["system", "in", "Be short."],
    ["user", "in", "Look."],
    ["request", "in", '{\n  "tools": [\n    "ReadFile"\n  ]\n}'],
    ["call ReadFile", "out", '{\n  "path": "a"\n}'],
  ]);
  assert.deepEqual(rows[3]?.values.at(-1), {
    title: "appended to itself",
    side: "note",
    text: "# Note\nlamp 4",
    isJson: false,
  });
  const [group, model] = [rows[1], rows[2]];
  assert.equal(group?.at, model?.at);
});

Deno.test("trace page: a conversation has a row for each turn, with what the person said", () => {
  const said = (key: string, text?: string): StepRecord =>
    step(key, {
      kind: "ask",
      name: "user",
      input: null,
      outcome: { ok: text === undefined ? { slots: {} } : { text, slots: {} } },
    });
  const { rows } = tracePage(traceOf(CONVERSATION_RUN, {
    kind: "conversation",
    steps: [
      said("turn[1]"),
      said("turn[2]", "Two city bikes"),
      // Its commit came so late that by its time it would be in another turn
      step("main/find/read", { kind: "read", name: "bikes.md", startedAt: 5, endedAt: 6 }),
      step("main/find/model", {
        kind: "model",
        name: "script/b.yml",
        outcome: { ok: { text: '{"number":2}' } },
      }),
    ],
  }));
  assert.deepEqual(outline(rows), [
    "done turn turn 1",
    "  done step welcome",
    "  note hold welcome",
    "done turn turn 2",
    "  done step find",
    "    done read bikes.md",
    "    done model script/b.yml",
    "  skipped skip give-up",
    "  note jump find \u2192 read-back",
    "  done step read-back",
    "  note hold read-back",
  ]);
  assert.deepEqual(rows[3]?.values[0], { title: "user", side: "in", text: "Two city bikes", isJson: false });
  assert.deepEqual(rowNamed(rows, "find").values.map(({ title, text }) => [title, text]), [
    ["output", '{\n  "action": "continue"\n}'],
    ["conversation.number", "2"],
  ]);
  assert.deepEqual(rowNamed(rows, "give-up").values[0]?.text, "conversation.rounds greater-than 3");
});

Deno.test("trace page: a call that waits for a person says so, and what they think about is not its time", () => {
  const place = { invocationId: "a", line: 1 } as const;
  const asked = {
    step: "call:a",
    subject: "run make",
    permissions: ["--allow-run=make"],
    reason: "why",
  } as const;
  const events = recorded([
    { type: "call-open", ...place, gadgetName: "RunCommand", dependencies: [] },
    { type: "call-run", ...place },
    { type: "permission-ask", ...asked },
    { type: "permission-answer", allowed: true, ...asked },
    { type: "call-result", ...place, result: 1 },
  ]).map((event, index) => ({ ...event, at: [0, 10, 30, 930, 935][index] ?? 0 }));
  const row = (until: number) => tracePage(traceOf(events.slice(0, until), { owned: true })).rows[0];
  assert.equal(row(3)?.state, "waits for you");
  assert.equal(row(4)?.state, "running");
  assert.deepEqual([row(5)?.state, row(5)?.ms], ["done", 25]);
});

Deno.test("trace page: what has not ended runs while its process lives, and is stopped after that", () => {
  const events = recorded([{ type: "run-start", kind: "calls" }]);
  const open = (idempotent: boolean, owned: boolean): string | undefined => {
    const { outcome: _outcome, endedAt: _endedAt, ...begun } = step("call:a", {
      idempotent,
      status: "started",
    });
    return tracePage(traceOf(events, { steps: [begun], owned })).rows[0]?.state;
  };
  assert.equal(open(true, false), "stopped");
  assert.equal(open(false, false), "stopped");
  assert.equal(open(false, true), "running", "its process lives");
});

Deno.test("trace page: a slash in brackets is part of a name, and what runs inside of a call lies below it", () => {
  const keys = ["op[parts/part.md:5]/shell", "call:a/b", "call:a/b/dialog[x]/turn[1]/model"];
  const { rows } = tracePage(
    traceOf([], { steps: keys.map((key, index) => step(key, { name: key, startedAt: index })) }),
  );
  assert.deepEqual(rows.map(({ depth, label }) => `${"  ".repeat(depth)}${label}`), [
    "op[parts/part.md:5]",
    "  shell",
    "call:a/b",
    "  dialog[x]",
    "    turn[1]",
    "      model",
  ]);
});

Deno.test("trace page: calls of one id that come twice are two rows", () => {
  const { rows } = tracePage(traceOf(recorded([
    { type: "run-start", kind: "calls" },
    { type: "call-open", invocationId: "a", gadgetName: "First", dependencies: [], line: 1 },
    { type: "call-open", invocationId: "a", gadgetName: "Second", dependencies: [], line: 5 },
    { type: "call-error", invocationId: "a", line: 5, error: "a is there already", code: "parse" },
    { type: "call-run", invocationId: "a", line: 1 },
    { type: "call-result", invocationId: "a", line: 1, result: 1 },
  ])));
  assert.deepEqual(outline(rows), ["failed gadget Second", "done gadget First"]);
});

Deno.test("trace page: any events make a tree whose rows say how many lie below them", () => {
  const key = fc.array(fc.constantFrom("op[1]", "turn[1]", "turn[2]", "model", "call:a", "shell"), {
    minLength: 1,
    maxLength: 5,
  }).map((parts) => parts.join("/"));
  fc.assert(fc.property(fc.uniqueArray(key, { maxLength: 20 }), (keys) => {
    const steps = keys.map((each, index) => step(each, { startedAt: index, endedAt: index + 1 }));
    const { rows } = tracePage(traceOf([], { steps }));
    for (const each of keys) assert.equal(rows.filter((row) => row.key === each).length, 1);
    for (const [index, { depth, below }] of rows.entries()) {
      const inside = rows.slice(index + 1, index + 1 + below);
      assert.ok(inside.every((row) => row.depth > depth));
      const next = rows[index + 1 + below];
      assert.ok(next === undefined || next.depth <= depth);
    }
  }));
});

Deno.test("trace limit: values are cut to the same length, the long ones only, until all fit", () => {
  assert.equal(fairShare([1, 2, 3], 6), Infinity);
  assert.equal(fairShare([1, 100, 100], 51), 25);
  assert.equal(fairShare([], 10), Infinity);
  fc.assert(fc.property(fc.array(fc.nat(1000)), fc.nat(5000), (sizes, budget) => {
    const share = fairShare(sizes, budget);
    assert.ok(sizes.reduce((sum, size) => sum + Math.min(size, share), 0) <= budget);
  }));
});

Deno.test("trace limit: what is cut says how much is missing, counts in HTML, and ends at a character", () => {
  assert.equal(
    htmlBytes(`<a href="x">&'é😀`),
    new TextEncoder().encode("&lt;a href=&quot;x&quot;&gt;&amp;&#39;é😀").length,
  );
  const text = "😀".repeat(100);
  const row = rowWith([text, "short"]);
  const { rows, cutValues, missingRows } = limitedRows([row, row, row], { valueBytes: 100, rows: 2 });
  assert.equal(missingRows, 1);
  assert.equal(cutValues, 2);
  const [cut, whole] = rows[0]?.values ?? [];
  assert.match(cut?.text ?? "", /^(?:😀)+$/u);
  assert.equal((cut?.text.length ?? 0) + (cut?.missing ?? 0), text.length);
  assert.deepEqual([whole?.text, whole?.missing], ["short", 0]);
  const bytes = rows.flatMap(({ values }) => values).reduce((sum, value) => sum + htmlBytes(value.text), 0);
  assert.ok(bytes <= 100);
});

function rowWith(texts: readonly string[]): TraceRow {
  return {
    key: "a",
    label: "a",
    name: "a",
    kind: "gadget",
    state: "done",
    depth: 0,
    below: 0,
    at: 0,
    attempt: 1,
    values: texts.map((text, index) => ({ title: `value ${index}`, side: "out", text, isJson: false })),
  };
}

Deno.test("trace compare: steps of the same key are the same step; times do not count", () => {
  const rows = (texts: Readonly<Record<string, string>>): readonly TraceRow[] =>
    Object.entries(texts).map(([key, text], index) => ({
      ...rowWith([text]),
      key,
      name: key,
      at: index * 7,
      ms: text.length,
    }));
  const compared = comparedRows(
    rows({ first: "1", middle: "a\nb\nc", gone: "x", last: "z" }),
    rows({ first: "1", new: "y", middle: "a\nB\nc", last: "z" }),
  );
  assert.deepEqual(compared.map(({ key, change }) => [key, change]), [
    ["first", "same"],
    ["new", "only-b"],
    ["middle", "changed"],
    ["gone", "only-a"],
    ["last", "same"],
  ]);
  assert.deepEqual(compared[2]?.values, [{
    title: "value 0",
    diff: "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
    a: "a\nb\nc",
    b: "a\nB\nc",
  }]);
  assert.deepEqual(compared[1]?.values, [{ title: "value 0", diff: "", a: undefined, b: "y" }]); // what only one of them has is shown too
  assert.deepEqual(compared[3]?.values, [{ title: "value 0", diff: "", a: "x", b: undefined }]);
});

Deno.test("trace compare: every row of both is there once, in its order", () => {
  const rows = fc.uniqueArray(fc.constantFrom(..."abcdefgh"), { maxLength: 8 })
    .map((keys) => keys.map((key) => ({ ...rowWith([]), key })));
  fc.assert(fc.property(rows, rows, (a, b) => {
    const compared = comparedRows(a, b);
    assert.deepEqual(
      compared.flatMap((row) => row.a === undefined ? [] : [row.a.key]),
      a.map(({ key }) => key),
    );
    const inB = compared.flatMap((row) => row.b === undefined ? [] : [row.b.key]);
    assert.deepEqual([...inB].sort(), b.map(({ key }) => key).sort());
  }));
});

// `orrery trace`: the keys of steps as a tree. What stands in brackets, or is the id of a call, may hold a slash.

function treeOf(...keys: readonly string[]): string {
  const steps = keys.map((key): StepRecord => ({
    key,
    kind: "read",
    name: "x",
    input: null,
    idempotent: true,
    status: "finished",
    attempt: 1,
    startedAt: 0,
    endedAt: 0,
    outcome: { ok: "" },
  }));
  const summary = {
    id: "r",
    kind: "document",
    status: "done",
    owned: false,
    startedAt: 0,
    updatedAt: 0,
    steps: steps.length,
    usage: { input: 0, output: 0 },
  } as const;
  return traceTree({ summary, steps, events: [] }).split("\n").slice(1, -1)
    .map((line) => line.replace(/^( *)ok +/, "$1ok ").replace(/ {2}x {2}0 ms$/, "")).join("\n");
}

Deno.test("trace: what has not ended says why, and what a model had said by then, as a tree and as a page", () => {
  const key = "turn[1]/model";
  const step: StepRecord = {
    key,
    kind: "model",
    name: "m/x",
    input: { messages: [] },
    idempotent: true,
    status: "started",
    startedAt: 0,
    attempt: 1,
  };
  const place = { seq: 1, at: 0, run: "r" };
  const error = { message: "m/x: the answer broke off", code: "network" };
  const trace = {
    summary: {
      id: "r",
      kind: "ask",
      status: "stopped",
      owned: false,
      startedAt: 0,
      updatedAt: 0,
      steps: 1,
      usage: { input: 0, output: 0 },
    },
    run: { kind: "ask", input: null },
    steps: [step],
    events: [
      { type: "step-start", key, kind: "model", name: "m/x", attempt: 1, ...place },
      { type: "step-end", key, ms: 5, error, partial: "Half an ans", ...place },
    ],
    messages: [],
    checkpoints: [],
  } as const;
  assert.deepEqual(traceTree(trace).split("\n").slice(2, -1), [
    "    failed  model  m/x",
    "            m/x: the answer broke off",
    "            said before it broke off: Half an ans",
  ]);
  const row = tracePage(trace).rows.at(-1);
  assert.equal(row?.state, "failed");
  assert.deepEqual(row?.values.map(({ title, text }) => [title, text]), [
    ["error", "m/x: the answer broke off"],
    ["said before it broke off", "Half an ans"],
  ]);
});

Deno.test("trace: a slash in brackets is part of a name", () => {
  assert.equal(
    treeOf(
      "op[parts/part.md:5]/shell",
      "op[parts/part.md:5]/media[1]",
      "op[docs/[id]/page.md:5]#2/turn[1]/model",
      "dialog[research/agent:1f]/turn[1]/model",
      "op[a/b.md:1]/op[c/d.md:2]/read",
    ),
    [
      "  op[parts/part.md:5]",
      "    done    shell",
      "    done    media[1]",
      "  op[docs/[id]/page.md:5]#2",
      "    turn[1]",
      "      done    model",
      "  dialog[research/agent:1f]",
      "    turn[1]",
      "      done    model",
      "  op[a/b.md:1]",
      "    op[c/d.md:2]",
      "      done    read",
    ].join("\n"),
  );
});

Deno.test("trace: the id of a call may hold anything; what runs inside of it lies below it", () => {
  assert.equal(
    treeOf(
      "turn[1]/call:a/b",
      "op[call:x/y.md:3]/shell",
      "call:a/b/op[x/y.md:1]/shell",
      "call:a/b/op[x/y.md:1]/call:c/dialog[1]/turn[1]/model",
      "call:d/dialog[2]/turn[1]/model",
      "call:[e/f",
    ),
    [
      "  turn[1]",
      "    done    call:a/b",
      "  op[call:x/y.md:3]",
      "    done    shell",
      "  call:a/b",
      "    op[x/y.md:1]",
      "      done    shell",
      "      call:c",
      "        dialog[1]",
      "          turn[1]",
      "            done    model",
      "  call:d",
      "    dialog[2]",
      "      turn[1]",
      "        done    model",
      "  done    call:[e/f",
    ].join("\n"),
  );
});

Deno.test("orrery trace: an operation of an imported document in a folder is one branch", async () => {
  await using project = await testProject({
    "orrery.yaml": "models: { default: script/echo }\n",
    "main.md": "# A\n\n@import\nfile: parts/part.md\n",
    "parts/part.md": "# Part\n\nOf it.\n\n@llm\nprompt: Go\n",
  });
  const run = await project.run(["run", "main.md"]);
  assert.equal(run.code, 0, run.stderr);
  const { stdout } = await project.run(["trace", await project.newest()]);
  assert.match(stdout, /\n {2}op\[parts\/part\.md:5\]\n {4}.*turn\[1\]\n {6}done {4}model/);
});
