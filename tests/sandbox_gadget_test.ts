// A gadget that runs elsewhere is one like any other for the engines.

import assert from "node:assert/strict";
import type { AnyGadget } from "../lib/core/gadget.ts";
import { hasLateFormat } from "../lib/core/late_format.ts";
import { toldResult } from "../lib/run/told_result.ts";
import type { Run } from "../lib/run/run.ts";
import { runGadget } from "../lib/run/run_gadget.ts";
import { sandboxedGadget } from "../lib/sandbox/sandboxed_gadget.ts";
import { checkGadget } from "../lib/schema/check_gadget.ts";
import { echoing, fakeHost, listening, loading } from "./_fake_gadget.ts";

const description = {
  name: "Fake",
  description: "d",
  input: { type: "object", properties: { a: { type: "number", default: 4 } } },
  timeoutMs: 100,
  isLinked: true,
  hasFormat: true,
  isValidating: true,
  warnings: ["w"],
} as const;

function run(gadget: AnyGadget, input: unknown, logs: string[] = []): unknown {
  return runGadget({
    gadget,
    input,
    maxBytes: 1_000,
    mask: (value) => value,
    onStart: () => {},
    context: (parameters) => ({
      ...listening({ log: (text) => void logs.push(text) }),
      call: { gadgetName: "Fake", invocationId: "c1", parameters },
    }),
  });
}

const RUN = {
  lookUp: (_key: string, look: () => unknown) => look(),
} as unknown as Run; // all that is asked of one here

const CALL = listening().call;

Deno.test("it is described, checked, run and told like any other", async () => {
  const { host } = fakeHost(echoing);
  const gadget = sandboxedGadget(description, host);
  assert.deepEqual(Object.keys(gadget), ["name", "description", "input", "timeoutMs", "run", "format"]);
  checkGadget(gadget, "gadgets/fake.ts");
  assert.deepEqual(await run(gadget, {}), { a: 4 });
  assert.throws(() => run(gadget, { a: "x" }), /a: /);
  const copy = { ...gadget };
  assert.ok(hasLateFormat(copy));
  assert.deepEqual(await toldResult(RUN, { key: "k", gadget: copy, call: CALL, result: 7 }), {
    text: "text 7",
  });
  assert.throws(() => gadget.format?.(1, CALL), /asked for in its process/);
  await host.end();
  const gone = await toldResult(RUN, { key: "k", gadget, call: CALL, result: 7 });
  assert.deepEqual(gone, { error: "The process of gadget gadgets/fake.ts was ended with the run" });
});

Deno.test("a streamed result is joined, and told as it comes", async () => {
  const { host } = fakeHost(loading((message, process) => {
    if (message.type !== "call") return;
    for (const text of ["a", "b", ""]) process.say({ type: "piece", id: message.id, text });
    process.say({ type: "result", id: message.id });
  }));
  const logs: string[] = [];
  assert.equal(await run(sandboxedGadget(description, host), {}, logs), "ab");
  assert.deepEqual(logs, ["a", "b", ""]);
  await host.end();
});

Deno.test("without run it is declared only; a format of a program itself stays one that gives text at once", async () => {
  const { host } = fakeHost(echoing);
  const gadget = sandboxedGadget({ ...description, isLinked: false, hasFormat: false }, host);
  assert.equal("run" in gadget || "format" in gadget, false);
  const late = { name: "Late", run: () => 1, format: () => Promise.resolve("x") } as unknown as AnyGadget;
  assert.deepEqual(await toldResult(RUN, { key: "k", gadget: late, call: CALL, result: 1 }), {
    error: 'format of "Fake" must return a string, found an object',
  });
});
