// Hundreds of thousands of calls through one run: time and memory grow with the calls and not faster.

import assert from "node:assert/strict";
import { createCatalog, runCalls } from "../../mod.ts";

const catalog = createCatalog([{
  name: "Add",
  description: "Adds one.",
  input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  run: ({ n }: { n: number }) => n + 1,
}]);

/** Runs 50,000 and 400,000 calls; gives the time and memory of each call. */
export async function manyCalls(): Promise<string> {
  await runMany(20_000);
  const small = await runMany(50_000);
  const large = await runMany(400_000);
  const growth = large.microseconds / small.microseconds;
  assert.ok(growth < 2, `a call of 400,000 takes ${growth.toFixed(2)} times that of 50,000`);
  assert.ok(large.bytes < 4_000, `${large.bytes} bytes are kept for a call`);
  return `${large.microseconds.toFixed(1)} µs and ${large.bytes} bytes a call, ${
    growth.toFixed(2)
  } times those of an eighth of them`;
}

async function runMany(count: number): Promise<{ microseconds: number; bytes: number }> {
  function* text(): Generator<string> {
    for (let i = 0; i < count; i++) {
      yield `!!!GADGET_START:Add:a${i}${i > 0 ? `:a${i - 1}` : ""}\n!!!ARG:n\n${i}\n!!!GADGET_END\n`;
    }
  }
  const before = Deno.memoryUsage().heapUsed;
  const start = performance.now();
  let results = 0;
  let most = 0;
  for await (const event of runCalls(text(), { catalog })) {
    if (event.type === "call-result" && ++results % 10_000 === 0) {
      most = Math.max(most, Deno.memoryUsage().heapUsed - before);
    }
  }
  assert.equal(results, count);
  return { microseconds: (performance.now() - start) * 1000 / count, bytes: Math.round(most / count) };
}
