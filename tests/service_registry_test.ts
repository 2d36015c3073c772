// What is held of runs that have ended.
import fc from "fast-check";
import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Clock, virtualClock } from "../mod.ts";
import { HeldRun } from "../lib/service/runs/held_run.ts";
import { RunRegistry } from "../lib/service/runs/registry.ts";

function held(id: string): HeldRun {
  return new HeldRun({ id, kind: "calls", startedAt: 0 });
}

Deno.test("of the runs that have ended only so many bytes are held", async () => {
  const registry = new RunRegistry({ clock: virtualClock(), isKept: true });
  const run = (name: number): WeakRef<HeldRun> => {
    const ended = held(`r${name}`);
    ended.push({ type: "warning", text: "x".repeat(4_000_000), run: ended.id, seq: 1, at: 0 });
    registry.add(ended);
    ended.end();
    registry.ended(ended);
    return new WeakRef(ended);
  };
  const runs = Array.from({ length: 20 }, (_run, name) => run(name));
  await new Promise((resolve) => setTimeout(resolve, 0)); // until then a WeakRef holds what it was made of
  assert.equal([...registry.all].length, 8);
  if (isCollected()) assert.equal(runs.filter((each) => each.deref() !== undefined).length, 8);
});

Deno.test("of the runs that nobody keeps the last thousand that have ended are held, and all that are under way", () => {
  const registry = new RunRegistry({ clock: virtualClock(), isKept: false });
  const slow = held("slow");
  registry.add(slow);
  for (let number = 0; number < 2_500; number++) {
    const run = held(`r${number}`);
    registry.add(run);
    registry.ended(run);
  }
  const ids = [...registry.all].map(({ id }) => id);
  assert.deepEqual(ids, [...Array.from({ length: 1_000 }, (_, at) => `r${1_500 + at}`), "slow"]);
  assert.deepEqual([registry.find("r1499"), registry.find("r1500")?.id], [undefined, "r1500"]);
  assert.deepEqual([registry.find("slow"), registry.active], [slow, 1]);
});

Deno.test("what is held of kept runs is what is under way, and what ended in the last five seconds", () => {
  const id = fc.constantFrom("a", "b", "c", "d");
  const steps = fc.array(fc.oneof(
    fc.record({ do: fc.constantFrom("begin", "end", "remove"), id }),
    fc.record({ do: fc.constant("wait"), ms: fc.integer({ min: 0, max: 4_000 }) }),
  ));
  fc.assert(fc.property(steps, (script) => {
    let now = 0;
    const clock: Clock = { now: () => now, sleep: () => Promise.reject(new Error("nobody waits")) };
    const registry = new RunRegistry({ clock, isKept: true });
    const active = new Map<string, HeldRun>();
    let ended: { readonly run: HeldRun; readonly at: number }[] = [];
    for (const step of script) {
      if ("ms" in step) now += step.ms;
      else if (step.do === "begin" && !active.has(step.id)) {
        const run = held(step.id);
        active.set(step.id, run);
        ended = ended.filter(({ run }) => run.id !== step.id);
        registry.add(run);
      } else if (step.do === "end") {
        const run = active.get(step.id);
        if (run === undefined) continue;
        active.delete(step.id);
        ended.push({ run, at: now });
        registry.ended(run);
      } else if (step.do === "remove" && !active.has(step.id)) {
        ended = ended.filter(({ run }) => run.id !== step.id);
        registry.remove(step.id);
      }
      ended = ended.filter(({ at }) => at >= now - 5_000);
      for (const name of ["a", "b", "c", "d"]) {
        const expected = active.get(name) ?? ended.find(({ run }) => run.id === name)?.run;
        assert.equal(registry.find(name), expected);
      }
      assert.deepEqual([...registry.all], [...ended.map(({ run }) => run), ...active.values()]);
      assert.equal(registry.active, active.size);
    }
  }));
});

/** False where a running Deno cannot be told to (2.6). */
function isCollected(): boolean {
  setFlagsFromString("--expose-gc");
  const isThere = runInNewContext("typeof gc === 'function' && (gc(), true)") === true;
  setFlagsFromString("--no-expose-gc");
  return isThere;
}
