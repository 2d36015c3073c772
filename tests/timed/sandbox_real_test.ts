// Both sides of the channel together: the real process of a gadget, with a gadget in it, and Orrery's side of it.

import assert from "node:assert/strict";
import { isStream } from "../../lib/core/async.ts";
import { joined, listening } from "../_fake_gadget.ts";
import { REAL_LIMITS, realGadget } from "../_real_gadget.ts";

const GADGET = `
interface Input { does: string }
export default {
  name: "Real",
  input: { type: "object", properties: { does: { type: "string" } } },
  format(result: unknown) { return "told " + JSON.stringify(result); },
  async run({ does }: Input, context: { signal: AbortSignal }) {
    switch (does) {
      case "throw": throw new RangeError("boom");
      case "loop": while (true);
      case "wait": return await new Promise((_resolve, reject) => context.signal.addEventListener("abort", reject));
      case "heap": { const kept: unknown[] = []; while (true) kept.push([kept.length, {}]); }
      case "buffers": { const kept: unknown[] = []; while (true) { kept.push(new Uint8Array(1e6).fill(1)); await null; } }
      case "stream": return (async function* () { for (let at = 0; at < 100; at++) yield at + " "; })();
      case "sync": return Deno.readTextFileSync("a.txt");
      case "flood": { for (let at = 0; at < 30_000; at++) console.log("line", at); return 1; }
      case "late": { context.signal.addEventListener("abort", () => setTimeout(() => console.log("late"), 1)); await new Promise(() => {}); }
    }
    return does;
  },
};
`;

Deno.test("a real gadget in a real process", async (t) => {
  await using gadget = await realGadget(GADGET, {
    perform: () => Promise.resolve({ ok: null, bytes: new TextEncoder().encode("of a file") }),
    limits: { ...REAL_LIMITS, memoryBytes: 128 * 2 ** 20, maxFrameBytes: 40 * 2 ** 20 },
  });
  const { host } = gadget;
  const call = (does: string, signal?: AbortSignal) =>
    host.call({ does }, listening({ ...(signal && { signal }) }));

  await t.step("results, streams, effects, texts", async () => {
    assert.equal((await host.describe()).name, "Real");
    assert.equal(await call("echo"), "echo");
    const stream = await call("stream");
    assert.ok(isStream(stream));
    assert.equal(String(await joined(stream)).split(" ").length, 101);
    assert.equal(await call("sync"), "of a file");
    assert.equal(await host.format({ a: 1 }, listening().call), 'told {"a":1}');
    const listener = listening();
    assert.equal(await host.call({ does: "flood" }, listener), 1);
    assert.match(listener.logs.at(-1) ?? "", /messages of this log are missing/);
  });
  await t.step("what it throws points at its source", async () => {
    await assert.rejects(call("throw"), (error: Error) => {
      assert.equal(error.name, "RangeError");
      assert.match(error.stack ?? "", /real\.ts:9:27/);
      return true;
    });
  });
  await t.step("cancels that are heard, and that are not", async () => {
    for (const does of ["wait", "late", "loop"]) {
      const abort = new AbortController();
      setTimeout(() => abort.abort(new Error("enough")), 50);
      await assert.rejects(call(does, abort.signal), /enough/);
      assert.equal(await call("again"), "again");
    }
  });
  await t.step("too much memory, in the heap and beside it", async () => {
    await assert.rejects(call("heap"), /ran out of memory: a gadget may take 128 MiB/);
    if (Deno.build.os === "linux") {
      await assert.rejects(call("buffers"), /ran out of memory: a gadget may take 128 MiB/);
    }
    assert.equal(await call("again"), "again");
  });
  await t.step("hundreds at once", async () => {
    const names = Array.from({ length: 500 }, (_, at) => `call ${at}`);
    assert.deepEqual(await Promise.all(names.map((name) => call(name))), names);
  });
});
