// What a conversation is made of: placeholders, conditions, slots, memory, and what is told of branches.
import fc from "fast-check";
import assert from "node:assert/strict";
import { type ConditionOperation, type Json, memoryJournal } from "../../../mod.ts";
import {
  ask,
  chain,
  eventsOf,
  go,
  say,
  set,
  type StepJson,
  talk,
  told,
  when,
} from "../../_conversation_turns.ts";
import { tries } from "../../_thorough.ts";

/** What a conversation with these texts says. */
async function said(
  texts: readonly string[],
  slots: Readonly<Record<string, Json>> = {},
): Promise<readonly string[]> {
  const one = await talk(chain(texts.map((text, index) => say(`m${index}`, text))), { slots });
  await one.start();
  return one.conversation.log.map(({ text }) => text);
}

Deno.test("placeholders: what is one, and what stays as it is", async () => {
  const slots = { a: "A", "global.a": "G", n: 3, l: [1, "x"] };
  const rows: readonly (readonly [string, string])[] = [
    ["{{a}} {{ a }} {{\ta}}", "A A A"],
    ["{{global.a}}{{conversation.a}}", "GA"],
    ["{{n}} {{l}} [{{none}}]", '3 [1,"x"] []'],
    ["{{other.a}} {{a b}} {{}} {{a", "{{other.a}} {{a b}} {{}} {{a"],
    ["{{{a}}}", "{A}"],
    ["{{a.b.c}} {{.a}}", "{{a.b.c}} {{.a}}"],
    ["{{\na}}", "{{\na}}"],
  ];
  assert.deepEqual(await said(rows.map(([text]) => text), slots), rows.map(([, expected]) => expected));
});

Deno.test("placeholders: what was put in is never read again", async () => {
  await fc.assert(fc.asyncProperty(fc.string(), fc.string(), async (before, value) => {
    const text = `${before.replaceAll("{", "(")}{{x}}`;
    const whole = text.slice(0, -5) + value;
    assert.deepEqual(await said([text], { x: value }), whole === "" ? [] : [whole]);
  }));
  assert.deepEqual(await said(["{{x}}{{y}}"], { x: "{{y}}", y: "Y" }), ["{{y}}Y"]);
  assert.deepEqual(await said(["{{x}}"], { x: "$& $1 $$" }), ["$& $1 $$"]);
});

Deno.test("placeholders: one alone keeps its type, all through a value", async () => {
  const value = {
    a: "{{n}}",
    b: ["{{l}}", "x{{n}}", "{{none}}"],
    c: { d: "{{ t }}" },
    e: true,
    f: null,
    "{{n}}": 1,
  };
  const one = await talk(set("s", { v: value }), { slots: { n: 42, l: [1], t: "42" } });
  await one.start();
  assert.deepEqual(one.conversation.slots()["conversation.v"], {
    a: 42,
    b: [[1], "x42", ""],
    c: { d: "42" },
    e: true,
    f: null,
    "{{n}}": 1,
  });
});

Deno.test("placeholders: reading is linear", async () => {
  const times: number[] = [];
  for (const length of [20_000, 200_000]) {
    const one = await talk(say("m", "{{ ".repeat(length / 3) + "{".repeat(length)));
    const begun = performance.now();
    await one.start();
    times.push(performance.now() - begun);
  }
  assert.ok((times[1] ?? 0) < 60 * Math.max(times[0] ?? 0, 1), times.join(" "));
});

Deno.test("conditions: every operator, with everything a slot may hold", async () => {
  const equals = (value: Json) => ({ operator: "equals", value } as const);
  const rows: readonly (readonly [ConditionOperation, Json | undefined, boolean])[] = [
    [equals(3), "3", true],
    [equals("true"), true, true],
    [equals("True"), true, false],
    [equals(1), 1.0, true],
    [equals([1, { a: "2" }]), ["1", { a: 2 }], true],
    [equals([1, 2]), [2, 1], false],
    [equals({ a: 1 }), { a: 1, b: 2 }, false],
    [equals("[1]"), [1], false],
    [equals(null), undefined, true],
    [equals(null), null, true],
    [equals("null"), null, false],
    [equals("x"), undefined, false],
    [{ operator: "not-equals", value: "x" }, undefined, true],
    [{ operator: "not-equals", value: 3 }, "3", false],
    [{ operator: "exists", value: true }, "", true],
    [{ operator: "exists", value: true }, 0, true],
    [{ operator: "exists", value: true }, false, true],
    [{ operator: "exists", value: true }, null, false],
    [{ operator: "exists", value: false }, undefined, true],
    [{ operator: "greater-than", value: 17 }, "18", true],
    [{ operator: "greater-than", value: 17 }, " 17.5 ", true],
    [{ operator: "greater-than", value: 17 }, "many", false],
    [{ operator: "greater-than", value: -1 }, "", false],
    [{ operator: "greater-than", value: -1 }, [5], false],
    [{ operator: "less-than", value: 1 }, true, false],
    [{ operator: "less-than", value: 1 }, "0x0", false],
    [{ operator: "less-than-or-equal", value: 3 }, 3, true],
    [{ operator: "greater-than-or-equal", value: 3 }, "2.999", false],
    [{ operator: "greater-than-or-equal", value: 3 }, undefined, false],
  ];
  const steps = rows.map(([{ operator, value }], index) =>
    when(say(`m${index}`), `s${index}`, { [operator]: value })
  );
  const slots = rows.flatMap(([, value], index) =>
    value === undefined ? [] : [[`s${index}`, value] as const]
  );
  const one = await talk(chain(steps), { slots: Object.fromEntries(slots) });
  await one.start();
  const held = new Set(one.conversation.log.map(({ text }) => text));
  for (const [index, [operation, value, expected]] of rows.entries()) {
    assert.equal(held.has(`m${index}`), expected, `${JSON.stringify(value)} ${JSON.stringify(operation)}`);
  }
});

Deno.test("conditions: the first that fails is named", async () => {
  const conditions = [
    { name: "a", condition: { exists: true } },
    { name: "age", destination: "global", condition: { "greater-than": 17 } },
  ];
  const skipped = async (age: Json) => {
    const one = await talk(chain([{ ...say("m"), conditions }, say("end")]), {
      slots: { a: 1, "global.age": age },
    });
    return eventsOf(await one.start(), "step-skip").map(({ step, condition }) => `${step}: ${condition}`);
  };
  assert.deepEqual(await skipped("7"), ["m: global.age greater-than 17"]);
  assert.deepEqual(await skipped(18), []);
});

Deno.test("slots: what outlives the conversation is kept with its scope, the rest stays with it", async () => {
  const store = memoryJournal();
  const write = (name: string, destination: string): StepJson => ({
    id: `${destination}.${name}`,
    "set-slot": { values: [{ path: { name, destination }, value: `${name}!` }] },
  });
  const scope = { user: "ana", module: "maths", session: "one" };
  const steps = [
    write("c", "conversation"),
    write("g", "global"),
    write("s", "session"),
    write("m", "module"),
  ];
  const one = await talk(chain(steps), { store, ...scope, slots: { "global.g": 1, c: 1 } });
  await one.start();
  assert.deepEqual(store.slots({ user: "ana" }), { g: "g!" });
  assert.deepEqual(store.slots({ user: "ana", module: "maths" }), { m: "m!" });
  assert.deepEqual(store.slots(scope), { s: "s!" });
  assert.deepEqual(one.conversation.slots(), {
    "conversation.c": "c!",
    "session.s": "s!",
    "module.m": "m!",
    "global.g": "g!",
  });
});

/** What a model has seen that was asked with this memory, twice: behind everything the second time. */
async function remembered(
  memory: readonly unknown[],
  limit?: number,
): Promise<readonly unknown[] | undefined> {
  const seen: unknown[][] = [];
  const model = { prompts: [{ user: "go" }], memory, ...(limit !== undefined && { "memory-limit": limit }) };
  const one = await talk(
    chain([
      { id: "a", llm: model },
      say("b", "2"),
      chain([say("c", "3"), say("d", "4")], "inner"),
      { id: "both", combined: [ask("h1", ""), ask("h2", "")] },
      when(go("again", "a"), "done", { exists: false }),
    ]),
    {
      model({ memory }) {
        seen.push(memory.map(({ content }) => content));
        return Promise.resolve("1");
      },
    },
  );
  await one.start("5");
  return seen[1];
}

Deno.test("memory: a union in the order of the log, the newest of it", async () => {
  assert.deepEqual(await remembered([{ selector: "current" }]), ["1"]);
  assert.deepEqual(await remembered([{ from: "b" }, { selector: "current" }]), ["1", "2"]);
  assert.deepEqual(await remembered([{ from: "inner" }]), ["3", "4"]);
  assert.deepEqual(await remembered([{ from: "h2" }, { from: "h1" }, { from: "d" }]), ["4", "5"]);
  assert.deepEqual(await remembered([{ selector: "all" }], 2), ["4", "5"]);
  assert.deepEqual(await remembered([{ selector: "all" }]), ["1", "2", "3", "4", "5"]);
  assert.deepEqual(await remembered([{ from: "nobody" }]), []);
  assert.deepEqual(await remembered([]), []);
});

Deno.test("memory: of a long log as much as is selected, in a conversation that was opened again", async () => {
  const texts = Array.from({ length: 700 }, (_, index) => `${index}`);
  for (const limit of [1, 64, 900]) {
    const store = memoryJournal();
    const memory = { memory: [{ selector: "all" }], "memory-limit": limit };
    const steps = chain([
      ...texts.map((text) => say(`m${text}`, text)),
      ask("q", ""),
      { id: "a", llm: { prompts: [{ user: "go" }], ...memory } },
    ]);
    const options = { store, limits: { steps: 1000 } };
    const one = await talk(steps, options);
    await one.start();
    let seen: readonly unknown[] = [];
    const again = await talk(steps, {
      ...options,
      id: one.conversation.id,
      model({ memory }) {
        seen = memory.map(({ content }) => content);
        return Promise.resolve("x");
      },
    });
    await again.say("last");
    assert.deepEqual(seen, [...texts, "last"].slice(-limit));
  }
});

Deno.test("branches: told in the order of the file, whatever ends first", async () => {
  const ids = ["a", "b", "c", "d"];
  const steps = ids.map((id) => ({ id, llm: { prompts: [{ user: "go" }] } }));
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(ids, { minLength: 4 }), async (order) => {
      const answers = new Map(ids.map((id) => [id, Promise.withResolvers<string>()]));
      const asked = new Set<string>();
      const one = await talk({ id: "both", combined: steps }, {
        async model({ step }) {
          asked.add(step);
          if (asked.size === ids.length) {
            for (const id of order) {
              answers.get(id)?.resolve(id);
              await new Promise((done) => setTimeout(done, 0));
            }
          }
          return await answers.get(step)?.promise ?? "";
        },
      });
      assert.deepEqual(told(await one.start()), ids.map((id) => `say ${id}: ${id}`));
    }),
    { numRuns: tries(24, 300) },
  );
});
