// Calls of a gadget through the engine in this process, one after the other, without a journal on a disk and without anybody who shows them.

import { loadCatalog, runCalls } from "../../mod.ts";
import { callOf } from "../sandbox/_place.ts";
import { median } from "./_median.ts";

/** So many calls are made before any is counted: what runs often is compiled by then. */
const WARM_UP = 1000;

/** A gadget that gives how long its own work took, in ms. */
export const TIMED_GADGET = `interface Input { readonly n: number }
export default {
  name: "Timed",
  description: "Adds numbers up, and gives how long that took.",
  input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  run({ n }: Input): number {
    const start = performance.now();
    let sum = 0;
    for (let at = 0; at < 100; at++) sum += at * n;
    return sum < 0 ? sum : performance.now() - start;
  },
};
`;

/** The p50 from the start to the end of a call of `Timed`, less what its own work took, in µs. @param folder of a project with the gadget */
export async function engineCallUs(folder: string, { calls }: { readonly calls: number }): Promise<number> {
  const catalog = await loadCatalog({ root: folder });
  let onEnd = (): void => {};
  async function* oneByOne(): AsyncGenerator<string> {
    for (let n = 0; n < WARM_UP + calls; n++) {
      const ended = new Promise<void>((resolve) => onEnd = resolve);
      yield callOf(`Timed:c${n}`, { n });
      await ended;
    }
  }
  const times: number[] = [];
  let start = 0;
  try {
    for await (const event of runCalls(oneByOne(), { catalog })) {
      if (event.type === "call-run") start = event.at;
      if (event.type === "call-error") throw new Error(event.error);
      if (event.type !== "call-result") continue;
      times.push(event.at - start - Number(event.result));
      onEnd();
    }
  } finally {
    await catalog.close?.();
  }
  return median(times.slice(WARM_UP)) * 1000;
}
