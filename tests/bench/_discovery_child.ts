// A process of its own: finds the prompts of a project twice, and says how long each time took, in milliseconds.

import { discoverPrompts } from "../../lib/service/program/prompts.ts";

const [root = "."] = Deno.args;
const times: number[] = [];
for (let i = 0; i < 2; i++) {
  const start = performance.now();
  const { registry } = await discoverPrompts({ root });
  times.push(performance.now() - start);
  if (registry.keys().length === 0) throw new Error("nothing was found");
}
console.log(JSON.stringify(times));
