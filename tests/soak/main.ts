// deno task soak [PART...]: what takes long. Each part throws when something was lost or grew.

import { killConversations } from "./kill_conversations.ts";
import { killDocuments } from "./kill_documents.ts";
import { killGadgets } from "./kill_gadgets.ts";
import { killRuns } from "./kill_runs.ts";
import { killWhileCommitting } from "./kill_while_committing.ts";
import { killWhileSaving } from "./kill_while_saving.ts";
import { killWhileWriting } from "./kill_while_writing.ts";
import { manyCalls } from "./many_calls.ts";
import { restateNodes, restateReplicas } from "./restate_nodes.ts";
import { serverKills } from "./server_kills.ts";
import { serverLoad } from "./server_load.ts";
import { thorough } from "./thorough.ts";

const PARTS = {
  killWhileWriting,
  killWhileCommitting,
  killWhileSaving,
  killRuns,
  killDocuments,
  killConversations,
  killGadgets,
  manyCalls,
  thorough,
  serverKills,
  serverLoad,
  restateNodes,
  restateReplicas,
};

const wanted = Deno.args.length === 0 ? Object.keys(PARTS) : Deno.args;
const unknown = wanted.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  throw new Error(`no part ${unknown.join(", ")}; there are ${Object.keys(PARTS).join(", ")}`);
}

for (const [name, part] of Object.entries(PARTS)) {
  if (!wanted.includes(name)) continue;
  const start = performance.now();
  console.log(`${name}: ${await part()} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
}
