// The state of a run's page: events that were recorded, and every way in which a stream of them may be cut and read again.
import fc from "fast-check";
import assert from "node:assert/strict";
import type { RunEvent } from "../mod.ts";
import { type PageFrame, RunState } from "../lib/browser/run_state.ts";
import { stepName } from "../lib/browser/step_name.ts";
import { RunHistory } from "../lib/service/runs/history.ts";
import { CALLS_RUN, CONVERSATION_RUN, DOCUMENT_RUN, recorded } from "./_recorded_runs.ts";

const RUNS = { calls: CALLS_RUN, document: DOCUMENT_RUN, conversation: CONVERSATION_RUN };

function stateOf(events: readonly RunEvent[]): RunState {
  const state = new RunState();
  for (const event of events) state.take({ event });
  return state;
}

/** What a page shows. Texts on their way are by step: which of two began first is nobody's business. */
function shown(state: RunState): unknown {
  const { live, operations, open, slots, asks, ...rest } = state;
  return {
    ...rest,
    calls: [...live.calls.values()],
    steps: [...live.steps.values()],
    tally: live.tally,
    operations: operations.rows,
    open: [...open].sort(([a], [b]) => a < b ? -1 : 1),
    slots: [...slots],
    asks: [...asks],
  };
}

Deno.test("page state: a call file", () => {
  const state = stateOf(CALLS_RUN);
  assert.equal(state.kind, "calls");
  assert.equal(state.file, "report.calls");
  assert.equal(state.status, "failed");
  assert.deepEqual([...state.live.calls.values()].map((call) => [call.invocationId, call.state]), [
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
  assert.deepEqual(state.operations.rows.map(({ name, state, depth }) => [name, state, depth]), [
    ["@llm plan.md:4", "done", 0],
    ["ReadFile", "done", 1],
    ["@return plan.md:9", "done", 0],
  ]);
  assert.deepEqual(state.live.tally.usage, { input: 210, output: 34, cost: 0.003 });
});

Deno.test("page state: what a conversation says is told from what its steps say", () => {
  const state = stateOf(CONVERSATION_RUN);
  assert.deepEqual(state.texts.filter(({ isOwn }) => isOwn).map(({ n, text }) => [n, text]), [
    [1, "Which bikes?"],
    [3, "Two city bikes, then."],
  ]);
  assert.deepEqual(state.texts.filter(({ n }) => n === 0).map(({ text }) => text), ['{"number":2}']);
  assert.equal(state.turns, 2);
  assert.equal(state.held, "read-back");
  assert.equal(state.status, "held");
  assert.deepEqual([...state.slots], [["conversation.number", 2]]);
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
