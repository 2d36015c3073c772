import assert from "node:assert/strict";
import { clearTimeout as clearNodes, setTimeout as nodes } from "node:timers";
import { quietTimer } from "../lib/host/process.ts";

const pause = (ms: number) => new Promise<void>((resolve) => nodes(resolve, ms));

/** With what a package puts in the place of Deno's own. */
async function withNodes(work: () => Promise<void>): Promise<void> {
  const own = { setTimeout, clearTimeout };
  Object.assign(globalThis, { setTimeout: nodes, clearTimeout: clearNodes });
  try {
    await work();
  } finally {
    Object.assign(globalThis, own);
  }
}

for (
  const [what, around] of [["Deno", (work: () => Promise<void>) => work()], ["Node", withNodes]] as const
) {
  Deno.test(`a quiet timer does its work, or not when it is disposed of, with the timers of ${what}`, async () => {
    await around(async () => {
      let [done, disposed] = [0, 0];
      using _first = quietTimer(1, () => void done++);
      quietTimer(1, () => void disposed++)[Symbol.dispose]();
      await pause(50);
      assert.deepEqual([done, disposed], [1, 0]);
    });
  });
}
