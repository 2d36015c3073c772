// Accepts runs, many at once, and says of each that it was accepted, until it is killed. Its argument is the folder of a project.

import { NO_GRANTS } from "../lib/project/trust/grants.ts";
import { openService } from "../lib/service/open_service.ts";

const AT_ONCE = 24;
const encoder = new TextEncoder();

if (import.meta.main) {
  const [folder = "."] = Deno.args;
  await using service = await openService({ folder, ephemeral: false, grants: NO_GRANTS, notice: () => {} });
  for (;;) {
    const runs = await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      const run = await service.start({ kind: "file", file: "sum.calls" });
      Deno.stdout.writeSync(encoder.encode(`${run.id}\n`)); // at once, as an answer would be
      return run;
    }));
    await Promise.all(runs.map(({ ended }) => ended));
  }
}
