// Combined steps (conversations.md 2.3, 2.4): what is told in which order, what a branch sees, holds, jumps and errors in it.

import assert from "node:assert/strict";
import { memoryJournal } from "../mod.ts";
import type { RunEvent } from "../mod.ts";
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

function both(steps: readonly StepJson[], id = "both"): StepJson {
  return { id, combined: steps };
}

function llm(id: string, more: Readonly<Record<string, unknown>> = {}): StepJson {
  return { id, llm: { prompts: [{ user: `{{x}}` }], ...more } };
}

/** A model whose answers come in three pieces, with so many ms before each. */
function slowly(ms: Readonly<Record<string, number>>) {
  return async function* ({ step }: { readonly step: string }): AsyncGenerator<string> {
    for (const piece of [1, 2, 3]) {
      await new Promise((resolve) => setTimeout(resolve, ms[step] ?? 0));
      yield `${step}${piece}`;
    }
  };
}

/** Which step each piece of text and each message is of, without repetitions. */
function speakers(events: readonly RunEvent[]): readonly string[] {
  const all = events.flatMap((event) =>
    event.type === "text-delta" || event.type === "message" ? [event.step] : []
  );
  return all.filter((step, index) => step !== all[index - 1]);
}

Deno.test("combined: branches run at once, and are told one after the other in the order of the file", async () => {
  const steps = both([
    llm("a"),
    chain([say("b1"), llm("b2")], "b"),
    both([llm("c1"), llm("c2")], "c"),
    say("d"),
  ]);
  const times: readonly Readonly<Record<string, number>>[] = [
    { a: 9, b2: 5, c1: 4, c2: 0 },
    { a: 0, b2: 5, c1: 0, c2: 9 },
    { c1: 9, c2: 1 },
  ];
  for (const ms of times) {
    const one = await talk(chain([steps, say("end")]), { model: slowly(ms), slots: { x: 1 } });
    const events = await one.start();
    assert.deepEqual(speakers(events), ["a", "b1", "b2", "c1", "c2", "d", "end"]);
    assert.deepEqual(one.lines, [
      "bot a: a1a2a3",
      "bot b1: b1",
      "bot b2: b21b22b23",
      "bot c1: c11c12c13",
      "bot c2: c21c22c23",
      "bot d: d",
      "bot end: end",
    ]);
    for (const { step, text } of eventsOf(events, "message")) {
      const pieces = eventsOf(events, "text-delta").filter((delta) => delta.step === step);
      assert.ok(pieces.length === 0 || pieces.map((piece) => piece.text).join("") === text);
    }
  }
});

Deno.test("combined: the first branch streams while the others still work", async () => {
  const gate = Promise.withResolvers<void>();
  const one = await talk(both([llm("a"), llm("b")]), {
    slots: { x: 1 },
    model: async function* ({ step }) {
      yield `${step}1`;
      if (step === "b") await gate.promise;
      yield `${step}2`;
    },
  });
  const seen: string[] = [];
  for await (const event of one.conversation.start()) {
    if (event.type === "text-delta") seen.push(event.text);
    if (event.type === "message" && event.step === "a") {
      assert.deepEqual(seen, ["a1", "a2"]); // b has said b1 long ago
      gate.resolve();
    }
  }
  assert.deepEqual(seen.join(""), "a1a2b1b2");
});

Deno.test("combined: a branch sees what was before and its own, and nothing of the others", async () => {
  const prompts: Record<string, unknown> = {};
  const one = await talk(
    chain([
      say("before"),
      both([
        chain([
          set("w1", { x: "left" }),
          say("s1", "{{x}}{{y}}"),
          llm("m1", { memory: [{ selector: "all" }] }),
        ], "l"),
        chain([
          llm("m2", { memory: [{ selector: "all" }] }),
          set("w2", { y: "right" }),
          say("s2", "{{x}}{{y}}"),
        ], "r"),
      ]),
      say("after", "{{x}} {{y}}"),
      llm("m3", { memory: [{ selector: "all" }] }),
    ]),
    {
      slots: { x: "old" },
      model({ step, messages }) {
        prompts[step] = messages.map(({ content }) => content);
        return Promise.resolve(step.toUpperCase());
      },
    },
  );
  await one.start();
  assert.deepEqual(prompts, {
    m1: ["left", "before", "left"],
    m2: ["old", "before"],
    m3: ["left", "before", "left", "M1", "M2", "oldright", "left right"],
  });
});

Deno.test("combined: what branches write counts when all are done, in the order of the file; twice is told", async () => {
  const one = await talk(chain([
    both([
      chain([set("a1", { x: "a", p: 1 }), set("a2", { x: "aa" }), say("a3", "{{x}}")], "a"),
      both([set("b1", { x: "b", q: 2 }), set("b2", { x: "bb" })], "b"),
      { id: "c", counter: { slot: { name: "n", destination: "global" } } },
      set("d", { p: 3 }),
    ]),
    say("after", "{{x}} {{p}} {{q}} {{global.n}}"),
  ]));
  assert.deepEqual(told(await one.start()), [
    "say a3: aa",
    'warn step "b": "b1" and "b2" both write slot "conversation.x"; that of "b2" counts',
    'set conversation.x "aa"',
    "set conversation.p 1",
    'warn step "both": "a" and "b" both write slot "conversation.x"; that of "b" counts',
    'set conversation.x "bb"',
    "set conversation.q 2",
    "set global.n 1",
    'warn step "both": "a" and "d" both write slot "conversation.p"; that of "d" counts',
    "set conversation.p 3",
    "say after: bb 3 2 1",
  ]);
});

Deno.test("combined: a branch whose condition fails is left out; when all do nothing happens", async () => {
  const never = (step: StepJson): StepJson => when(step, "x", { exists: true });
  const one = await talk(chain([
    both([never(say("a")), never(chain([ask("b")], "bs")), never(both([say("c")], "cs"))]),
    never(both([say("d")], "none")),
    say("end"),
  ]));
  assert.deepEqual(told(await one.start()), [
    "skip a",
    "skip bs",
    "skip cs",
    "skip none",
    "say end: end",
  ]);
});

Deno.test("combined: a hold waits for the others; one message answers all of them, over several turns", async () => {
  const one = await talk(
    chain([
      both([
        chain([ask("a1"), set("w", { x: 1 }), ask("a2"), say("a3", "a{{x}}")], "a"),
        chain([
          say("b1"),
          both([ask("b2"), chain([ask("b3"), ask("b4"), ask("b5")], "bs"), say("b6")], "bb"),
          say("b7", "b{{x}}"),
        ], "b"),
        llm("c"),
      ]),
      say("after", "{{x}}"),
    ]),
    { model: slowly({ c: 3 }), slots: { x: 0 } },
  );
  assert.deepEqual(told(await one.start()), [
    "say a1: a1",
    "say b1: b1",
    "say b2: b2",
    "say b3: b3",
    "say b6: b6",
    "say c: c1c2c3",
    "hold a1",
    "hold b2",
    "hold b3",
  ]);
  assert.deepEqual(told(await one.say("one")), ["say a2: a2", "say b4: b4", "hold a2", "hold b4"]);
  assert.deepEqual(one.conversation.slots(), { "conversation.x": 0 });
  assert.deepEqual(told(await one.say("two")), ["say a3: a1", "say b5: b5", "hold b5"]);
  assert.deepEqual(told(await one.say("three")), ["say b7: b0", "set conversation.x 1", "say after: 1"]);
  assert.deepEqual(one.lines.filter((line) => line.startsWith("user")), [
    "user a1,b2,b3: one",
    "user a2,b4: two",
    "user b5: three",
  ]);
});

Deno.test("combined: what is said at the start answers every branch that waits", async () => {
  const one = await talk(chain([both([ask("a"), chain([ask("b"), ask("c")], "bs")]), say("end")]));
  assert.deepEqual(told(await one.start("hello")), ["say a: a", "say b: b", "say c: c", "hold c"]);
  await one.say("x");
  assert.deepEqual(one.lines.slice(2), ["user a,b: hello", "bot c: c", "user c: x", "bot end: end"]);
});

Deno.test("combined: a hold has the same meaning in a store that was closed between", async () => {
  const store = memoryJournal();
  const agent = await agentOf(chain([
    both([
      chain([set("w", { x: 1 }), ask("a"), say("a2", "{{x}}")], "as"),
      go("b", "after"),
      set("c", { y: 2 }),
    ]),
    say("between"),
    say("after", "{{x}}{{y}}"),
  ]));
  const one = await talk(agent, { store });
  await one.start();
  const again = await talk(agent, { store, id: one.conversation.id });
  assert.deepEqual(told(await again.say("hello")), [
    "say a2: 1",
    "set conversation.x 1",
    "set conversation.y 2",
    "jump b to after",
    "say after: 12",
  ]);
});

Deno.test("combined: a jump out of it is taken when all are done, the last one of several, with a warning", async () => {
  const steps = (branches: readonly StepJson[]): StepJson =>
    chain([chain([both(branches), say("rest")], "inner"), say("x"), say("y")]);
  const one = await talk(steps([chain([go("a", "y"), say("never")], "as"), say("b")]));
  assert.deepEqual(told(await one.start()), ["say b: b", "jump a to y", "say y: y"]);
  const several = await talk(steps([go("a", "y"), say("b"), go("c", "x"), say("d")]));
  assert.deepEqual(told(await several.start()), [
    "say b: b",
    "say d: d",
    'warn step "both": 2 of its branches go elsewhere; the last one counts',
    "jump c to x",
    "say x: x",
    "say y: y",
  ]);
  const end = await talk(steps([go("a", "y"), go("b", "end")]));
  assert.deepEqual(told(await end.start()).slice(1), []);
  assert.equal(end.conversation.status, "completed");
});

Deno.test("combined: a jump inside a branch stays in it; a jump of a nested one may end in the branch around", async () => {
  const one = await talk(chain([
    both([
      chain([
        count("n", "n"),
        both([when(go("back", "n"), "n", { "less-than": 3 }), say("side", "s{{n}}")], "in"),
        say("done", "{{n}}"),
      ], "a"),
      chain([go("over", "b2"), say("b1"), say("b2")], "b"),
    ]),
    say("end", "{{n}}"),
  ]));
  assert.deepEqual(told(await one.start()), [
    "say side: s1",
    "jump back to n",
    "say side: s2",
    "jump back to n",
    "skip back",
    "say side: s3",
    "say done: 3",
    "jump over to b2",
    "say b2: b2",
    "set conversation.n 3",
    "say end: 3",
  ]);
});

Deno.test("combined: it is a target itself, from outside, from its own branch, and as the first step of a chain", async () => {
  const around = (from: StepJson, guard: Readonly<Record<string, unknown>>): StepJson =>
    chain([
      when(chain([both([count("up", "n"), from]), say("in", "{{n}}")], "guarded"), "n", guard),
      say("end"),
    ]);
  const inside = await talk(around(when(go("again", "both"), "n", { "less-than": 2 }), { "less-than": 9 }), {
    slots: { n: 0 },
  });
  await inside.start();
  assert.deepEqual(inside.lines, ["bot in: 3", "bot end: end"]);
  const guarded = await talk(around(go("again", "both"), { "less-than": 2 }), { slots: { n: 0 } });
  assert.deepEqual(told(await guarded.start()).slice(-3), [
    "jump again to both",
    "skip guarded",
    "say end: end",
  ]);
  const root = await talk(both([count("up", "n"), when(go("again", "both"), "n", { "less-than": 2 })]), {
    slots: { n: 0 },
  });
  await root.start();
  assert.deepEqual(root.conversation.slots(), { "conversation.n": 3 });
  const behind = await talk(
    chain([both([count("up", "n")]), when(go("back", "both"), "n", { "less-than": 3 })]),
  );
  await behind.start();
  assert.deepEqual(behind.conversation.slots(), { "conversation.n": 3 });
});

Deno.test("repeat: in a branch with a chain that one, else the chain around the combined step when all are done", async () => {
  const own = await talk(chain([
    both([
      chain([count("n", "n"), when(go("again", "repeat"), "n", { "less-than": 3 }), say("a", "{{n}}")], "as"),
      say("b"),
    ]),
    say("end"),
  ]));
  assert.deepEqual(own.lines.concat(told(await own.start())), [
    "skip again",
    "say a: 3",
    "say b: b",
    "set conversation.n 3",
    "say end: end",
  ]);
  const around = await talk(
    chain([
      when(
        chain([both([count("n", "n"), go("again", "repeat"), say("b", "b{{n}}")]), say("never")], "loop"),
        "n",
        { "less-than": 2 },
      ),
      say("end"),
    ]),
    { slots: { n: 0 } },
  );
  assert.deepEqual(told(await around.start()), [
    "say b: b0",
    "set conversation.n 1",
    "say b: b1",
    "set conversation.n 2",
    "skip loop",
    "say end: end",
  ]);
});

Deno.test("combined: a branch that wants to jump waits for one that holds", async () => {
  const one = await talk(chain([
    both([
      go("a", "y"),
      chain([ask("b"), say("b2"), ask("b3")], "bs"),
      chain([ask("c"), go("c2", "end")], "cs"),
    ]),
    say("x"),
    say("y"),
  ]));
  assert.deepEqual(told(await one.start()), ["say b: b", "say c: c", "hold b", "hold c"]);
  assert.deepEqual(told(await one.say("1")), ["say b2: b2", "say b3: b3", "hold b3"]);
  assert.deepEqual(told(await one.say("2")), [
    'warn step "both": 2 of its branches go elsewhere; the last one counts',
  ]);
  assert.equal(one.conversation.status, "completed");
});

Deno.test("combined: a branch that fails fails all of it when the others are done; nothing is written, and it is tried again as a whole", async () => {
  const asked: string[] = [];
  const one = await talk(
    chain([
      say("before"),
      chain([
        both([
          chain(
            [set("w", { x: 1 }), { id: "g", counter: { slot: { name: "g", destination: "global" } } }],
            "a",
          ),
          both([llm("bad"), llm("slow")], "b"),
          say("c"),
        ]),
        say("after", "{{x}}"),
      ], "in"),
    ]),
    {
      slots: { x: 0 },
      async *model({ step }) {
        asked.push(step);
        if (step === "slow") await new Promise((resolve) => setTimeout(resolve, 5));
        if (step === "bad" && asked.length < 3) throw new Error("no");
        yield step;
      },
    },
  );
  const failed = await one.start();
  assert.deepEqual(told(failed), ["say before: before", "say slow: slow", "say c: c"]);
  assert.deepEqual([endOf(failed).status, endOf(failed).error], ["failed", 'step "bad": no']);
  assert.deepEqual(one.conversation.slots(), { "conversation.x": 0 });
  const again = await one.retry();
  assert.deepEqual(told(again), [
    "say bad: bad",
    "say slow: slow",
    "say c: c",
    "set conversation.x 1",
    "set global.g 1",
    "say after: 1",
  ]);
  assert.equal(one.conversation.status, "completed");
});

Deno.test("combined: a branch that fails while another one holds fails all of it", async () => {
  const one = await talk(
    both([ask("q"), chain([ask("r"), { id: "n", counter: { slot: { name: "text" } } }], "rs")]),
    { slots: { text: "many" } },
  );
  await one.start();
  const failed = await one.say("x");
  assert.equal(endOf(failed).error, 'step "n": slot "conversation.text" holds "many", not a whole number');
  assert.deepEqual(told(await one.retry()), ["say q: q", "say r: r", "hold q", "hold r"]);
});

Deno.test("combined: all its steps are counted, and a loop in a branch is stopped", async () => {
  const one = await talk(both([say("a", ""), chain([say("b", ""), go("again", "repeat")], "bs")]), {
    limits: { steps: 9 },
  });
  const events = await one.start();
  assert.match(endOf(events).error ?? "", /^step "(b|again)": stopped after 9 steps/);
  assert.match(eventsOf(events, "warning")[0]?.text ?? "", /^the last steps were both, a, b, (again, b, )/);
});

Deno.test("combined: leaving the turn early ends all branches", async () => {
  let [begun, ended] = [0, 0];
  const one = await talk(both([say("first"), llm("a"), llm("b"), llm("c")]), {
    slots: { x: 1 },
    model: ({ signal }) => {
      begun++;
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => {
          ended++;
          reject(signal.reason);
        })
      );
    },
  });
  for await (const event of one.conversation.start()) if (event.type === "message") break;
  assert.deepEqual([one.conversation.status, begun, ended], ["running", 3, 3]);
});

Deno.test("combined: ids may be any words", async () => {
  const words = ["10", "constructor", "2", "__proto__", "toString", "1"];
  const one = await talk(chain([both(words.map((word) => ask(word))), say("end")]));
  assert.deepEqual(eventsOf(await one.start(), "hold").map(({ step }) => step), words);
  const store = memoryJournal();
  const agent = await agentOf(
    chain([
      both(words.map((word) => ask(word))),
      count("constructor2", "__proto__"),
      say("end", "{{__proto__}}"),
    ]),
  );
  const kept = await talk(agent, { store });
  await turn(kept.conversation.start());
  const again = await talk(agent, { store, id: kept.conversation.id });
  await again.say("hello");
  assert.deepEqual(again.lines.slice(-2), [`user ${words.join(",")}: hello`, "bot end: 1"]);
});
