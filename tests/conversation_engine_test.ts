// The way through an agent file, rule by rule (conversations.md 2.2 to 2.6), beyond what the cases of the specification show. Combined
// steps, and what fails or is interrupted, have files of their own.

import assert from "node:assert/strict";
import { memoryJournal } from "../mod.ts";
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

Deno.test("start: what is said answers the first hold, and only that one", async () => {
  const steps = chain([say("hi"), ask("name?"), set("keep", { x: 1 }), ask("age?"), say("bye")]);
  const { conversation, lines, ...turns } = await talk(steps);
  assert.deepEqual([conversation.status, conversation.log], ["held", []]);
  const events = await turns.start("I am Ana");
  assert.deepEqual(told(events), [
    "say hi: hi",
    "say name?: name?",
    "set conversation.x 1",
    "say age?: age?",
    "hold age?",
  ]);
  assert.equal(endOf(events).value, "hi\n\nname?\n\nage?");
  await turns.say("42");
  assert.equal(conversation.status, "completed");
  assert.deepEqual(conversation.log.map(({ text }) => text), [
    "hi",
    "name?",
    "I am Ana",
    "age?",
    "42",
    "bye",
  ]);
  assert.deepEqual(lines, []); // as it was when it was taken
});

Deno.test("start: what no hold takes is not in the log, and a warning says so", async () => {
  const one = await talk(chain([say("a"), when(ask("b"), "x", { exists: true })]));
  const events = await one.start("hello");
  assert.deepEqual(told(events), [
    "say a: a",
    "skip b",
    "warn no step waited for a message: what was said at the start is not in the log",
  ]);
  assert.deepEqual([one.conversation.status, one.lines], ["completed", ["bot a: a"]]);
});

Deno.test("say: the first message begins a conversation too", async () => {
  const one = await talk(chain([ask("q"), say("a")]));
  await one.say("hello");
  assert.deepEqual(one.lines, ["bot q: q", "user q: hello", "bot a: a"]);
});

Deno.test("a hold: on the last step, on one that says nothing, in a chain in a chain", async () => {
  const inner = chain([chain([{ id: "silent", message: { message: "{{none}}", hold: true } }], "b")], "a");
  const one = await talk(chain([inner, ask("last")]));
  assert.deepEqual(told(await one.start()), ["hold silent"]);
  assert.deepEqual(told(await one.say("x")), ["say last: last", "hold last"]);
  const end = await one.say("y");
  assert.deepEqual(told(end), []);
  assert.equal("value" in endOf(end), false);
  assert.deepEqual(one.lines, ["user silent: x", "bot last: last", "user last: y"]);
  assert.equal(one.conversation.status, "completed");
});

Deno.test("a hold: its conditions are not looked at again", async () => {
  const one = await talk(chain([
    when(ask("q"), "session.x", { exists: false }),
    say("after"),
  ]));
  await one.start();
  await one.say("yes");
  assert.deepEqual(one.lines, ["bot q: q", "user q: yes", "bot after: after"]);
});

Deno.test("empty texts say nothing", async () => {
  const one = await talk(chain([say("a", ""), say("b", "{{none}}"), say("c", " "), say("d", "{{x y}}")]));
  assert.deepEqual(told(await one.start()), ["say c:  ", "say d: {{x y}}"]);
});

Deno.test("what is refused: blank, ended, begun already, nothing to try again", async () => {
  const one = await talk(chain([ask("q")]));
  const refused = (turns: Promise<unknown>, code: string, message: string): Promise<void> =>
    assert.rejects(turns, { name: "ConversationError", code, message });
  const blank = "The message is empty.";
  await refused(one.start(" \n\t"), "empty", blank);
  await refused(
    turn(one.conversation.retry()),
    "nothing",
    "There is nothing to try again: the last turn was finished",
  );
  await one.start();
  for (const text of ["", " ", "\u00a0\u2003\n"]) await refused(one.say(text), "empty", blank);
  await refused(one.start(), "busy", "This conversation has begun already: answer it with say()");
  await refused(one.retry(), "nothing", "There is nothing to try again: the last turn was finished");
  assert.equal(one.conversation.status, "held");
  await one.say("x");
  const ended = "This conversation has ended. Start a new one.";
  await refused(one.say("y"), "ended", ended);
  await refused(one.retry(), "nothing", "There is nothing to try again: the last turn was finished");
  assert.deepEqual(one.lines, ["bot q: q", "user q: x"]);
});

Deno.test("nothing happens before the first event is read, and a turn is taken once", async () => {
  const store = memoryJournal();
  const one = await talk(chain([ask("q"), ask("r")]), { store });
  one.conversation.start();
  assert.equal(store.list().length, 0);
  await one.start();
  const [first, second] = [one.conversation.say("a"), one.conversation.say("b")];
  await turn(first);
  await turn(second);
  assert.deepEqual(one.lines, ["bot q: q", "user q: a", "bot r: r", "user r: b"]);
});

const GUARDED = (then: readonly StepJson[]): StepJson =>
  chain([
    ...then,
    say("between"),
    when(
      chain(
        [say("o1"), when(chain([say("i1"), say("i2")], "inner"), "i", { equals: 1 }), say("o2")],
        "outer",
      ),
      "o",
      { equals: 1 },
    ),
    say("end"),
  ]);

Deno.test("goto: into chains the guards are checked from the outermost one, and a chain that is skipped is gone on after", async () => {
  const rows: readonly (readonly [Readonly<Record<string, number>>, readonly string[]])[] = [
    [{ o: 1, i: 1 }, ["say i2: i2", "say o2: o2", "say end: end"]],
    [{ o: 1, i: 0 }, ["skip inner", "say o2: o2", "say end: end"]],
    [{ o: 0, i: 1 }, ["skip outer", "say end: end"]],
    [{ o: 0, i: 0 }, ["skip outer", "say end: end"]],
  ];
  for (const [slots, expected] of rows) {
    const one = await talk(GUARDED([go("go", "i2")]), { slots });
    assert.deepEqual(told(await one.start()), ["jump go to i2", ...expected], JSON.stringify(slots));
  }
});

Deno.test("goto: to the first step of a chain starts the chain, to another one in it does not", async () => {
  const loop = (target: string): StepJson =>
    chain([
      when(
        chain(
          [count("up", "n"), say("show", "{{n}}"), when(go("back", target), "n", { "less-than": 5 })],
          "loop",
        ),
        "n",
        {
          "less-than": 3,
        },
      ),
      say("end"),
    ]);
  const first = await talk(loop("up"), { slots: { n: 0 } });
  await first.start();
  assert.deepEqual(first.conversation.log.map(({ text }) => text), ["1", "2", "3", "end"]);
  const second = await talk(loop("show"), { slots: { n: 0 }, limits: { steps: 20 } });
  assert.match(endOf(await second.start()).error ?? "", /stopped after 20 steps/); // n is 1 for ever
  const other = await talk(
    chain([
      when(
        chain([say("a"), count("up", "n"), when(go("back", "up"), "n", { "less-than": 4 })], "loop"),
        "n",
        { "less-than": 1 },
      ),
      say("end", "{{n}}"),
    ]),
    { slots: { n: 0 } },
  );
  await other.start();
  assert.deepEqual(other.conversation.log.map(({ text }) => text), ["a", "4"]);
});

Deno.test("goto: the first step of the first chain in a chain starts both", async () => {
  const steps = chain([
    when(
      chain([
        when(chain([count("up", "n"), when(go("back", "up"), "n", { "less-than": 9 })], "inner"), "n", {
          "less-than": 3,
        }),
        say("o", "o{{n}}"),
      ], "outer"),
      "n",
      { "less-than": 5 },
    ),
    say("end"),
  ]);
  const one = await talk(steps, { slots: { n: 0 } });
  const events = await one.start();
  assert.deepEqual(eventsOf(events, "step-skip").map(({ step }) => step), ["inner"]);
  assert.deepEqual(one.lines, ["bot o: o3", "bot end: end"]);
  const outer = await talk(steps, { slots: { n: 4 } });
  assert.deepEqual(told(await outer.start()), ["skip inner", "say o: o4", "say end: end"]);
});

Deno.test("goto: the conditions of the target itself are checked; to itself, backwards and to the very first step", async () => {
  const skipped = await talk(
    chain([go("go", "b"), say("a"), when(say("b"), "x", { exists: true }), say("c")]),
  );
  assert.deepEqual(told(await skipped.start()), ["jump go to b", "skip b", "say c: c"]);
  const self = await talk(chain([say("a"), go("go", "go")]), { limits: { steps: 4 } });
  const stopped = await self.start();
  assert.deepEqual(told(stopped), [
    "say a: a",
    "jump go to go",
    "jump go to go",
    "jump go to go",
    "warn the last steps were a, go, go, go, go",
  ]);
  const first = await talk(
    chain([count("n", "n"), say("show", "{{n}}"), when(go("back", "n"), "n", { "less-than": 3 })]),
  );
  await first.start();
  assert.deepEqual(first.conversation.log.map(({ text }) => text), ["1", "2", "3"]);
  const root = await talk(when(go("only", "only"), "session.never", { exists: true }));
  assert.deepEqual(told(await root.start()), ["skip only"]);
});

Deno.test("goto: a step around the root chain is the chain's own first step", async () => {
  const guarded = when(chain([count("n", "n"), go("back", "n")]), "n", { "not-equals": 3 });
  const one = await talk(guarded, { slots: { n: 0 } });
  const events = await one.start();
  assert.deepEqual(one.conversation.slots(), { "conversation.n": 3 });
  assert.deepEqual(told(events).slice(-2), ["jump back to n", "skip main"]);
});

Deno.test("goto: templated targets are filled, from any destination and from constants, and checked when they are taken", async () => {
  const side = { id: "both", combined: [say("left"), chain([say("right")], "rights")] };
  const steps = (target: string): StepJson =>
    chain([say("a"), go("go", target), say("b"), side, chain([say("c")], "cs")]);
  const ends = async (target: string): Promise<readonly [readonly string[], string | undefined]> => {
    const one = await talk(steps(target), {
      slots: {
        to: "c",
        "session.to": "both",
        "global.to": "b",
        none: "",
        mm: "bb",
        chain: "cs",
        in: "right",
      },
      constants: { fixed: "b" },
    });
    const events = await one.start();
    return [told(events), endOf(events).error];
  };
  assert.deepEqual((await ends("{{to}}"))[0], ["say a: a", "jump go to c", "say c: c"]);
  assert.deepEqual((await ends("{{session.to}}"))[0].slice(1, 3), ["jump go to both", "say left: left"]);
  assert.deepEqual((await ends("{{fixed}}"))[0].slice(0, 3), ["say a: a", "jump go to b", "say b: b"]);
  assert.deepEqual((await ends("{{ global.to }}"))[0].slice(1, 2), ["jump go to b"]);
  const errors: readonly (readonly [string, RegExp])[] = [
    ["{{none}}", /^step "go": goto: there is no step ""/],
    ["{{missing}}", /^step "go": goto: there is no step ""/],
    ["{{mm}}", /^step "go": goto: there is no step "bb" \(did you mean "b"\?\)$/],
    ["{{chain}}", /^step "go": goto: "cs" is a chain and cannot be a goto target; use its first step "c"$/],
    ["{{in}}", /^step "go": goto: "right" is inside the combined step "both"; go to "both" instead$/],
  ];
  for (const [target, error] of errors) {
    const [lines, found] = await ends(target);
    assert.match(found ?? "", error);
    assert.deepEqual(lines, ["say a: a"]);
  }
});

Deno.test("repeat: the innermost chain again, with its guard; false goes on after it", async () => {
  const one = await talk(
    chain([
      chain([
        say("outer"),
        when(chain([count("n", "n"), say("in", "{{n}}"), go("again", "repeat")], "inner"), "n", {
          "less-than": 2,
        }),
        when(set("on", { n: 0, m: "{{m}}x" }), "m", { "not-equals": "xx" }),
        when(go("outer again", "repeat"), "n", { equals: 0 }),
      ], "outer chain"),
      say("end"),
    ]),
    { slots: { n: 0, m: "" } },
  );
  await one.start();
  const twice = ["outer", "1", "2"];
  assert.deepEqual(one.conversation.log.map(({ text }) => text), [...twice, ...twice, ...twice, "end"]);
});

Deno.test("repeat: log and slots are kept, and the root chain can be repeated over several turns", async () => {
  const one = await talk(chain([ask("q", "{{n}}?"), count("up", "n"), go("again", "repeat")]));
  await one.start();
  for (const text of ["a", "b"]) await one.say(text);
  assert.deepEqual(one.lines, ["bot q: ?", "user q: a", "bot q: 1?", "user q: b", "bot q: 2?"]);
});

Deno.test("flows: continue is the next step, end ends the conversation wherever it is", async () => {
  const one = await talk(chain([
    go("on", "continue"),
    chain([chain([say("in"), ask("q"), go("stop", "end"), say("no")], "b"), say("no 2")], "a"),
    say("no 3"),
  ]));
  await one.start();
  assert.deepEqual(told(await one.say("x")), []);
  assert.deepEqual([one.conversation.status, one.lines], ["completed", [
    "bot in: in",
    "bot q: q",
    "user q: x",
  ]]);
});

Deno.test("chains: a guard counts when the chain starts, also where a step in it changes the slot and waits", async () => {
  const one = await talk(chain([
    when(chain([set("x", { x: 1 }), ask("q"), say("still")], "once"), "x", { exists: false }),
    when(chain([say("never")], "twice"), "x", { exists: false }),
    say("end"),
  ]));
  await one.start();
  assert.deepEqual(told(await one.say("a")), ["say still: still", "skip twice", "say end: end"]);
});

Deno.test("conditions: all must hold, in every destination, and a step that is skipped does nothing", async () => {
  const conditions = [
    { name: "a", condition: { equals: 1 } },
    { name: "b", condition: { exists: true }, destination: "session" },
  ];
  const step = { ...ask("q"), conditions };
  const steps = chain([
    step,
    { ...set("s", { x: 1 }), conditions },
    { ...go("go", "q"), conditions },
    say("end"),
  ]);
  const none = await talk(steps, { slots: { a: 1 } });
  const events = await none.start();
  assert.deepEqual(told(events), ["skip q", "skip s", "skip go", "say end: end"]);
  assert.equal(eventsOf(events, "step-skip")[0]?.condition, "session.b exists true");
  const first = await talk(steps, { slots: { "session.b": 1 } });
  assert.equal(eventsOf(await first.start(), "step-skip")[0]?.condition, "conversation.a equals 1");
  const both = await talk(steps, { slots: { a: "1", "session.b": 0 } });
  assert.deepEqual(told(await both.start()), ["say q: q", "hold q"]);
});

Deno.test("steps without a hold are counted: skipped ones too, chains not, and each hold begins anew", async () => {
  const endless = chain([
    chain(
      [chain([say("a", "")], "c2"), when(say("b", ""), "x", { exists: true }), go("again", "repeat")],
      "c1",
    ),
  ]);
  const one = await talk(endless);
  const events = await one.start();
  assert.equal(
    endOf(events).error,
    'step "b": stopped after 250 steps without waiting for the user; there is probably a loop without a hold',
  );
  assert.deepEqual(eventsOf(events, "warning").map(({ text }) => text), [
    `the last steps were ${"again, a, b, ".repeat(4).slice(0, -2)}`,
  ]);
  assert.equal(eventsOf(events, "step-skip").length, 83); // that of the last one was not looked at
  const steps = Array.from({ length: 9 }, (_, n) => say(`s${n}`, ""));
  const held = chain([
    ...steps,
    ask("q"),
    ...steps.map(({ id, ...step }) => ({ ...step, id: `${id}b` })),
    ask("r"),
  ]);
  const two = await talk(held, { limits: { steps: 10 } });
  await two.start("answers the first hold");
  assert.equal(two.conversation.status, "held");
  const three = await talk(held, { limits: { steps: 9 } });
  assert.match(endOf(await three.start()).error ?? "", /^step "q": stopped after 9 steps/);
});

Deno.test("a loop that waits has no end and no limit", async () => {
  const one = await talk(chain([ask("q", "n={{n}}"), count("up", "n"), go("back", "q")]), {
    limits: { steps: 3 },
  });
  await one.start();
  for (let n = 0; n < 40; n++) await one.say(`${n}`);
  assert.equal(one.conversation.log.length, 81);
  assert.equal(one.conversation.slots()["conversation.n"], 40);
});

Deno.test("events: each turn begins and ends, numbers go on over turns, and what happens is told in its order", async () => {
  const one = await talk(chain([
    set("s", { a: 1 }),
    when(say("no"), "a", { equals: 2 }),
    say("yes", "{{a}}"),
    go("go", "q"),
    say("never"),
    ask("q"),
    count("n", "n"),
  ]));
  const events = [...await one.start(), ...await one.say("x")];
  assert.deepEqual(
    events.map((event) =>
      `${event.type} ${"step" in event ? event.step : "name" in event ? event.name : ""}`.trim()
    ),
    [
      "run-start",
      "step-start s",
      "slot-set s",
      "step-end",
      "step-skip no",
      "step-start yes",
      "message yes",
      "step-end",
      "step-start go",
      "step-end",
      "jump go",
      "step-start q",
      "message q",
      "step-end",
      "hold q",
      "run-end",
      "run-start",
      "step-start n",
      "slot-set n",
      "step-end",
      "run-end",
    ].map((line) => line.replace("jump go", "jump")),
  );
  assert.ok(events.every(({ seq, run }, index) => seq === index + 1 && run === one.conversation.id));
  assert.deepEqual(eventsOf(events, "message").map(({ n }) => n), [1, 2]);
  assert.deepEqual(eventsOf(events, "run-end").map(({ status, value }) => [status, value]), [
    ["held", "1\n\nq"],
    ["completed", undefined],
  ]);
});

Deno.test("keys of steps: ids that look like places of other steps are told apart", async () => {
  const asked: string[] = [];
  const llm = (id: string): StepJson => ({ id, llm: { prompts: [{ user: "same" }] } });
  const one = await talk(
    chain([
      chain([llm("b")], "a"),
      llm("a/b"),
      llm("x"),
      go("go", "x#2"),
      llm("x#2"),
      when(go("back", "x"), "session.n", { exists: true }),
      llm("turn[1]"),
    ]),
    {
      model({ step }) {
        asked.push(step);
        return Promise.resolve(`${step} ${asked.length}`);
      },
    },
  );
  await one.start();
  assert.deepEqual(one.lines, [
    "bot b: b 1",
    "bot a/b: a/b 2",
    "bot x: x 3",
    "bot x#2: x#2 4",
    "bot turn[1]: turn[1] 5",
  ]);
  const again = await talk(
    chain([llm("x"), llm("x#2"), count("n", "n"), when(go("back", "x"), "n", { "less-than": 2 })]),
    { model: ({ step }) => Promise.resolve(`${step} ${asked.push(step)}`) },
  );
  assert.equal(endOf(await again.start()).error, undefined);
  assert.deepEqual(again.lines, ["bot x: x 6", "bot x#2: x#2 7", "bot x: x 8", "bot x#2: x#2 9"]);
});

Deno.test("set-slot: all values are computed first, later duplicates win", async () => {
  const values = [
    { path: { name: "a" }, value: "{{b}}" },
    { path: { name: "b" }, value: "{{a}}" },
    { path: { name: "c" }, value: { list: ["{{n}}", "n={{n}}"], none: "{{zip}}" } },
    { path: { name: "c2", destination: "session" }, value: 1 },
    { path: { name: "c2", destination: "session" }, value: 2 },
  ];
  const one = await talk({ id: "s", "set-slot": { values } }, { slots: { a: 1, b: [2], n: 7 } });
  assert.deepEqual(told(await one.start()).slice(-2), ["set session.c2 1", "set session.c2 2"]);
  assert.deepEqual(one.conversation.slots(), {
    "conversation.a": [2],
    "conversation.b": 1,
    "conversation.n": 7,
    "conversation.c": { list: [7, "n=7"], none: "" },
    "session.c2": 2,
  });
});

Deno.test("scopes: slots of a session, a module and a person go on, in whatever conversation; others have their own", async () => {
  const store = memoryJournal();
  const visits = (destination?: string): StepJson => ({
    id: `n ${destination}`,
    counter: { slot: { name: "visits", ...(destination === undefined ? {} : { destination }) } },
  });
  const agent = await agentOf(
    chain([
      ...[undefined, "session", "module", "global"].map(visits),
      ask("q", "{{visits}} {{session.visits}} {{module.visits}} {{global.visits}}"),
      { ...visits("global"), id: "late" },
    ]),
  );
  const seen = async (user: string, module: string, session: string): Promise<string | undefined> => {
    const one = await talk(agent, { store, user, module, session });
    await one.start("yes");
    return one.conversation.log[0]?.text;
  };
  assert.equal(await seen("ana", "m", "s"), "1 1 1 1");
  assert.equal(await seen("ana", "m", "s"), "1 2 2 3"); // twice in the first one
  assert.equal(await seen("ana", "m", "t"), "1 1 3 5");
  assert.equal(await seen("ana", "k", "s"), "1 1 1 7");
  assert.equal(await seen("bob", "m", "s"), "1 1 1 1");
  const usual = await talk(agent, { store });
  await usual.start();
  assert.deepEqual(store.slots({ user: "local", module: "default", session: "test" }), { visits: 1 });
});

Deno.test("scopes: a conversation stays that of its person when it is opened again", async () => {
  const store = memoryJournal();
  const agent = await agentOf(chain([ask("q", "{{global.name}}?"), say("a", "{{global.name}}!")]));
  const ana = await talk(agent, {
    store,
    user: "ana",
    module: "m",
    session: "s",
    slots: { "global.name": "Ana" },
  });
  await ana.start();
  const again = await talk(agent, { store, id: ana.conversation.id, slots: { "global.name": "Nobody" } });
  assert.deepEqual(again.conversation.slots(), { "global.name": "Ana" });
  await again.say("x");
  assert.deepEqual(again.lines.slice(-1), ["bot a: Ana!"]);
  assert.deepEqual(store.slots({ user: "local" }), {});
});

Deno.test("scopes: a turn sees what others have left before it began, and its own", async () => {
  const store = memoryJournal();
  const agent = await agentOf(
    chain([
      ask("q"),
      { id: "up", counter: { slot: { name: "n", destination: "global" } } },
      ask("r", "{{global.n}}"),
    ]),
  );
  const [one, two] = [await talk(agent, { store }), await talk(agent, { store })];
  for (const each of [one, two]) await each.start();
  for (const each of [one, two, one, two]) await each.say("x");
  assert.deepEqual([one.lines.at(2), two.lines.at(2)], ["bot r: 1", "bot r: 2"]);
  assert.deepEqual(store.slots({ user: "local" }), { n: 2 });
});

Deno.test("preloaded slots: before the first step of a new conversation, and never again", async () => {
  const store = memoryJournal();
  const structure = {
    slots: [
      { name: "name", source: { user: { path: "name" } } },
      { name: "gone", source: { user: { path: "gone" } } },
      { name: "log", source: { "user-context-log": { key: "k", path: "$.n", filter: "latest" } } },
      { name: "title", source: { module: { path: "$.title", module: { selector: "current" } } } },
    ],
  };
  const agent = await agentOf(
    chain([ask("q", "{{name}}|{{gone}}|{{log}}|{{title}}"), say("r", "{{name}}")]),
    structure,
  );
  const context = {
    user: { name: "Ana", gone: null },
    "user-context-log": { k: [{ n: 1 }, { n: 2 }] },
    module: { id: "m", title: "T" },
  };
  const one = await talk(agent, { store, context, slots: { title: "given" } });
  await one.start();
  assert.deepEqual(one.conversation.slots(), {
    "conversation.name": "Ana",
    "conversation.log": 2,
    "conversation.title": "given",
  });
  const again = await talk(agent, { store, id: one.conversation.id, context: { user: { name: "Bob" } } });
  await again.say("x");
  assert.deepEqual(again.lines, ["bot q: Ana||2|given", "user q: x", "bot r: Ana"]);
  const elsewhere = await agentOf(say("a"), {
    slots: [{ name: "a", source: { module: { path: "$.title", module: { from: "x" } } } }],
  });
  const refused = await talk(elsewhere, { store, context });
  await assert.rejects(refused.start(), { message: 'slots[0]: there is no module "x"' });
  assert.equal(store.list().length, 1);
});

Deno.test("templates: what people say stays text, wherever it is put", async () => {
  const hostile = "{{global.secret}} {{ session.x }} ${env.HOME} {{text}}";
  const prompts: unknown[] = [];
  const one = await talk(
    chain([
      ask("q"),
      {
        id: "hear",
        extractor: {
          values: [{ description: "d", target: { slot: { name: "text" } } }],
          success: { action: "continue" },
          fail: { action: "end" },
        },
      },
      set("copy", { again: "{{text}}", whole: "<{{text}}>" }),
      say("a", "{{again}} {{whole}}"),
      { id: "llm", llm: { prompts: [{ user: "He said {{again}}" }], memory: [{ selector: "all" }] } },
    ]),
    {
      slots: { "global.secret": "s3cret" },
      model({ kind, messages }) {
        if (kind === "extractor") return Promise.resolve({ text: hostile });
        prompts.push(...messages.map(({ content }) => content));
        return Promise.resolve("{{global.secret}}");
      },
    },
  );
  await one.start(hostile);
  assert.deepEqual(one.lines.slice(1), [
    `user q: ${hostile}`,
    `bot a: ${hostile} <${hostile}>`,
    "bot llm: {{global.secret}}",
  ]);
  assert.deepEqual(prompts, [`He said ${hostile}`, "q", hostile, `${hostile} <${hostile}>`]);
});
