// What is held of runs that have ended.

import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { virtualClock } from "../lib/core/virtual_clock.ts";
import { HeldRun } from "../lib/service/held_run.ts";
import { RunHub } from "../lib/service/run_hub.ts";
import { RunRegistry } from "../lib/service/run_registry.ts";

Deno.test("of the runs that have ended only so many bytes are held", async () => {
  const registry = new RunRegistry({ clock: virtualClock(), isKept: true });
  const run = (name: number): WeakRef<HeldRun> => {
    const id = `r${name}`;
    const hub = new RunHub({ id, kind: "calls", startedAt: 0 });
    hub.push({ type: "warning", text: "x".repeat(4_000_000), run: id, seq: 1, at: 0 });
    const held = new HeldRun({ id, kind: "calls", hub, stop: new AbortController() });
    registry.add(held);
    held.end({});
    registry.ended(held);
    return new WeakRef(held);
  };
  const runs = Array.from({ length: 20 }, (_run, name) => run(name));
  await new Promise((resolve) => setTimeout(resolve, 0)); // until then a WeakRef holds what it was made of
  assert.equal([...registry.all].length, 8);
  if (isCollected()) assert.equal(runs.filter((each) => each.deref() !== undefined).length, 8);
});

/** False where a running Deno cannot be told to (2.6). */
function isCollected(): boolean {
  setFlagsFromString("--expose-gc");
  const isThere = runInNewContext("typeof gc === 'function' && (gc(), true)") === true;
  setFlagsFromString("--no-expose-gc");
  return isThere;
}
