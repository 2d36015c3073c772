// deno task bench [parser] [scheduler] [runs] [turn] [mid-stream] [journal] [prompts] [documents] [conversation] [retrieval] [sandbox] [server] [durable] [startup]: one table; exit code 1 when a limit is broken.

import { formatTable, isWithin } from "./_table.ts";
import type { Row } from "./_table.ts";
import { benchConversation } from "./conversation.ts";
import { benchDurable } from "./durable.ts";
import { benchDocuments } from "./documents.ts";
import { benchJournal } from "./journal.ts";
import { benchMidStream } from "./mid_stream.ts";
import { benchParser } from "./parser.ts";
import { benchDiscovery } from "./prompt_discovery.ts";
import { benchRendering } from "./prompt_rendering.ts";
import { benchTags } from "./prompt_tags.ts";
import { benchRetrieval } from "./retrieval.ts";
import { benchSandbox } from "./sandbox.ts";
import { benchScheduler } from "./scheduler.ts";
import { benchRuns } from "./runs.ts";
import { benchTurn } from "./turn.ts";
import { benchServer } from "./server.ts";
import { measureStartup } from "./startup.ts";

const parts: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  parser: benchParser,
  scheduler: benchScheduler,
  runs: benchRuns,
  turn: benchTurn,
  journal: benchJournal,
  "mid-stream": benchMidStream,
  prompts: async () => [...await benchRendering(), ...await benchTags(), ...await benchDiscovery()],
  documents: benchDocuments,
  conversation: benchConversation,
  retrieval: benchRetrieval,
  sandbox: () => benchSandbox(),
  server: benchServer,
  durable: benchDurable,
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
