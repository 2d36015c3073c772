import assert from "node:assert/strict";
import { virtualClock } from "../mod.ts";

const realTime = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("time goes from one due moment to the next, and no further than it has to", async () => {
  const clock = virtualClock();
  const woke: string[] = [];
  const sleep = async (ms: number, name: string) => {
    await clock.sleep(ms);
    woke.push(`${name} at ${clock.now()}`);
  };
  await clock.run(Promise.all([sleep(300, "last"), sleep(100, "first"), sleep(100, "second")]));
  assert.deepEqual(woke, ["first at 100", "second at 100", "last at 300"]);
});

Deno.test("what takes real time is waited for, and timers that it starts go on from there", async () => {
  const clock = virtualClock();
  await clock.run((async () => {
    await clock.sleep(1_000);
    await realTime(40); // such as a module that is loaded: no timer of the clock is left now
    await clock.sleep(500);
    await realTime(40);
  })());
  assert.equal(clock.now(), 1_500);
});

Deno.test("work that nothing will ever end is told, with the time at which it hangs", async () => {
  const clock = virtualClock();
  const hangs = clock.sleep(20).then(() => new Promise<never>(() => {}));
  await assert.rejects(
    clock.run(hangs),
    /^Error: virtualClock: nothing is left to wait for at 20 ms, .*not done$/,
  );
});
