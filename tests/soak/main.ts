// deno task soak: what takes long. Each part throws when something was lost or grew.

import { killConversations } from "./kill_conversations.ts";
import { killDocuments } from "./kill_documents.ts";
import { killGadgets } from "./kill_gadgets.ts";
import { killRuns } from "./kill_runs.ts";
import { killWhileCommitting } from "./kill_while_committing.ts";
import { killWhileSaving } from "./kill_while_saving.ts";
import { killWhileWriting } from "./kill_while_writing.ts";
import { manyCalls } from "./many_calls.ts";
import { raceFiles } from "./race_files.ts";

const PARTS = {
  killWhileWriting,
  killWhileCommitting,
  killWhileSaving,
  killRuns,
  killDocuments,
  killConversations,
  killGadgets,
  manyCalls,
  raceFiles,
};

for (const [name, part] of Object.entries(PARTS)) {
  const start = performance.now();
  console.log(`${name}: ${await part()} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
}
