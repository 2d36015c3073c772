// What goes wrong between a conversation and its person (conversations.md 2.2): steps that fail, turns that are interrupted, agent files that
// change, several at once, stores that cannot be written.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import {
  type AgentFile,
  defineGadget,
  memoryJournal,
  type RunEvent,
  type RunJournal,
  type Store,
} from "../mod.ts";
import {
  agentOf,
  ask,
  chain,
  count,
  endOf,
  eventsOf,
  go,
  say,
  set,
  talk,
  told,
  turn,
  when,
} from "./_conversation_turns.ts";
import type { StepJson } from "./_conversation_turns.ts";
import { journalAt, withDatabaseFile } from "./_journal_file.ts";

function llm(id: string, more: Readonly<Record<string, unknown>> = {}): StepJson {
  return { id, llm: { prompts: [{ user: "go" }], ...more } };
}

/** A model that fails so often before it answers with the name of its step. */
function failing(
  times: number,
): { model(request: { readonly step: string }): Promise<string>; asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    model({ step }) {
      asked.push(step);
      return asked.length <= times ? Promise.reject(new Error(`no ${asked.length}`)) : Promise.resolve(step);
    },
  };
}

const refused = (
  turns: AsyncIterable<RunEvent> | Promise<unknown>,
  code: string,
  message?: string,
): Promise<void> =>
  assert.rejects(turns instanceof Promise ? turns : turn(turns), {
    name: "ConversationError",
    code,
    ...(message === undefined ? {} : { message }),
  });

const BUSY = "The agent is still answering; try again when it is done.";
const NOTHING = "There is nothing to try again: the last turn was finished";

Deno.test("a step that fails is where the conversation stands; it is tried again without its conditions", async () => {
  const { model, asked } = failing(3);
  const store = memoryJournal();
  const on = { name: "on", condition: { equals: 1 }, destination: "global" };
  const guarded = (step: StepJson): StepJson => ({ ...step, conditions: [on] });
  const one = await talk(
    chain([say("a"), guarded(chain([guarded(llm("b")), guarded(say("never")), say("c")], "in")), ask("d")]),
    { model, store, slots: { "global.on": 1 } },
  );
  const first = await one.start();
  assert.deepEqual([endOf(first).status, endOf(first).error], ["failed", 'step "b": no 1']);
  assert.deepEqual(eventsOf(first, "step-end").at(-1)?.error, { message: 'step "b": no 1' });
  await (await talk(say("off"), { store, slots: { "global.on": 0 } })).start();
  for (const n of [2, 3]) assert.equal(endOf(await one.retry()).error, `step "b": no ${n}`);
  assert.deepEqual(told(await one.retry()), ["say b: b", "skip never", "say c: c", "say d: d", "hold d"]);
  assert.deepEqual(asked, ["b", "b", "b", "b"]);
  assert.deepEqual(one.lines, ["bot a: a", "bot b: b", "bot c: c", "bot d: d"]);
  await refused(one.retry(), "nothing", NOTHING);
});

Deno.test("a message to a failed conversation tries its step again, is logged under it, and answers no later hold", async () => {
  const seen: unknown[] = [];
  const { model } = failing(1);
  const one = await talk(
    chain([ask("q"), llm("b", { memory: [{ selector: "current" }] }), ask("r"), say("end")]),
    {
      model(request) {
        seen.push(request.messages.map(({ content }) => content));
        return model(request);
      },
    },
  );
  await one.start("hi");
  assert.equal(one.conversation.status, "failed");
  assert.deepEqual(told(await one.say("are you there?")), ["say b: b", "say r: r", "hold r"]);
  assert.deepEqual(one.lines, ["bot q: q", "user q: hi", "user b: are you there?", "bot b: b", "bot r: r"]);
  assert.deepEqual(seen, [["go"], ["go", "are you there?"]]);
});

Deno.test("what was said at the start waits for the first hold, also through failures and another process", async () => {
  const { model } = failing(2);
  const store = memoryJournal();
  const agent = await agentOf(chain([llm("b"), ask("q"), ask("r"), say("end")]));
  const one = await talk(agent, { model, store });
  await one.start("I am Ana");
  assert.deepEqual([one.conversation.status, one.lines], ["failed", []]);
  const again = await talk(agent, { model, store, id: one.conversation.id });
  await again.say("hello?");
  assert.deepEqual([again.conversation.status, again.lines], ["failed", ["user b: hello?"]]);
  assert.deepEqual(told(await again.retry()), ["say b: b", "say q: q", "say r: r", "hold r"]);
  assert.deepEqual(again.lines.slice(1), ["bot b: b", "bot q: q", "user q: I am Ana", "bot r: r"]);
});

Deno.test("a retry begins to count its steps anew", async () => {
  const one = await talk(
    chain([count("n", "n"), when(go("back", "n"), "n", { "less-than": 12 }), say("end")]),
    {
      limits: { steps: 10 },
    },
  );
  assert.equal(endOf(await one.start()).status, "failed");
  assert.equal(endOf(await one.retry()).status, "failed");
  assert.equal(endOf(await one.retry()).status, "completed");
});

Deno.test("an agent file that changed: the step at which it waits has to be there", async () => {
  const store = memoryJournal();
  const was = await agentOf(chain([ask("q"), say("a", "old")]));
  const held = async (): Promise<string> => {
    const one = await talk(was, { store });
    await one.start();
    return one.conversation.id;
  };
  const goesOn: readonly (readonly [StepJson, readonly string[]])[] = [
    [chain([ask("q", "new"), say("a", "new")]), ["say a: new"]],
    [chain([say("x"), chain([say("y"), ask("q"), say("z")], "deeper"), say("a", "new")]), [
      "say z: z",
      "say a: new",
    ]],
    [chain([set("q", { x: 1 }), say("a", "new")]), ["say a: new"]],
    [chain([say("a", "new"), ask("q")]), []],
  ];
  for (const [steps, expected] of goesOn) {
    const one = await talk(await agentOf(steps), { store, id: await held() });
    assert.deepEqual(told(await one.say("hello")), expected);
  }
  const gone = [
    chain([ask("other"), say("a")]),
    chain([chain([ask("p")], "q"), say("a")]),
    chain([{ id: "both", combined: [ask("q"), say("a")] }]),
  ];
  for (const steps of gone) {
    const one = await talk(await agentOf(steps), { store, id: await held() });
    const message = 'The agent file changed and step "q" is gone; start a new conversation.';
    await refused(one.say("hello"), "changed", message);
    assert.deepEqual([one.conversation.status, one.lines], ["held", ["bot q: q"]]);
    const back = await talk(was, { store, id: one.conversation.id });
    assert.deepEqual(told(await back.say("hello")), ["say a: old"]);
  }
});

Deno.test("an agent file that changed: in combined steps, each branch has to find its place, and each jump its target", async () => {
  const both = (steps: readonly StepJson[], id = "both"): StepJson => ({ id, combined: steps });
  const left = chain([ask("q"), say("q2")], "left");
  const was = await agentOf(chain([both([left, say("done"), go("jump", "y")]), say("x"), say("y")]));
  const store = memoryJournal();
  const rows: readonly (readonly [StepJson, string | readonly string[]])[] = [
    [
      chain([both([say("new"), go("jump", "y"), left, say("done", "again")]), say("y", "Y")]),
      ["say new: new", "say q2: q2", "jump jump to y", "say y: Y"],
    ],
    [chain([both([left, go("jump", "y")]), say("x"), say("y")]), "done"],
    [chain([both([left, say("done"), go("jump", "x")]), say("x")]), "y"],
    [chain([both([left, say("done"), go("jump", "x")]), say("x"), both([say("y")], "more")]), "y"],
    [
      chain([both([chain([say("q2")], "left"), say("done"), go("jump", "x"), ask("q")]), say("x"), say("y")]),
      "q",
    ],
    [
      chain([both([chain([both([ask("q")], "deeper")], "left"), say("done"), go("jump", "y")]), say("y")]),
      "q",
    ],
    [chain([chain([left, say("done"), go("jump", "y")], "both"), say("y")]), "both"],
    [chain([say("both"), left, say("done"), go("jump", "y"), say("y")]), "both"],
  ];
  for (const [steps, expected] of rows) {
    const one = await talk(was, { store });
    await one.start();
    const changed = await talk(await agentOf(steps), { store, id: one.conversation.id });
    if (typeof expected !== "string") assert.deepEqual(told(await changed.say("hello")), expected);
    else {
      const message = `The agent file changed and step "${expected}" is gone; start a new conversation.`;
      await refused(changed.say("hello"), "changed", message);
    }
  }
});

Deno.test("an agent file that changed: a step that failed is tried as it is now, or is gone", async () => {
  const store = memoryJournal();
  const failed = async (): Promise<string> => {
    const one = await talk(chain([llm("b"), say("end")]), { store });
    await one.start();
    return one.conversation.id;
  };
  const mended = await talk(await agentOf(chain([say("b", "mended"), say("end")])), {
    store,
    id: await failed(),
  });
  assert.deepEqual(told(await mended.retry()), ["say b: mended", "say end: end"]);
  const without = await talk(await agentOf(chain([say("end")])), { store, id: await failed() });
  await refused(
    without.retry(),
    "changed",
    'The agent file changed and step "b" is gone; start a new conversation.',
  );
});

Deno.test("a turn that was interrupted is finished with the file that began it, the next one takes the file as it is now", async () => {
  const store = memoryJournal();
  const steps = (text: string): StepJson => chain([ask("q"), llm("b"), ask("r", text), say("end", text)]);
  const hanging = { model: (): Promise<string> => new Promise(() => {}) };
  const one = await talk(await agentOf(steps("old")), { store, ...hanging });
  await one.start();
  const change = await talk(await agentOf(steps("mid")), { store, id: one.conversation.id, ...hanging });
  for await (const event of change.conversation.say("hello")) if (event.type === "step-start") break;
  const now = await talk(await agentOf(steps("new")), { store, id: one.conversation.id, ...failing(0) });
  assert.deepEqual(told(await now.retry()), ["say b: b", "say r: mid", "hold r"]);
  assert.deepEqual(told(await now.say("on")), ["say end: new"]);
});

Deno.test("two at once: the second one is refused, and the first goes on", async () => {
  const gate = Promise.withResolvers<string>();
  const agent = await agentOf(chain([llm("b"), ask("q"), say("end")]));
  const store = memoryJournal();
  const one = await talk(agent, { store, model: () => gate.promise });
  const first = one.conversation.start("hello")[Symbol.asyncIterator]();
  await first.next();
  assert.equal(one.conversation.status, "running");
  for (const events of [one.conversation.start(), one.conversation.say("x"), one.conversation.retry()]) {
    await refused(events, "busy", BUSY);
  }
  const other = await talk(agent, { store, id: one.conversation.id });
  for (
    const events of [other.conversation.start(), other.conversation.say("x"), other.conversation.retry()]
  ) {
    await refused(events, "busy", BUSY);
  }
  gate.resolve("answer");
  for (let next = await first.next(); next.done !== true; next = await first.next());
  assert.deepEqual(one.lines, ["bot b: answer", "bot q: q", "user q: hello", "bot end: end"]);
});

Deno.test("two at once: begun in the same moment, one of them is refused", async () => {
  const one = await talk(chain([ask("q"), ask("r"), say("end")]));
  await one.start();
  const both = await Promise.allSettled([turn(one.conversation.say("a")), turn(one.conversation.say("b"))]);
  assert.deepEqual(both.map(({ status }) => status), ["fulfilled", "rejected"]);
  assert.deepEqual(one.lines, ["bot q: q", "user q: a", "bot r: r"]);
});

Deno.test("whoever reads the last event may answer at once", async () => {
  const one = await talk(chain([ask("q"), ask("r"), ask("s")]));
  for await (const event of one.conversation.start()) {
    if (event.type !== "run-end") continue;
    const answer = turn(one.conversation.say("a"));
    await refused(one.conversation.say("b"), "busy", BUSY);
    await answer;
    await turn(one.conversation.say("b"));
  }
  assert.deepEqual(one.lines, ["bot q: q", "user q: a", "bot r: r", "user r: b", "bot s: s"]);
});

Deno.test("two that look at one conversation: each answers it where it is now", async () => {
  const store = memoryJournal();
  const agent = await agentOf(chain([ask("q"), llm("b"), ask("r"), ask("s"), say("end")]));
  const { model } = failing(1);
  const one = await talk(agent, { store, model });
  await one.start();
  const open = () => talk(agent, { store, model, id: one.conversation.id });
  const [held, alsoHeld, stillHeld] = [await open(), await open(), await open()];
  await one.say("1");
  const [failed, alsoFailed] = [await open(), await open()];
  assert.equal(failed.conversation.status, "failed");
  await refused(
    held.conversation.start(),
    "busy",
    "This conversation has begun already: answer it with say()",
  );
  assert.deepEqual(told(await held.retry()), ["say b: b", "say r: r", "hold r"]);
  await refused(failed.retry(), "nothing", NOTHING);
  assert.deepEqual(told(await alsoFailed.say("2")), ["say s: s", "hold s"]);
  assert.deepEqual(told(await alsoHeld.say("3")), ["say end: end"]);
  await refused(stillHeld.say("4"), "ended", "This conversation has ended. Start a new one.");
  assert.deepEqual(alsoHeld.lines, [
    "bot q: q",
    "user q: 1",
    "bot b: b",
    "bot r: r",
    "user r: 2",
    "bot s: s",
    "user s: 3",
    "bot end: end",
  ]);
  assert.equal(store.list()[0]?.status, "done");
});

Deno.test("two that look at one conversation: an interrupted turn is not taken for an answer", async () => {
  const store = memoryJournal();
  const agent = await agentOf(chain([ask("q"), llm("b"), ask("r"), say("end")]));
  let asked = 0;
  const model = (): Promise<string> => asked++ === 0 ? new Promise(() => {}) : Promise.resolve("answer");
  const one = await talk(agent, { store, model });
  await one.start();
  const other = await talk(agent, { store, model, id: one.conversation.id });
  const third = await talk(agent, { store, model, id: one.conversation.id });
  for await (const event of one.conversation.say("lost?")) if (event.type === "step-start") break;
  const message = "The last turn of this conversation was interrupted: finish it with retry() first";
  for (const each of [one, other]) await refused(each.say("x"), "interrupted", message);
  assert.equal(other.conversation.status, "running");
  await other.retry();
  await refused(one.retry(), "nothing", NOTHING);
  assert.deepEqual(told(await third.say("y")), ["say end: end"]);
  assert.deepEqual(third.lines.slice(1), [
    "user q: lost?",
    "bot b: answer",
    "bot r: r",
    "user r: y",
    "bot end: end",
  ]);
});

Deno.test("leaving the events early interrupts the turn; retry finishes it, and nothing that was done is done again", async () => {
  const asked: string[] = [];
  let isHanging = true;
  const one = await talk(chain([ask("q"), llm("b"), count("n", "n"), llm("c"), say("d", "{{n}}")]), {
    model({ step, signal }) {
      asked.push(step);
      if (step !== "c" || !isHanging) return Promise.resolve(step);
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  });
  await one.start();
  const seen: RunEvent[] = [];
  for await (const event of one.conversation.say("hello")) {
    seen.push(event);
    if (event.type === "step-start" && event.kind === "model" && event.key.includes("/c/")) break;
  }
  assert.deepEqual([one.conversation.status, one.lines], ["running", ["bot q: q"]]);
  assert.deepEqual(one.conversation.slots(), {});
  isHanging = false;
  const events = await one.retry();
  assert.deepEqual(told(events), ["say b: b", "set conversation.n 1", "say c: c", "say d: 1"]);
  const [before, message] = [
    seen.at(-1)?.seq ?? 0,
    eventsOf(events, "message").find(({ step }) => step === "c"),
  ];
  assert.ok(message !== undefined && message.seq > before, "what is new has a number that nobody has seen");
  assert.deepEqual(asked, ["b", "c", "c"]);
  assert.deepEqual(one.lines, ["bot q: q", "user q: hello", "bot b: b", "bot c: c", "bot d: 1"]);
});

Deno.test("leaving the events early: a model that takes no notice of it holds nobody up", async () => {
  let asked = 0;
  const one = await talk(chain([say("a"), llm("b")]), {
    model: () => asked++ === 0 ? new Promise(() => {}) : Promise.resolve("answer"),
  });
  for await (const event of one.conversation.start()) if (event.type === "message") break;
  await one.retry();
  assert.deepEqual(one.lines, ["bot a: a", "bot b: answer"]);
});

Deno.test("leaving the events early: a turn that was over by then is over", async () => {
  const one = await talk(chain([say("a"), ask("q"), say("end")]));
  const isOver = () => new Promise((resolve) => setTimeout(resolve)); // nothing in it waits
  for await (const event of one.conversation.start()) {
    await isOver();
    if (event.type === "run-start") break;
  }
  assert.deepEqual([one.conversation.status, one.lines], ["held", ["bot a: a", "bot q: q"]]);
  await refused(one.retry(), "nothing", NOTHING);
  for await (const event of one.conversation.say("x")) {
    await isOver();
    if (event.type === "message") break;
  }
  assert.equal(one.conversation.status, "completed");
});

Deno.test("leaving the events early: what the reader throws is thrown, and the turn can be finished", async () => {
  const one = await talk(chain([say("a"), llm("b"), say("end")]), failing(0));
  const mine = new Error("mine");
  const read = async (): Promise<void> => {
    for await (const event of one.conversation.start()) if (event.type === "message") throw mine;
  };
  await assert.rejects(read(), mine);
  if (one.conversation.status === "running") await one.retry();
  assert.deepEqual(one.lines, ["bot a: a", "bot b: b", "bot end: end"]);
});

Deno.test("a signal ends the turn as interrupted", async () => {
  const stop = new AbortController();
  let asked = 0;
  const agent: AgentFile = await agentOf(chain([say("a"), llm("b")]));
  const store = memoryJournal();
  const model = (): Promise<string> => {
    if (asked++ > 0) return Promise.resolve("answer");
    stop.abort();
    return new Promise(() => {});
  };
  const one = await talk(agent, { store, model, signal: stop.signal });
  const events = await turn(one.conversation.start());
  assert.deepEqual([endOf(events).status, endOf(events).reason], ["stopped", "interrupted"]);
  assert.equal(one.conversation.status, "running");
  const again = await talk(agent, { store, model, id: one.conversation.id });
  assert.equal(again.conversation.status, "running");
  await again.retry();
  assert.deepEqual(again.lines, ["bot a: a", "bot b: answer"]);
});

Deno.test("a turn that is interrupted before anything comes of it has kept what was said", async () => {
  const store = memoryJournal();
  const agent = await agentOf(chain([ask("a"), say("b"), ask("c")]));
  const one = await talk(agent, { store });
  await one.start();
  const { id } = one.conversation;
  const signal = AbortSignal.abort();
  const two = await talk(agent, { store, id, signal });
  const { status, reason } = endOf(await turn(two.conversation.say("hello")));
  assert.deepEqual([status, reason], ["stopped", "interrupted"]);
  const three = await talk(agent, { store, id });
  assert.equal(three.conversation.status, "running");
  await assert.rejects(three.say("again"), /interrupted: finish it with retry\(\) first/);
  await three.retry();
  assert.deepEqual(three.lines, ["bot a: a", "user a: hello", "bot b: b", "bot c: c"]);
});

Deno.test("a turn whose beginning was not kept has not begun: it is said again", async () => {
  const agent = await agentOf(chain([ask("a"), say("b"), ask("c")]));
  const begins = [
    (run: RunJournal) =>
      run.begin({ key: "turn[2]", kind: "ask", name: "user", input: null, idempotent: true }),
    () => undefined, // the process was about to end, and began no step
  ];
  for (const begin of begins) {
    const store = memoryJournal();
    const one = await talk(agent, { store });
    await one.start();
    const { id } = one.conversation;
    const run = store.open(id);
    const at = run.lastAt;
    run.tell({
      type: "run-start",
      kind: "conversation",
      file: agent.file,
      seq: run.lastSeq + 1,
      at,
      run: id,
    });
    begin(run);
    run.release("stopped");
    const two = await talk(agent, { store, id });
    assert.equal(two.conversation.status, "held");
    assert.equal(store.conversation(id).isOpen, false);
    await assert.rejects(two.retry(), /There is nothing to try again/);
    const events = await two.say("hello");
    assert.equal(endOf(events).status, "held");
    assert.deepEqual(two.lines, ["bot a: a", "user a: hello", "bot b: b", "bot c: c"]);
    assert.equal(eventsOf(events, "run-start").length, 1);
  }
});

Deno.test("a gadget whose end is not known is not called again, unless the step is tried again on purpose", async () => {
  let calls = 0;
  const once = defineGadget({
    name: "Once",
    description: "Does something that cannot be taken back.",
    run: () => ++calls === 1 ? new Promise<string>(() => {}) : `call ${calls}`,
  });
  const one = await talk(
    chain([
      say("a"),
      { id: "g", gadget: { name: "Once", input: {}, target: { slot: { name: "x" } } } },
      say("end", "{{x}}"),
    ]),
    { gadgets: [once] },
  );
  for await (const event of one.conversation.start()) if (event.type === "call-run") break;
  const unverified = await one.retry();
  assert.match(endOf(unverified).error ?? "", /^step "g": gadget "Once": Started before the process ended/);
  assert.deepEqual([calls, one.conversation.status], [1, "failed"]);
  await one.retry();
  assert.deepEqual([calls, one.lines], [2, ["bot a: a", "bot end: call 2"]]);
});

/** A store whose commits fail from some moment on. */
function breakable(
  path: string,
): { readonly store: Store & Disposable; breakAfter(commits: number): void; mend(): void } {
  const store = journalAt(path);
  const query = (sql: string): void => {
    using database = new DatabaseSync(path);
    database.exec(sql);
  };
  query(`
    CREATE TABLE left (n INTEGER) STRICT;
    INSERT INTO left VALUES (1000000);
    CREATE TRIGGER broken BEFORE UPDATE ON runs WHEN (SELECT n FROM left) <= 0
      BEGIN SELECT raise(ABORT, 'the disk is full'); END;
    CREATE TRIGGER counted AFTER UPDATE ON runs BEGIN UPDATE left SET n = n - 1; END;`);
  const allow = (commits: number): void => query(`UPDATE left SET n = ${commits}`);
  return { store, breakAfter: allow, mend: () => allow(1_000_000) };
}

/** Answers, with commits that fail from this one on; gives how the turn ended. */
async function answeredAfter(commits: number, path: string): Promise<string> {
  const { store, breakAfter, mend } = breakable(path);
  using _closed = store;
  const full = `Cannot write the journal "${path}": the disk is full; make room and resume`;
  const steps = chain([ask("q"), llm("b"), say("x"), llm("c"), ask("r"), say("end")]);
  const { model, asked } = failing(0);
  const one = await talk(steps, { store, model });
  await one.start();
  breakAfter(commits);
  const end = await turn(one.conversation.say("hello")).then(endOf, (error: Error) => error.message);
  if (typeof end === "string") {
    assert.deepEqual([end, one.conversation.status, one.lines], [full, "held", ["bot q: q"]]);
    mend();
    await one.say("hello");
  } else if (end.status === "failed") {
    assert.deepEqual([end.reason, end.error], ["journal", `The journal could not be written: ${full}`]);
    assert.equal(one.conversation.status, "running");
    await assert.rejects(turn(one.conversation.retry()), { message: full });
    mend();
    await turn(one.conversation.retry()).catch((error) => assert.equal(error.message, NOTHING));
  }
  assert.equal(one.conversation.status, "held");
  const said = ["bot q: q", "user q: hello", "bot b: b", "bot x: x", "bot c: c", "bot r: r"];
  assert.deepEqual(one.lines, said, `after ${commits} commits`);
  const kept = await talk(steps, { store, id: one.conversation.id });
  assert.deepEqual(kept.lines, said);
  assert.ok(asked.length <= 3, `${asked}`); // a question whose answer could not be kept
  return typeof end === "string" ? "refused" : end.status;
}

Deno.test("a store that cannot be written: nothing is taken for done, and it goes on when it can be", async () => {
  const seen: string[] = [];
  for (let commits = 0; seen.at(-1) !== "held"; commits++) {
    await withDatabaseFile(async (path) => void seen.push(await answeredAfter(commits, path)));
  }
  assert.deepEqual(seen.slice(0, 2), ["refused", "failed"]);
  assert.ok(seen.length > 3, `${seen}`);
});

Deno.test("what is no conversation of the store is not one", async () => {
  const store = memoryJournal();
  const agent = await agentOf(ask("q"));
  await assert.rejects(talk(agent, { store, id: "nobody" }), { name: "ConversationError", code: "gone" });
  const calls = store.create({ kind: "calls", input: null });
  calls.release("stopped");
  await assert.rejects(talk(agent, { store, id: calls.id }), {
    code: "gone",
    message: `Run "${calls.id}" is no conversation: it is of the kind "calls"`,
  });
  const one = await talk(agent, { store });
  await one.start();
  store.remove(one.conversation.id);
  await refused(one.say("hello"), "gone");
});
