// deno task bench [parser] [scheduler] [startup]: one table; exit code 1 when a limit is broken.

import { formatTable, isWithin } from "./_table.ts";
import type { Row } from "./_table.ts";
import { benchParser } from "./parser.ts";
import { benchScheduler } from "./scheduler.ts";
import { measureStartup } from "./startup.ts";

const parts: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  parser: benchParser,
  scheduler: benchScheduler,
  startup: async () =>
    (await measureStartup()).map(({ name, medianMs, ratio, limit }) => ({
      what: name,
      value: medianMs,
      unit: "ms",
      ...(limit === undefined ? {} : { ratio, of: "an empty script", limit }),
    })),
};

const wanted = Deno.args.length === 0 ? Object.keys(parts) : Deno.args;
const rows: Row[] = [];
for (const name of wanted) {
  const part = parts[name];
  if (part === undefined) {
    throw new TypeError(`Unknown benchmark "${name}": expected ${Object.keys(parts).join(", ")}`);
  }
  rows.push(...await part());
}
console.log(`Deno ${Deno.version.deno}, ${navigator.hardwareConcurrency} cores; medians\n`);
console.log(formatTable(rows));
if (!rows.every(isWithin)) Deno.exit(1);
