import assert from "node:assert/strict";
import { linkedSignal } from "../lib/core/async.ts";

Deno.test("a linked signal is aborted with the first of the others, with its reason, and not after it is disposed of", () => {
  const [a, b] = [new AbortController(), new AbortController()];
  const linked = linkedSignal([a.signal, undefined, b.signal]);
  const free = linkedSignal([a.signal, b.signal]);
  free[Symbol.dispose]();
  b.abort("b");
  a.abort("a");
  assert.deepEqual([linked.signal.aborted, linked.signal.reason, free.signal.aborted], [true, "b", false]);
  assert.equal(linkedSignal([new AbortController().signal, a.signal]).signal.reason, "a");
  assert.equal(linkedSignal([]).signal.aborted, false);
});

Deno.test("nobody has to hold a linked signal", async () => {
  const controller = new AbortController();
  const heard = new Promise<void>((resolve) =>
    linkedSignal([controller.signal]).signal.addEventListener("abort", () => resolve())
  );
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) {
    console.log("  not run here: garbage is not collected on demand (--v8-flags=--expose-gc)");
  }
  gc?.();
  await new Promise((resolve) => setTimeout(resolve, 1));
  controller.abort();
  await heard;
});
