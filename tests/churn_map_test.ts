import assert from "node:assert/strict";
import fc from "fast-check";
import { ChurnMap } from "../lib/core/churn_map.ts";

type Step = { readonly do: "set"; readonly value: number } | { readonly do: "delete" | "clear" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.nat(99).map((value): Step => ({ do: "set", value })),
  fc.constant<Step>({ do: "delete" }),
  fc.constant<Step>({ do: "clear" }),
);

/** Names that mean something to an object are names like any other. */
const key = fc.constantFrom("a", "b", "1", "02", "__proto__", "constructor", "toString", "");

Deno.test("a churn map holds what a map holds", () => {
  fc.assert(fc.property(fc.array(fc.tuple(key, step), { maxLength: 40 }), (steps) => {
    const map = new Map<string, number>();
    const churn = new ChurnMap<string, number>();
    for (const [name, what] of steps) {
      if (what.do === "set") {
        map.set(name, what.value);
        churn.set(name, what.value);
      } else if (what.do === "delete") {
        map.delete(name);
        churn.delete(name);
      } else {
        map.clear();
        churn.clear();
      }
      assert.deepEqual([...churn.values()].sort(), [...map.values()].sort());
      assert.deepEqual(churn.get(name), map.get(name));
    }
  }));
});

Deno.test("a churn map may be changed while its values are looked at", () => {
  const churn = new ChurnMap<number, string>();
  for (let id = 0; id < 5; id++) churn.set(id, `v${id}`);
  const seen: string[] = [];
  for (const value of churn.values()) {
    seen.push(value);
    churn.clear();
  }
  assert.deepEqual(seen, ["v0"]);
});
