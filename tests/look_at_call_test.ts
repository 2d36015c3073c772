// What is caught where a call is looked at: what a schema of the user's throws, and nothing else.

import assert from "node:assert/strict";
import type { AnyGadget } from "../mod.ts";
import { CallMemory, lookAtCall } from "../lib/run/turn/look_at_call.ts";

const look = (gadget: AnyGadget, signal = new AbortController().signal) =>
  lookAtCall({ id: "c1", name: gadget.name, arguments: "{}" }, {
    signal,
    tools: new Map([[gadget.name, gadget]]),
    memory: new CallMemory(),
    written: new Set(),
  });

const tool = (
  input: unknown,
): AnyGadget => ({ name: "t", description: "T", input, run: () => 1 } as AnyGadget);

const standard = (validate: () => unknown) => ({ "~standard": { version: 1, vendor: "test", validate } });

Deno.test("what a schema of the user's throws is told to the model", async () => {
  const broken = () => {
    throw new Error("schema bug");
  };
  for (const validate of [broken, () => Promise.reject(new Error("schema bug"))]) {
    const { call } = await look(tool(standard(validate)));
    assert.equal(call.text, "Error: schema bug");
  }
});

Deno.test("a JSON Schema that cannot be used is told to the model", async () => {
  for (
    const [input, message] of [
      [{ type: "objekt" }, /schema is broken/],
      [{ properties: { a: { $ref: "#/nowhere" } }, required: ["a"] }, /invalid arguments for "t"/],
    ] as const
  ) {
    const { call } = await look(tool(input));
    assert.match(call.text ?? "", message);
  }
});

Deno.test("an error of Orrery's own is not taken for one of the call", async () => {
  const own = new Error("a module cannot be loaded");
  const input = new Proxy({}, {
    ownKeys() {
      throw own;
    },
  });
  await assert.rejects(look(tool(input)), (error) => error === own);
});

Deno.test("an abort is not taken for an error of the schema", async () => {
  const stop = new AbortController();
  const looked = look(
    tool(standard(() => {
      stop.abort(new Error("stopped"));
      return Promise.reject(new Error("schema bug"));
    })),
    stop.signal,
  );
  await assert.rejects(looked, { message: "stopped" });
});
