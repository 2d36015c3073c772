// What a conversation keeps between its turns, in every kind of journal. A process that dies is one whose journal is left as it is.

import assert from "node:assert/strict";
import type {
  ConversationSave,
  Json,
  LogEntry,
  RunEvent,
  RunEventBody,
  RunJournal,
  RunStart,
  StepStart,
} from "../mod.ts";
import { RunNotFoundError, RunOwnedError, TurnNotFoundError } from "../lib/core/journal.ts";
import { journalOver } from "../lib/journal/journal_over.ts";
import { memoryStore } from "../lib/journal/memory_journal.ts";
import { createSecrets } from "../lib/core/secrets.ts";
import { fails, type Place, PLACES } from "./_journal_places.ts";

const START: RunStart = {
  kind: "conversation",
  file: "support.agent.yml",
  files: [{ path: "support.agent.yml", text: "structure: …" }],
  input: { user: "ana" },
};
const ANA = { user: "ana" };

function step(key: string, options: Partial<StepStart> = {}): StepStart {
  return { key, kind: "model", name: "script/x", input: { key }, idempotent: true, ...options };
}

/** Tells events with the numbers that a run gives them. */
function teller(run: RunJournal): (body: RunEventBody) => RunEvent {
  let seq = run.lastSeq;
  return (body) => {
    const event = { ...body, seq: ++seq, at: seq * 10, run: run.id };
    run.tell(event);
    return event;
  };
}

const warning = (text: string): RunEventBody => ({ type: "warning", text });

/** What a turn of these tests leaves behind. */
function saved(n: number, more: Partial<ConversationSave> = {}): ConversationSave {
  return {
    state: { turn: n, position: ["main", `ask-${n}`] },
    messages: [said(2 * n - 1, `question ${n}`), said(2 * n, `answer ${n}`)],
    slots: [{ user: "ana", name: "turn", value: n }],
    ...more,
  };
}

function said(n: number, text: string): LogEntry {
  return { n, who: n % 2 === 1 ? "user" : "assistant", text, steps: [`step-${n}`] };
}

const log = (turns: number): readonly LogEntry[] =>
  Array.from({ length: turns }, (_, index) => saved(index + 1).messages).flat();

/** One whole turn, the next one: two steps, events with each, what it used, and its save. */
function turn(run: RunJournal, status: "held" | "done" | "stopped" = "held"): void {
  const n = (run.checkpoint?.n ?? 0) + 1;
  const tell = teller(run);
  tell(warning(`turn ${n} begins`));
  for (const key of [`turn[${n}]/a`, `turn[${n}]/b`]) {
    if (run.begin(step(key)).do === "perform") run.finish(key, { ok: key });
  }
  tell({ type: "usage", step: "a", model: "x/y", input: 10, output: n, cost: 1 });
  run.save(saved(n));
  tell(warning(`turn ${n} ends`));
  run.release(status);
}

/** A conversation that is held behind so many turns. */
function held(place: Place, turns: number): string {
  const first = place.journal({ pid: 1 }).create(START);
  if (turns === 0) first.release("held");
  else turn(first);
  for (let n = 1; n < turns; n++) turn(place.journal({ pid: 1 }).open(first.id));
  return first.id;
}

/** Where a conversation is, as whoever opens it next sees it. */
function seen(place: Place, id: string): unknown {
  const run = place.journal({ pid: 9 }).open(id);
  const { checkpoint, lastSeq, lastAt, usage, events, resumedFrom } = run;
  const messages = run.messages();
  run.release("held");
  return { checkpoint, lastSeq, lastAt, usage, resumedFrom, messages, events: events.map(textOf) };
}

const textOf = (event: RunEvent): string => event.type === "warning" ? event.text : event.type;

const CONTRACT: Readonly<Record<string, (place: Place) => void>> = {
  "a new run stands before its first turn": (place) => {
    const run = place.journal().create(START);
    assert.deepEqual(
      [run.checkpoint, run.events, run.lastSeq, run.lastAt, run.usage, run.messages(), run.slots(ANA)],
      [undefined, [], 0, 0, { input: 0, output: 0 }, [], {}],
    );
    const { messages, checkpoints } = place.journal().read(run.id);
    assert.deepEqual([messages, checkpoints], [[], []]);
  },
  "what a turn leaves behind is there for the next one": (place) => {
    const id = held(place, 1);
    assert.deepEqual(seen(place, id), {
      checkpoint: { n: 1, state: { turn: 1, position: ["main", "ask-1"] }, messages: 2 },
      lastSeq: 3,
      lastAt: 30,
      usage: { input: 10, output: 1, cost: 1 },
      resumedFrom: "held",
      messages: log(1),
      events: [],
    });
    const { summary, messages, checkpoints, steps, events } = place.journal().read(id);
    assert.deepEqual([summary.status, summary.owned, summary.kind], ["held", false, "conversation"]);
    assert.deepEqual([messages, checkpoints], [log(1), [{ n: 1, messages: 2 }]]);
    assert.deepEqual(steps.map(({ key }) => key), ["turn[1]/a", "turn[1]/b"]);
    assert.deepEqual(events.map(textOf), ["turn 1 begins", "usage", "turn 1 ends"]);
    assert.deepEqual(place.journal().slots(ANA), { turn: 1 });
  },
  "nothing of a save is there before its commit, and all of it after": (place) => {
    const id = held(place, 1);
    const kept = () => {
      const { messages, checkpoints } = place.journal().read(id);
      return [messages, checkpoints.length, place.journal().slots(ANA)];
    };
    const run = place.journal({ pid: 1 }).open(id);
    run.save(saved(2));
    assert.deepEqual(kept(), [log(1), 1, { turn: 1 }]);
    place.alive.set(1, false);
    assert.deepEqual(kept(), [log(1), 1, { turn: 1 }]);
    const next = place.journal({ pid: 2 }).open(id);
    assert.deepEqual([next.checkpoint?.n, next.messages(), next.slots(ANA)], [1, log(1), { turn: 1 }]);
    next.save(saved(2));
    next.commit();
    assert.deepEqual(kept(), [log(2), 2, { turn: 2 }]);
    place.alive.set(2, false);
    const last = place.journal({ pid: 3 }).open(id);
    assert.deepEqual([last.checkpoint?.n, last.resumedFrom], [2, "running"]);
    assert.deepEqual(kept(), [log(2), 2, { turn: 2 }]);
  },
  "a save goes with the commit of a step too": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    run.begin(step("a"));
    run.save(saved(1));
    run.finish("a", { ok: 1 });
    assert.equal(place.journal().read(run.id).checkpoints.length, 1);
    run.commit();
    run.release("held");
    assert.equal(place.journal().read(run.id).messages.length, 2);
  },

  "a turn goes on where it was, and reads nothing from before it": (place) => {
    const id = held(place, 2);
    const run = place.journal({ pid: 1 }).open(id);
    const tell = teller(run);
    assert.deepEqual([run.events, run.lastSeq, run.lastAt], [[], 6, 60]);
    tell(warning("turn 3 begins"));
    run.begin(step("turn[3]/a"));
    tell({ type: "usage", step: "a", model: "x/y", input: 1, output: 1, cost: 1 });
    tell({ type: "text-delta", step: "a", text: "passes" });
    run.finish("turn[3]/a", { ok: 3 });
    tell(warning("never committed"));
    place.alive.set(1, false);
    const again = place.journal({ pid: 2 }).open(id);
    assert.deepEqual(again.events.map(textOf), ["turn 3 begins", "usage"]);
    assert.deepEqual([again.lastSeq, again.lastAt, again.checkpoint?.n], [8, 80, 2]);
    assert.deepEqual(again.usage, { input: 20, output: 3, cost: 2 });
    assert.equal(again.begin(step("turn[3]/a")).do, "answer");
    assert.equal(again.begin(step("turn[1]/a")).do, "answer");
    again.release("stopped", { input: 21, output: 4, cost: 3 });
    const stopped = place.journal({ pid: 3 }).open(id);
    assert.deepEqual(stopped.events.map(textOf), ["turn 3 begins", "usage"]);
    assert.deepEqual(stopped.usage, { input: 20, output: 3, cost: 2 }, "of what lies before these events");
    stopped.save(saved(3));
    stopped.release("held");
    const next = place.journal({ pid: 4 }).open(id);
    assert.deepEqual([next.events, next.usage], [[], { input: 21, output: 4, cost: 3 }]);
  },
  "the numbers go on where the last event had them, kept or not": (place) => {
    const run = place.journal({ pid: 1 }).create(START);
    const tell = teller(run);
    tell(warning("kept"));
    tell({ type: "text-delta", step: "a", text: "passes" });
    run.save(saved(1));
    run.release("held", { input: 7, output: 8 });
    const next = place.journal({ pid: 1 }).open(run.id);
    assert.deepEqual([next.lastSeq, next.lastAt, next.usage], [2, 20, { input: 7, output: 8 }]);
  },
  "counts the run's own time only": (place) => {
    const run = place.journal().create(START);
    place.pass(100);
    run.save(saved(1));
    run.release("held");
    place.pass(100_000);
    const next = place.journal().open(run.id);
    place.pass(10);
    next.begin(step("a"));
    next.finish("a", { ok: 1 });
    assert.equal(place.journal().read(run.id).steps[0]?.startedAt, 110);
  },
  "says where a conversation is": (place) => {
    const journal = place.journal({ pid: 2 });
    const run = place.journal({ pid: 1 }).create(START);
    const where = () => {
      const { summary, run: start, checkpoint, messages, isOpen } = journal.conversation(run.id);
      assert.deepEqual([start, summary], [{ ...START, id: run.id }, journal.read(run.id).summary]);
      return [summary.status, summary.owned, checkpoint, messages, isOpen];
    };
    assert.deepEqual(where(), ["running", true, undefined, [], false]);
    run.begin(step("turn[1]/a", { idempotent: false }));
    assert.deepEqual(where(), ["running", true, undefined, [], true]);
    run.finish("turn[1]/a", { ok: 1 });
    run.save(saved(1));
    assert.deepEqual(where(), ["running", true, undefined, [], true]);
    run.release("held");
    const checkpoint = { n: 1, state: saved(1).state, messages: 2 };
    assert.deepEqual(where(), ["held", false, checkpoint, log(1), false]);
    const next = place.journal({ pid: 1 }).open(run.id);
    next.begin(step("turn[2]/a", { idempotent: false }));
    place.alive.set(1, false);
    assert.deepEqual(where(), ["running", false, checkpoint, log(1), true]);
    for (const range of [{ last: 0 }, { last: 1 }, { from: 2 }, { from: 1, last: 5 }, { from: 9 }]) {
      const from = log(1).filter(({ n }) => n >= (range.from ?? 1));
      const want = from.slice(Math.max(0, from.length - (range.last ?? Infinity)));
      assert.deepEqual(journal.conversation(run.id, range).messages, want);
    }
    assert.equal(journal.conversation(journal.branch(run.id, { turn: 1 })).isOpen, false);
    fails(() => journal.conversation("nowhere!"), { type: RunNotFoundError, message: /no run "nowhere!"/ });
  },
  "messages go on where the log ends, else nothing is taken": (place) => {
    const run = place.journal({ pid: 1 }).open(held(place, 2));
    const message = (found: number, wanted: number) =>
      `Message ${found} does not go on where the log of run "${run.id}" ends: expected message ${wanted}`;
    for (
      const [ns, found, wanted] of [[[4, 5], 4, 5], [[6], 6, 5], [[5, 7], 7, 6], [[5, 5], 5, 6], [
        [0],
        0,
        5,
      ]] as const
    ) {
      const wrong = saved(3, { messages: ns.map((n) => said(n, "x")) });
      fails(() => run.save(wrong), { type: Error, message: message(found, wanted) });
    }
    assert.deepEqual([run.messages(), run.slots(ANA)], [log(2), { turn: 2 }]);
    run.commit();
    assert.equal(place.journal().read(run.id).checkpoints.length, 2);
    run.save(saved(3));
    fails(() => run.save(saved(3)), { type: Error, message: message(5, 7) });
    run.save(saved(4));
    assert.deepEqual(run.messages(), log(4));
    run.release("held");
    const { messages, checkpoints } = place.journal().read(run.id);
    assert.deepEqual(messages, log(4));
    assert.deepEqual(checkpoints, [1, 2, 3, 4].map((n) => ({ n, messages: 2 * n })));
    assert.deepEqual(place.journal().slots(ANA), { turn: 4 });
  },
  "a turn may say nothing and keep nothing": (place) => {
    const run = place.journal().create(START);
    run.save({ state: null, messages: [], slots: [] });
    run.release("held");
    const next = place.journal().open(run.id);
    assert.deepEqual([next.checkpoint, next.messages()], [{ n: 1, state: null, messages: 0 }, []]);
  },
  "what is saved is as it was when it was saved": (place) => {
    const run = place.journal().create(START);
    const state = { list: [1] };
    const steps = ["a"];
    const messages: LogEntry[] = [{ n: 1, who: "assistant", text: "ä\u2028\ud800", steps }];
    run.save({ state, messages, slots: [{ ...ANA, name: "list", value: state.list }] });
    state.list.push(2);
    steps.push("b");
    messages.pop();
    run.release("held");
    const next = place.journal().open(run.id);
    assert.deepEqual(next.checkpoint, { n: 1, state: { list: [1] }, messages: 1 });
    assert.deepEqual(next.messages(), [{ n: 1, who: "assistant", text: "ä\u2028\ud800", steps: ["a"] }]);
    assert.deepEqual(next.slots(ANA), { list: [1] });
  },
  "gives a part of the log": (place) => {
    const run = place.journal({ pid: 1 }).open(held(place, 3));
    const ns = (options?: Parameters<RunJournal["messages"]>[0]) => run.messages(options).map(({ n }) => n);
    const check = (count: number): void => {
      const all = Array.from({ length: count }, (_, index) => index + 1);
      assert.deepEqual(ns(), all);
      for (const from of [0, 1, 2, 5, 6, 7, count, count + 1]) {
        assert.deepEqual(ns({ from }), all.filter((n) => n >= from), `from ${from}`);
        for (const last of [0, 1, 2, 3, 5, count, count + 5]) {
          const wanted = all.filter((n) => n >= from);
          assert.deepEqual(ns({ from, last }), wanted.slice(Math.max(0, wanted.length - last)));
        }
      }
      assert.deepEqual([ns({ last: 3 }), ns({ last: -1 })], [all.slice(-3), []]);
    };
    check(6);
    run.save(saved(4));
    check(8);
    run.commit();
    check(8);
  },
  "scopes are separate": (place) => {
    const run = place.journal().create(START);
    const scopes = [
      { user: "ana" },
      { user: "ana", module: "m" },
      { user: "ana", module: "m", session: "s" },
      { user: "ana", session: "s" },
      { user: "ana", module: "s" },
      { user: "ana", module: "" },
      { user: "bea", module: "m", session: "s" },
      { user: "ana", module: "m/s" },
      { user: '["ana","m"]' },
    ];
    run.save({
      state: null,
      messages: [],
      slots: scopes.map((scope, n) => ({ ...scope, name: "n", value: { n } })),
    });
    run.release("held");
    for (const [n, scope] of scopes.entries()) {
      assert.deepEqual(place.journal().slots(scope), { n: { n } }, JSON.stringify(scope));
    }
    assert.deepEqual(place.journal().slots({ user: "carla" }), {});
  },
  "slots have any name and any value, and the last one counts": (place) => {
    const entries: readonly (readonly [string, Json])[] = [
      ["__proto__", { x: 1 }],
      ["constructor", null],
      ["", ""],
      ["0", [1, { a: 2 }]],
      ["Größe 😀", 1.5],
      ["false", false],
    ];
    const run = place.journal().create(START);
    const save = (pairs: readonly (readonly [string, Json])[]): void =>
      run.save({
        state: null,
        messages: [],
        slots: pairs.map(([name, value]) => ({ ...ANA, name, value })),
      });
    const byName = (slots: Readonly<Record<string, Json>>) => new Map(Object.entries(slots));
    save(entries);
    assert.deepEqual(byName(run.slots(ANA)), new Map(entries));
    save([["", 1], ["", 2]]);
    run.commit();
    save([["0", "waits"]]);
    assert.deepEqual([run.slots(ANA)[""], run.slots(ANA)["0"]], [2, "waits"]);
    assert.deepEqual(place.journal().slots(ANA)["0"], [1, { a: 2 }]);
    run.release("held");
    const kept = new Map<string, Json>([...entries, ["", 2], ["0", "waits"]]);
    assert.deepEqual(byName(place.journal().slots(ANA)), kept);
  },
  "two conversations of a user share the user's slots": (place) => {
    const [one, two] = [held(place, 1), held(place, 3)];
    assert.deepEqual(place.journal().slots(ANA), { turn: 3 });
    turn(place.journal().open(one));
    assert.deepEqual(place.journal().open(two).slots(ANA), { turn: 2 });
  },
  "masks secrets in everything it keeps": (place) => {
    const secrets = createSecrets();
    secrets.add("KEY", "s3cr3t/value");
    const text = "is s3cr3t/value";
    const masked = "is [secret KEY]";
    const journal = place.journal({ secrets });
    const run = journal.create({ ...START, file: text });
    assert.deepEqual([journal.list({ file: text }).length, journal.list({ file: masked }).length], [1, 1]);
    run.save({
      state: { [text]: [text] },
      messages: [{ n: 1, who: "user", text, steps: [text] }],
      slots: [{ user: text, module: text, session: text, name: text, value: { [text]: text } }],
    });
    const scope = { user: text, module: text, session: text };
    const slots = { [masked]: { [masked]: masked } };
    assert.deepEqual([run.slots(scope), run.messages()], [slots, [{
      n: 1,
      who: "user",
      text: masked,
      steps: [masked],
    }]]);
    run.release("held");
    assert.deepEqual(journal.slots(scope), slots);
    assert.deepEqual(place.journal().slots({ user: masked, module: masked, session: masked }), slots);
    const next = journal.open(run.id);
    assert.deepEqual(next.checkpoint?.state, { [masked]: [masked] });
    assert.equal(next.messages()[0]?.who, "user");
    assert.ok(!JSON.stringify([journal.read(run.id), next.messages()]).includes("s3cr3t"));
  },
  "keeps nothing of a save for a process that has lost its run": (place) => {
    const id = held(place, 1);
    const run = place.journal({ pid: 1 }).open(id);
    run.save(saved(2, { state: "late", slots: [{ ...ANA, name: "turn", value: "late" }] }));
    place.alive.set(1, false);
    const other = place.journal({ pid: 2 }).open(id);
    const message = new RegExp(`^Run "${id}" was taken over by process 2 on host "here"`);
    fails(() => run.commit(), { type: RunOwnedError, message });
    for (
      const work of [
        () => run.save(saved(2)),
        () => run.messages(),
        () => run.slots(ANA),
        () => run.release("held"),
      ]
    ) {
      fails(work, { type: RunOwnedError, message });
    }
    assert.deepEqual([other.messages(), other.slots(ANA)], [log(1), { turn: 1 }]);
    turn(other);
    assert.deepEqual(place.journal().read(id).messages, log(2));
    assert.deepEqual(place.journal().slots(ANA), { turn: 2 });
  },
  "has nothing more to do with a run that it released": (place) => {
    const run = place.journal().create(START);
    run.save(saved(1));
    run.release("held");
    const message = `Run "${run.id}" was released: open it again to go on`;
    for (const work of [() => run.save(saved(2)), () => run.messages(), () => run.slots(ANA)]) {
      fails(work, { type: Error, message });
    }
  },
  "branches behind a turn": (place) => {
    const id = held(place, 3);
    const run = place.journal({ pid: 1 }).open(id);
    turn(run, "done");
    place.pass(1000);
    const before = place.journal().read(id);
    const branch = place.journal({ pid: 2 }).branch(id, { turn: 2 });
    assert.notEqual(branch, id);
    const { summary, run: start, steps, events, messages, checkpoints } = place.journal().read(branch);
    assert.deepEqual(start, { ...START, id: branch });
    assert.deepEqual([summary.status, summary.owned, summary.steps], ["held", false, 4]);
    assert.deepEqual(summary.usage, { input: 20, output: 3, cost: 2 });
    assert.equal(summary.startedAt - before.summary.startedAt, 1000);
    assert.deepEqual(messages, log(2));
    assert.deepEqual(checkpoints, [{ n: 1, messages: 2 }, { n: 2, messages: 4 }]);
    assert.deepEqual(steps, before.steps.slice(0, 4));
    assert.deepEqual(events, before.events.slice(0, 6).map((event) => ({ ...event, run: branch })));
    assert.deepEqual(seen(place, branch), {
      checkpoint: { n: 2, state: { turn: 2, position: ["main", "ask-2"] }, messages: 4 },
      lastSeq: 6,
      lastAt: 60,
      usage: { input: 20, output: 3, cost: 2 },
      resumedFrom: "held",
      messages: log(2),
      events: [],
    });
    const other = place.journal({ pid: 2 }).open(branch);
    assert.equal(other.begin(step("turn[3]/a")).do, "perform");
    other.save(saved(3, { state: "another third turn" }));
    other.release("held");
    assert.deepEqual(place.journal().read(branch).checkpoints.length, 3);
    assert.deepEqual(place.journal().read(id), before, "the source is as it was");
    assert.deepEqual(place.journal({ pid: 3 }).open(branch).checkpoint?.state, "another third turn");
  },
  "branches at the beginning, from the last turn, and from a branch": (place) => {
    const id = held(place, 2);
    const journal = place.journal({ pid: 2 });
    const beginning = journal.branch(id, { turn: 0 });
    const { run, steps, events, messages, checkpoints, summary } = journal.read(beginning);
    assert.deepEqual([run, steps, events, messages, checkpoints], [
      { ...START, id: beginning },
      [],
      [],
      [],
      [],
    ]);
    assert.deepEqual([summary.status, summary.usage], ["held", { input: 0, output: 0 }]);
    const first = journal.open(beginning);
    assert.deepEqual([first.checkpoint, first.lastSeq, first.lastAt, first.resumedFrom], [
      undefined,
      0,
      0,
      "held",
    ]);
    turn(first);
    assert.deepEqual(journal.read(beginning).messages, log(1));
    const last = journal.branch(journal.branch(id, { turn: 2 }), { turn: 2 });
    assert.deepEqual(seen(place, last), seen(place, id));
    assert.deepEqual(journal.read(journal.branch(last, { turn: 1 })).messages, log(1));
  },
  "branches from what is behind a turn that goes on, without it": (place) => {
    const id = held(place, 2);
    const run = place.journal({ pid: 1 }).open(id);
    run.begin(step("turn[3]/a", { idempotent: false }));
    run.tell({ ...warning("of turn 3"), seq: 7, at: 70, run: id });
    run.save(saved(3));
    const journal = place.journal({ pid: 2 });
    const branch = journal.branch(id, { turn: 2 });
    const { steps, events, messages } = journal.read(branch);
    assert.deepEqual([steps.length, events.length, messages], [4, 6, log(2)]);
    fails(() => journal.branch(id, { turn: 3 }), {
      type: TurnNotFoundError,
      message: `Run "${id}" has no turn 3: it has turns 1 to 2, and 0 is its beginning`,
    });
  },
  "branches with the steps that began before, of those that have not ended only what may not be done twice": (
    place,
  ) => {
    const run = place.journal({ pid: 1 }).create(START);
    for (const key of ["ended", "slow", "safe"]) run.begin(step(key));
    for (const key of ["unsafe", "unsafe and slow"]) run.begin(step(key, { idempotent: false }));
    run.prefix("unsafe", "piece");
    run.finish("ended", { ok: 1 });
    run.save(saved(1));
    run.commit();
    run.finish("slow", { ok: 2 });
    run.finish("unsafe and slow", { ok: 3 });
    run.begin(step("later"));
    run.finish("later", { ok: 4 });
    run.release("held");
    const journal = place.journal({ pid: 2 });
    const branch = journal.branch(run.id, { turn: 1 });
    assert.deepEqual(
      journal.read(branch).steps.map(({ key, status, prefix }) => [key, status, prefix]),
      [
        ["ended", "finished", undefined],
        ["slow", "finished", undefined],
        ["unsafe", "started", ["piece"]],
        ["unsafe and slow", "finished", undefined],
      ],
    );
    assert.equal(journal.conversation(branch).isOpen, false);
    const next = journal.open(branch);
    assert.equal(next.begin(step("unsafe", { idempotent: false })).do, "unverified");
    assert.deepEqual(next.begin(step("safe")), { do: "perform", attempt: 1 });
    next.finish("safe", { ok: 5 });
    assert.deepEqual(journal.read(branch).steps.at(-1)?.key, "safe");
  },
  "says which turns there are to branch from": (place) => {
    const journal = place.journal();
    const cases = [
      [held(place, 0), [1, -1], "none has ended yet"],
      [held(place, 1), [2, 1.5], "it has turn 1"],
      [held(place, 3), [4, NaN], "it has turns 1 to 3"],
    ] as const;
    for (const [id, turns, there] of cases) {
      for (const turn of turns) {
        fails(() => journal.branch(id, { turn }), {
          type: TurnNotFoundError,
          message: `Run "${id}" has no turn ${turn}: ${there}, and 0 is its beginning`,
        });
      }
    }
    fails(() => journal.branch("nowhere!", { turn: 0 }), {
      type: RunNotFoundError,
      message: /no run "nowhere!"/,
    });
    assert.equal(journal.list().length, 3, "a branch that fails leaves no run");
  },
  "forks inside a turn, with the turns before it": (place) => {
    const id = held(place, 3);
    const journal = place.journal({ pid: 2 });
    const fork = journal.fork(id, { from: "turn[3]/b" });
    const { messages, checkpoints, steps, summary } = journal.read(fork);
    assert.deepEqual([messages, checkpoints.length, summary.status], [log(2), 2, "stopped"]);
    assert.deepEqual(steps.map(({ key }) => key).slice(-2), ["turn[2]/b", "turn[3]/a"]);
    const run = journal.open(fork);
    assert.deepEqual(run.checkpoint, { n: 2, state: saved(2).state, messages: 4 });
    assert.deepEqual(run.events.map(textOf), ["turn 3 begins"]);
    assert.equal(run.lastSeq, 7);
    run.release("stopped");
    const first = journal.open(journal.fork(id, { from: "turn[1]/a" }));
    assert.deepEqual([first.checkpoint, first.messages(), first.events.map(textOf)], [undefined, [], [
      "turn 1 begins",
    ]]);
  },
  "removes everything of a conversation but the slots that outlive it": (place) => {
    const id = held(place, 2);
    const other = held(place, 1);
    const journal = place.journal();
    journal.remove(id);
    assert.throws(() => journal.read(id), RunNotFoundError);
    const again = journal.create({ ...START, id });
    assert.deepEqual([again.checkpoint, again.messages()], [undefined, []]);
    again.release("held");
    assert.deepEqual(journal.read(id).checkpoints, []);
    assert.deepEqual([journal.read(other).messages, journal.slots(ANA)], [log(1), { turn: 1 }]);
  },
  "lists by kind, file and status": (place) => {
    const journal = place.journal();
    const ids: Record<string, string[]> = {};
    for (let n = 0; n < 12; n++) {
      const kind = n % 2 === 0 ? "conversation" : "calls";
      const file = n % 3 === 0 ? undefined : `${n % 3}.yml`;
      const run = journal.create({ kind, input: null, ...(file === undefined ? {} : { file }) });
      place.pass(n % 4 === 0 ? 0 : 3);
      const status = n % 4 === 0 ? "held" : "stopped";
      run.release(status);
      for (const name of [kind, file, status, `${kind} ${file}`, `${kind} ${file} ${status}`]) {
        if (name !== undefined) (ids[name] ??= []).unshift(run.id);
      }
    }
    const listed = (query: Parameters<typeof journal.list>[0]) => journal.list(query).map(({ id }) => id);
    assert.deepEqual(listed({ kind: "conversation" }), ids.conversation);
    assert.deepEqual(listed({ kind: "calls", limit: 2 }), ids.calls?.slice(0, 2));
    assert.deepEqual(listed({ file: "1.yml" }), ids["1.yml"]);
    assert.deepEqual(listed({ status: "held" }), ids.held);
    assert.deepEqual(listed({ kind: "calls", file: "2.yml" }), ids["calls 2.yml"]);
    assert.deepEqual(
      listed({ kind: "conversation", file: "1.yml", status: "held", limit: 1 }),
      ids["conversation 1.yml held"]?.slice(0, 1),
    );
    assert.deepEqual([listed({ kind: "x" }), listed({ file: "x" }), listed({}).length], [[], [], 12]);
  },
  "has 2,000 turns": (place) => {
    const id = place.journal({ pid: 1 }).create(START).id;
    place.alive.set(1, false);
    for (let n = 1; n <= 2000; n += 100) {
      const run = place.journal({ pid: 2 }).open(id);
      const tell = teller(run);
      for (let each = n; each < n + 100; each++) {
        tell(warning(`turn ${each}`));
        run.save(saved(each));
      }
      run.release("held");
    }
    const run = place.journal({ pid: 2 }).open(id);
    assert.deepEqual(run.checkpoint, { n: 2000, state: saved(2000).state, messages: 4000 });
    assert.deepEqual([run.events, run.lastSeq], [[], 2000]);
    assert.deepEqual(run.messages({ last: 2 }), saved(2000).messages);
    assert.deepEqual(run.messages({ from: 3999 }), saved(2000).messages);
    turn(run);
    assert.deepEqual(place.journal().read(id).messages, log(2001));
    const branch = place.journal({ pid: 2 }).branch(id, { turn: 1000 });
    assert.deepEqual(place.journal().read(branch).messages, log(1000));
    assert.deepEqual(place.journal({ pid: 2 }).open(branch).checkpoint?.state, saved(1000).state);
  },
};

for (const [kind, inPlace] of Object.entries(PLACES)) {
  for (const [what, check] of Object.entries(CONTRACT)) {
    Deno.test(`${kind}: ${what}`, () => inPlace(check));
  }
}

Deno.test("a conversation is opened without a look at what earlier turns did", () => {
  const store = memoryStore();
  const first = journalOver(store).create(START);
  turn(first);
  for (let n = 2; n <= 5; n++) turn(journalOver(store).open(first.id));
  const asked: string[] = [];
  const watched = {
    ...store,
    events(id: string, after?: number) {
      const lists = store.events(id, after);
      asked.push(`${lists.length} lists of events`);
      return lists;
    },
    steps(id: string) {
      asked.push("steps");
      return store.steps(id);
    },
    conversations: {
      ...store.conversations,
      messages(...args: Parameters<typeof store.conversations.messages>) {
        asked.push("messages");
        return store.conversations.messages(...args);
      },
      checkpoints(id: string) {
        asked.push("checkpoints");
        return store.conversations.checkpoints(id);
      },
    },
  };
  const run = journalOver(watched).open(first.id);
  run.save(saved(6));
  run.release("held");
  assert.deepEqual(asked, ["0 lists of events"]);
});
