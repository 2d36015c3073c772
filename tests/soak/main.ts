// deno task soak: what takes long. Each part throws when something was lost or grew.

import { killRuns } from "./kill_runs.ts";
import { killWhileCommitting } from "./kill_while_committing.ts";
import { killWhileWriting } from "./kill_while_writing.ts";
import { manyCalls } from "./many_calls.ts";

for (const [name, part] of Object.entries({ killWhileWriting, killWhileCommitting, killRuns, manyCalls })) {
  const start = performance.now();
  console.log(`${name}: ${await part()} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
}
