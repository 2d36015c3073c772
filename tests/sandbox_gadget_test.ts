// A gadget that runs elsewhere is one like any other for the engines.
import assert from "node:assert/strict";
import type { AnyGadget } from "../mod.ts";
import { hasLateFormat } from "../lib/core/gadget.ts";
import type { Run } from "../lib/run/run.ts";
import { runGadget } from "../lib/run/calls/gadget.ts";
import { toldResult } from "../lib/run/turn/tool_round.ts";
import { sandboxedGadget } from "../lib/sandbox/gadget/gadget.ts";
import { checkGadget } from "../lib/schema/define_gadget.ts";
import { echoing, fakeHost, listening, loading, until } from "./_fake_gadget.ts";

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
    maskStart: (text) => text,
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

Deno.test("a stream that is longer than a result may be is ended, and its source closed", async () => {
  const { host, fake } = fakeHost(loading((message, process) => {
    if (message.type === "call" || message.type === "more") {
      const count = message.type === "call" ? 16 : message.count;
      for (let at = 0; at < count; at++) process.say({ type: "piece", id: 1, text: "é".repeat(20) });
    }
    if (message.type === "cancel") process.say({ type: "cancelled", id: message.id });
  }));
  const logs: string[] = [];
  const result = await run(sandboxedGadget(description, host), {}, logs);
  const marker =
    "the stream was ended here, so nobody knows how much is missing; limits.result-bytes is 1000";
  assert.equal(result, `${"é".repeat(500)}\n[cut: ${marker}]`);
  assert.equal(logs.join(""), "é".repeat(500));
  await until(() => fake.last.told.some(({ type }) => type === "cancel"));
  await host.end();
});

Deno.test("what was cut in the process tells the size of the whole", async () => {
  const { host } = fakeHost(loading((message, process) => {
    if (message.type === "call") {
      process.say({ type: "result", id: message.id, value: "x".repeat(2_000), wholeBytes: 5_000_000 });
    }
    if (message.type === "format") {
      process.say({ type: "result", id: message.id, value: "ab", wholeBytes: 9 });
    }
  }));
  assert.equal(
    await run(sandboxedGadget(description, host), {}),
    `${"x".repeat(1_000)}\n[cut: 4999000 of 5000000 bytes are missing; limits.result-bytes is 1000]`,
  );
  assert.equal(
    await host.format(1, CALL),
    "ab\n[cut: 7 of 9 bytes are missing; it was too long to be handed on]",
  );
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
