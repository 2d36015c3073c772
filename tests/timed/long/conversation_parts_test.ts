// What a conversation is made of, without steps: placeholders, conditions, slots, memory, positions.
import fc from "fast-check";
import assert from "node:assert/strict";
import type { ConditionOperation, Json, LogEntry } from "../../../mod.ts";
import { failingCondition } from "../../../lib/conversation/failing_condition.ts";
import { fillJson, fillText, placeholdersIn } from "../../../lib/conversation/fill_template.ts";
import { GrowingLog, MessageLog, selectMemory } from "../../../lib/conversation/message_log.ts";
import { heldSteps, type Position } from "../../../lib/conversation/position.ts";
import { BranchSlots, ConversationSlots, slotPath } from "../../../lib/conversation/slots.ts";
import { orderedOutlets, Outlet } from "../../../lib/run/conversation/branch.ts";

const EMPTY = { conversation: {}, session: {}, module: {}, global: {} };

function lookUp(slots: Readonly<Record<string, Json>>) {
  return (name: string, destination: string | undefined) => slots[`${destination ?? "conversation"}.${name}`];
}

Deno.test("placeholders: what is one, and what stays as it is", () => {
  const slots = lookUp({
    "conversation.a": "A",
    "global.a": "G",
    "conversation.n": 3,
    "conversation.l": [1, "x"],
  });
  const rows: readonly (readonly [string, string])[] = [
    ["{{a}} {{ a }} {{\ta}}", "A A A"],
    ["{{global.a}}{{conversation.a}}", "GA"],
    ["{{n}} {{l}} [{{none}}]", '3 [1,"x"] []'],
    ["{{other.a}} {{a b}} {{}} {{a", "{{other.a}} {{a b}} {{}} {{a"],
    ["{{{a}}}", "{A}"],
    ["{{a.b.c}} {{.a}}", "{{a.b.c}} {{.a}}"],
    ["{{\na}}", "{{\na}}"],
  ];
  for (const [text, expected] of rows) assert.equal(fillText(text, slots), expected, text);
  assert.equal(
    fillText("q={{a}}", lookUp({ "conversation.a": "ä &/" }), encodeURIComponent),
    "q=%C3%A4%20%26%2F",
  );
  assert.deepEqual(placeholdersIn("{{a}} {{global.b}} {{other.c}} {{ d }}").map(({ name }) => name), [
    "a",
    "b",
    "d",
  ]);
});

Deno.test("placeholders: what was put in is never read again", () => {
  fc.assert(fc.property(fc.string(), fc.string(), (before, value) => {
    const text = `${before.replaceAll("{", "(")}{{x}}`;
    assert.equal(fillText(text, (name) => name === "x" ? value : "never"), text.slice(0, -5) + value);
  }));
  assert.equal(
    fillText("{{x}}{{y}}", lookUp({ "conversation.x": "{{y}}", "conversation.y": "Y" })),
    "{{y}}Y",
  );
  assert.equal(fillText("{{x}}", lookUp({ "conversation.x": "$& $1 $$" })), "$& $1 $$");
});

Deno.test("placeholders: one alone keeps its type, all through a value", () => {
  const slots = lookUp({ "conversation.n": 42, "conversation.l": [1], "conversation.t": "42" });
  const value = {
    a: "{{n}}",
    b: ["{{l}}", "x{{n}}", "{{none}}"],
    c: { d: "{{ t }}" },
    e: true,
    f: null,
    "{{n}}": 1,
  };
  assert.deepEqual(fillJson(value, slots), {
    a: 42,
    b: [[1], "x42", ""],
    c: { d: "42" },
    e: true,
    f: null,
    "{{n}}": 1,
  });
});

Deno.test("placeholders: reading is linear", () => {
  const times = [20_000, 200_000].map((length) => {
    const text = "{{ ".repeat(length / 3) + "{".repeat(length);
    const begun = performance.now();
    fillText(text, () => "");
    return performance.now() - begun;
  });
  assert.ok((times[1] ?? 0) < 60 * Math.max(times[0] ?? 0, 1), times.join(" "));
});

Deno.test("conditions: every operator, with everything a slot may hold", () => {
  const holds = (operation: ConditionOperation, value: Json | undefined): boolean =>
    failingCondition([{ slot: slotPath("x"), operation }], () => value) === undefined;
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
  for (const [operation, value, expected] of rows) {
    assert.equal(holds(operation, value), expected, `${JSON.stringify(value)} ${JSON.stringify(operation)}`);
  }
});

Deno.test("conditions: the first that fails is named", () => {
  const conditions = [
    { slot: slotPath("a"), operation: { operator: "exists", value: true } },
    { slot: slotPath("global.age"), operation: { operator: "greater-than", value: 17 } },
  ] as const;
  assert.equal(
    failingCondition(conditions, ({ name }) => name === "a" ? 1 : "7"),
    "global.age greater-than 17",
  );
  assert.equal(failingCondition(conditions, () => 18), undefined);
});

Deno.test("slots: what outlives the conversation is told with its scope, the rest stays with it", () => {
  const slots = new ConversationSlots({ ...EMPTY, global: { g: 1 }, conversation: { c: 1 } });
  for (const key of ["c", "global.g", "session.s", "module.m", "global.g"]) {
    slots.set(slotPath(key), `${key}!`);
  }
  const scope = { user: "ana", module: "maths", session: "one" };
  assert.deepEqual(slots.written(scope), [
    { user: "ana", name: "g", value: "global.g!" },
    { user: "ana", module: "maths", session: "one", name: "s", value: "session.s!" },
    { user: "ana", module: "maths", name: "m", value: "module.m!" },
  ]);
  assert.deepEqual(slots.own, { c: "c!" });
});

Deno.test("slots: a branch sees what was before, and its own", () => {
  const before = new ConversationSlots({ ...EMPTY, conversation: { a: 1, b: 2 } });
  const [left, right] = [new BranchSlots(before), new BranchSlots(before)];
  left.set({ step: "l", path: slotPath("a"), value: "left" });
  assert.deepEqual([left.get(slotPath("a")), left.get(slotPath("b")), right.get(slotPath("a"))], [
    "left",
    2,
    1,
  ]);
  assert.deepEqual(new BranchSlots(before, left.writes).get(slotPath("a")), "left");
  assert.equal(before.get(slotPath("a")), 1);
});

Deno.test("memory: a union in the order of the log, the newest of it", () => {
  const entry = (n: number, ...steps: string[]): LogEntry => ({ n, who: "user", text: `${n}`, steps });
  const log = [entry(1, "a"), entry(2, "b"), entry(3, "c"), entry(4, "a", "b"), entry(5, "d")];
  const within = (id: string) => ({ b: new Set(["b"]), chain: new Set(["chain", "c", "d"]) })[id];
  const of = (selections: Parameters<typeof selectMemory>[1]["selections"], limit?: number) =>
    selectMemory(log, { selections, limit, step: "a", within }).map(({ n }) => n);
  assert.deepEqual(of([{ selector: "current" }]), [1, 4]);
  assert.deepEqual(of([{ from: "b" }, { selector: "current" }]), [1, 2, 4]);
  assert.deepEqual(of([{ from: "chain" }]), [3, 5]);
  assert.deepEqual(of([{ selector: "all" }], 2), [4, 5]);
  assert.deepEqual(of([{ from: "nobody" }]), []);
  assert.deepEqual(of([]), []);
});

Deno.test("log: it is read from its end, as far as somebody looks back, and grows", () => {
  fc.assert(fc.property(
    fc.nat(700),
    fc.array(fc.oneof(fc.record({ at: fc.integer({ min: -2, max: 720 }) }), fc.constantFrom("push", "all"))),
    (kept, looks) => {
      const entry = (n: number): LogEntry => ({ n, who: "user", text: `${n}`, steps: [] });
      const want = Array.from({ length: kept }, (_, index) => entry(index + 1));
      const stored = [...want, entry(kept + 1), entry(kept + 2)]; // somebody else has gone on with it
      const log = new MessageLog(kept, (from) => stored.slice(from - 1));
      const seen = new GrowingLog(log);
      for (const look of looks) {
        if (look === "push") {
          const next = entry(want.length + 1);
          stored[next.n - 1] = next;
          want.push(next);
          log.push(next);
        } else if (look === "all") assert.deepEqual(log.all(), want);
        else {
          assert.deepEqual(log.at(look.at), look.at < 0 ? undefined : want[look.at]);
          assert.deepEqual(seen.at(look.at), look.at < 0 || look.at >= kept ? undefined : want[look.at]);
        }
        assert.equal(log.length, want.length);
      }
      assert.equal(seen.add({ who: "assistant", text: "x", steps: ["a"] }), kept + 1);
      assert.deepEqual([seen.length, seen.at(kept)?.text, seen.added.length], [kept + 1, "x", 1]);
    },
  ));
  const reads: number[] = [];
  const all = Array.from(
    { length: 4000 },
    (_, index) => ({ n: index + 1, who: "user", text: "", steps: [] } as const),
  );
  const long = new MessageLog(4000, (from) => {
    reads.push(from);
    return all.slice(from - 1);
  });
  assert.equal(
    selectMemory(long, { selections: [{ selector: "all" }], limit: 10, step: "a", within: () => undefined })
      .length,
    10,
  );
  assert.deepEqual(reads, [3937]);
  selectMemory(long, {
    selections: [{ selector: "all" }],
    limit: undefined,
    step: "a",
    within: () => undefined,
  });
  assert.ok(reads.length <= 5, `${reads}`);
});

Deno.test("positions: the steps that wait, in the order of the file", () => {
  const held = (step: string): Position => ({ at: "held", step });
  const branches = [
    { id: "10", writes: [], position: held("z") },
    { id: "done", writes: [] },
    {
      id: "2",
      writes: [],
      position: { at: "combined", step: "2", branches: [{ id: "1", writes: [], position: held("a") }] },
    },
  ] as const;
  assert.deepEqual(heldSteps({ at: "combined", step: "both", branches }), ["z", "a"]);
  assert.deepEqual(heldSteps({ at: "failed", step: "x" }), []);
});

Deno.test("outlets: in the order of the file, whatever ends first", () => {
  fc.assert(fc.property(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), (order) => {
    const told: string[] = [];
    const { outlets, ended } = orderedOutlets(
      4,
      (one) => void told.push(one.type === "warning" ? one.text : ""),
    );
    for (const round of [1, 2]) {
      for (const index of order) outlets[index]?.push({ type: "warning", text: `${index}.${round}` });
    }
    for (const index of order) ended(index);
    assert.deepEqual(told, [0, 1, 2, 3].flatMap((index) => [`${index}.1`, `${index}.2`]));
  }));
  const told: unknown[] = [];
  const outlet = new Outlet((one) => told.push(one), { isOpen: true });
  outlet.push({ type: "hold", step: "a" });
  assert.equal(told.length, 1);
});
