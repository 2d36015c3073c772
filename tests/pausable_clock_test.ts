import assert from "node:assert/strict";
import { createCatalog, PermissionRefused, runCalls, systemClock, virtualClock } from "../mod.ts";
import { PausableClock } from "../lib/core/clock.ts";
import { Approvals } from "../lib/run/approvals.ts";

Deno.test("a held clock stands, and what slept sleeps longer by as much", async () => {
  const behind = virtualClock();
  const clock = new PausableClock(behind);
  const woke: number[] = [];
  await behind.run((async () => {
    const sleeping = clock.sleep(100).then(() => woke.push(behind.now(), clock.now()));
    await behind.sleep(40);
    const [first, second] = [clock.hold(), clock.hold()];
    await behind.sleep(500);
    assert.equal(clock.now(), 40);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await behind.sleep(500);
    assert.equal(clock.now(), 40);
    second[Symbol.dispose]();
    await sleeping;
  })());
  assert.deepEqual(woke, [1100, 100]);
});

Deno.test("a sleep that is aborted ends, held or not", async () => {
  const behind = virtualClock();
  const clock = new PausableClock(behind);
  const stop = new AbortController();
  const sleeping = clock.sleep(1_000, stop.signal);
  stop.abort(new Error("enough"));
  await assert.rejects(behind.run(sleeping), /enough/);
});

Deno.test("a call is not late because somebody was asked and took their time", async () => {
  const approvals = new Approvals({
    canAnswer: true,
    ask: () => new Promise((resolve) => setTimeout(() => resolve("yes"), 150)),
  });
  const request = { kind: "write", value: "/p/out" } as const;
  const refused = new PermissionRefused('Writing "out" is not allowed: add --allow-write=out', {
    request,
    flag: "--allow-write=out",
  });
  const asks = { name: "Asks", description: "Asks.", timeoutMs: 60, run: () => approvals.ask(refused) };
  const late = {
    name: "Late",
    description: "Is late.",
    timeoutMs: 60,
    run: async (_input: never, { signal }: { signal: AbortSignal }) => {
      await approvals.ask(refused);
      await systemClock.sleep(5_000, signal);
    },
  };
  const told: string[] = [];
  const text = "!!!GADGET_START:Asks:a\n!!!GADGET_END\n!!!GADGET_START:Late:l:a\n!!!GADGET_END\n";
  for await (const event of runCalls([text], { catalog: createCatalog([asks, late]), approvals })) {
    if (event.type === "call-result") told.push(`${event.invocationId} ${event.result}`);
    if (event.type === "call-error") told.push(`${event.invocationId} ${event.code}`);
  }
  assert.deepEqual(told, ["a true", "l timeout"]);
});
